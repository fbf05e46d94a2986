"""What holds for every session: hydrated at any event it is what the running one was then (row S10)."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lctl
from lctl.conversation.sessions import Sessions
from lctl.session import LCTLSession, Session
from tests.seeds import examples, tries
from tests.unit.conversation.events import Log
from tests.unit.sessions.dying import die


def seen(session: Any) -> dict[str, Any]:
    """All that a session tells of itself."""
    found = {
        "id": session.id,
        "conversation": session.conversation,
        "parent": session.parent_conversation,
        "trigger": session.trigger,
        "model": session.model,
        "tools": session.tools,
        "seeds": session.seed_messages,
        "messages": list(session.messages),
        "context": session.context,
        "hash": session.prompt_hash(),
        "state": session.state,
        "totals": session.totals,
        "inherited": session.inherited,
        "pending": session.pending,
        "status": session.status,
        "error": session.error,
        "high_water": session.high_water,
        "started": session.started_at,
        "completed": session.completed_at,
    }
    return copy.deepcopy(found)


actions = st.lists(
    st.sampled_from(
        [
            "user",
            "assistant",
            "call",
            "results",
            "one result",
            "state",
            "step",
            "failing step",
            "crash",
            "repeat",
        ]
    ),
    max_size=14,
)


class Naive:
    """What a session is, kept by hand: the model the law is checked against."""

    def __init__(self, seeds: list[dict[str, Any]], state: Any) -> None:
        self.seeds, self.state = seeds, state
        self.messages: list[dict[str, Any]] = []
        self.turns = self.read = self.failed = 0


class Program:
    """Does what it is told to a session, and notes after each thing what the session is."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "run.lctl.json"
        self.seeds = [{"role": "system", "content": "Be brief.", "is_new": False, "timestamp": 3}]
        self.naive = Naive(self.seeds, {"n": 0})
        self.moments: dict[int, dict[str, Any]] = {}
        self.log = LCTLSession(path=self.path)
        self.session = self.start()
        self.calls = 0

    def start(self) -> Session:
        return Session.start(
            log=self.log,
            session_id="S",
            conversation_id="c",
            trigger=("email", "t1"),
            model="m",
            tools=["f"],
            seed_messages=self.seeds,
            state={"n": 0},
        )

    def say(self, message: dict[str, Any]) -> None:
        self.session.record(message)
        self.naive.messages.append(message)

    def do(self, action: str) -> None:
        s, naive = self.session, self.naive
        if action == "user":
            self.say({"role": "user", "content": f"u{len(naive.messages)}"})
        elif action == "assistant":
            self.say({"role": "assistant", "content": f"a{len(naive.messages)}"})
        elif action == "call":
            self.calls += 2
            calls = [
                {"id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                for n in (self.calls - 1, self.calls)
            ]
            self.say({"role": "assistant", "content": None, "tool_calls": calls})
        elif action in ("results", "one result"):
            for call in s.pending.calls[: 2 if action == "results" else 1]:
                self.say({"role": "tool", "tool_call_id": call["id"], "content": "x"})
        elif action == "state":
            naive.state = {"n": len(naive.messages)}
            s.state = {"n": len(naive.messages)}
        elif action in ("step", "failing step"):
            try:
                with s.step("turn") as turn:
                    turn.update(tokens={"input": 5, "output": 1})
                    self.say({"role": "assistant", "content": "in a step"})
                    s.state["n"] = naive.state["n"] = naive.state["n"] + 1
                    if action == "failing step":
                        raise ValueError("no")
            except ValueError:
                naive.failed += 1
            naive.turns += 1
            naive.read += 5
        elif action == "repeat":
            for n, message in enumerate(naive.messages, len(self.seeds) + 1):
                s.record(message, number=n)
            self.start()
        elif action == "crash":
            s.step("left").__enter__()
            self.say({"role": "assistant", "content": f"left {len(naive.messages)}"})
            self.note()
            die(self.log)
            self.log = LCTLSession(path=self.path)
            self.session = self.start()
            with self.session.step("again"):
                pass
            naive.turns += 1
        self.note()

    def note(self) -> None:
        now = seen(self.session)
        self.moments[self.log.last_seq] = now
        naive = self.naive
        assert now["seeds"] == naive.seeds
        assert now["messages"] == naive.messages
        assert now["state"] == naive.state
        assert now["high_water"] == len(naive.seeds) + len(naive.messages)
        sums = now["totals"]
        assert (sums.turns, sums.input, sums.failed) == (naive.turns, naive.read, naive.failed)


def run_and_compare(done: list[str], end: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = Program(Path(folder))
        program.note()
        for action in done:
            program.do(action)
        if end != "left":
            program.session.end("completed" if end == "completed" else "failed", None)
            program.note()
        program.log.close()
        chain = lctl.load(program.path)
        assert chain.tree.diagnostics == [] and chain.sessions.diagnostics == []
        for seq, was in program.moments.items():
            assert seen(Session.hydrate(chain, "S", at=seq)) == was
        events = [event.to_dict() for event in chain.events]
        for n in range(1, len(events) + 1):  # also where nothing was looked at while it ran
            short = Sessions.of(events[:n])["S"]
            assert seen(short) == seen(chain.sessions.at(n)["S"])


ends = st.sampled_from(["completed", "failed", "left"])


@settings(max_examples=tries(25), deadline=None)
@given(actions, ends)
def test_s10_hydrated_is_what_the_running_one_was_at_every_seq(done: list[str], end: str) -> None:
    run_and_compare(done, end)


@pytest.mark.slow
@settings(max_examples=examples(500), deadline=None)
@given(actions, ends)
def test_s10_at_every_seq_of_many_sessions(done: list[str], end: str) -> None:
    run_and_compare(done, end)


def fork_and_compare(before: list[str], after: list[str], at: int, patched: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = Program(Path(folder))
        for action in before:
            program.do(action)
        program.log.close()
        bytes_before = program.path.read_bytes()
        source = Session.hydrate(program.path)
        number = min(source.seed_count + at % (source.high_water + 1), source.high_water)
        fork = source.fork(at=number, repair="synthesize", system_patch="Be long." if patched else None)
        kept = source.between(source.seed_count, number)
        assert list(fork.messages)[: len(kept)] == kept
        assert fork.totals.turns == 0
        made = Program.__new__(Program)
        made.path, made.log, made.session, made.moments = fork.log.path, fork.log, fork, {}
        made.seeds, made.calls = fork.seed_messages, 1000
        made.naive = Naive(made.seeds, fork.state)
        made.naive.messages = list(fork.messages)
        made.start = lambda: Session.live(made.log, fork.id)  # type: ignore[method-assign]
        inherited = fork.inherited
        for action in after:
            if action != "repeat":
                made.do(action)
        assert made.session.inherited == inherited
        made.session.log.close()
        chain = lctl.load(made.path)
        assert chain.tree.diagnostics == [] and chain.sessions.diagnostics == []
        for seq, was in made.moments.items():
            assert seen(Session.hydrate(chain, fork.id, at=seq)) == was
        assert program.path.read_bytes() == bytes_before


@settings(max_examples=tries(20), deadline=None)
@given(actions, actions, st.integers(0, 30), st.booleans())
def test_s10_s13_a_fork_is_what_it_was_and_its_source_untouched(
    before: list[str], after: list[str], at: int, patched: bool
) -> None:
    fork_and_compare(before, after, at, patched)


@pytest.mark.slow
@settings(max_examples=examples(500), deadline=None)
@given(actions, actions, st.integers(0, 30), st.booleans())
def test_s10_s13_many_forks(before: list[str], after: list[str], at: int, patched: bool) -> None:
    fork_and_compare(before, after, at, patched)


def work(path: Path) -> Session:
    """An agent that may be started at any time: it goes on from what there is."""
    s = Session.start(
        log=LCTLSession(path=path),
        session_id="S",
        conversation_id="c",
        model="m",
        seed_messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Count."}],
        state={"last": 0},
    )
    while s.status == "running":
        if s.messages and s.messages[-1].get("content") == "Done." and not s.pending:
            s.end()
            break
        with s.step("turn") as step:
            if s.messages and s.messages[-1].get("content") == "Done.":
                s.state["last"] = s.high_water  # what the step that was left did not get to
                continue
            answered = sum(m["role"] == "assistant" for m in s.messages)
            if not s.pending.calls and answered == 3:
                s.record({"role": "assistant", "content": "Done."})
            elif not s.pending.calls:
                calls = [
                    {"id": f"c{answered}{n}", "function": {"name": "f", "arguments": "{}"}} for n in "ab"
                ]
                s.record({"role": "assistant", "content": None, "tool_calls": calls})
            for call in s.pending.calls:
                s.record({"role": "tool", "tool_call_id": call["id"], "content": call["id"]})
            s.state["last"] = s.high_water
            step.update(tokens={"input": 1, "output": 1})
    return s


def test_s4_killed_after_any_event_and_taken_up_nothing_is_doubled(tmp_path: Path) -> None:
    done = work(tmp_path / "whole.lctl.json")
    expected = list(done.messages)
    die(done.log)
    lines = (tmp_path / "whole.lctl.json").read_bytes().split(b"\n")
    assert len(expected) == 10 and len(lines) > 20
    for kept in range(1, len(lines)):
        for torn in (b"", lines[kept][:25])[: 1 + (kept % 3 == 0)]:
            path = tmp_path / f"{kept}-{len(torn)}.lctl.json"
            path.write_bytes(b"\n".join([*lines[:kept], torn]))
            before = [seen(one) for one in lctl.load(path).sessions]
            assert all(one["messages"] == expected[: len(one["messages"])] for one in before)
            s = work(path)
            assert list(s.messages) == expected
            assert (s.status, s.state, s.pending.step) == ("completed", {"last": 12}, None)
            s.log.close()
            chain = lctl.load(path)
            assert len(chain.tree) == 12 and chain.tree.diagnostics == chain.sessions.diagnostics == []
            assert seen(chain.sessions["S"]) == seen(s)


histories = st.lists(
    st.tuples(
        st.sampled_from(["start", "end", "message", "step", "step_end", "checkpoint", "stream", "restart"]),
        st.sampled_from(["A", "B"]),
        st.integers(1, 6),
    ),
    max_size=30,
)


@pytest.mark.slow
@settings(max_examples=tries(150), deadline=None)
@given(histories)
def test_s10_any_events_whatever_give_the_same_at_any_seq(history: list[tuple[str, str, int]]) -> None:
    log, steps = Log(), [0]
    for kind, session, n in history:
        if kind in ("start", "restart"):
            seeds = [{"role": "system", "content": "s"}] * (n % 2)
            source = {"session_id": "AB"[n % 2], "message_number": n, "seq": n} if n > 2 else None
            given: dict[str, Any] = {"seed_messages": seeds, "model": f"m{n % 2}", "forked_from": source}
            log.add("session_start", session_id=session, **given)
        elif kind == "end":
            log.add("session_end", session_id=session, status="failed" if n % 2 else "completed")
        elif kind == "message":
            number: dict[str, Any] = {"message_number": n} if n % 3 else {}
            log.say(f"{'uat'[n % 3]}{session}{n}", session_id=session, **number)
            if n % 2 and steps[-1]:
                log.events[-1]["step"] = steps[-1]
        elif kind == "stream":
            log.add("stream_start", message_id=f"s{session}{n}", session_id=session, message_number=n)
            log.add("stream_chunk", message_id=f"s{session}{n}", content="x", index=0)
            if n % 2:
                log.add("stream_end", message_id=f"s{session}{n}")
        elif kind == "step":
            log.add("step_start", **({"session_id": session} if n % 2 else {}))
            if n % 3 == 0 and steps[-1]:
                log.events[-1]["step"] = steps[-1]
            steps.append(len(log.events))
        elif kind == "step_end":
            log.add("step_end", to_message_number=n, tokens={"input": n}, cost=n / 10)
            if steps[-1]:
                log.events[-1]["step"] = steps.pop()
        else:
            log.add("checkpoint", state=n, session_id=session)
    whole = Sessions.of(log.events)
    for n in range(1, len(log.events) + 1):
        short = Sessions.of(log.events[:n])
        assert [one.id for one in short] == [one.id for one in whole.at(n)]
        assert [seen(one) for one in short] == [seen(one) for one in whole.at(n)]
        assert short.diagnostics == whole.at(n).diagnostics
