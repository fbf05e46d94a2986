"""Rows S15 and S16 of CONVERSATIONS.md section 4: replay and its comparison. Each test names its row."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lctl
import lctl.replay
from lctl.analysis.sessiondiff import SessionDiff
from lctl.errors import RerunError, RerunStopped, UsageError
from lctl.rerun.replaying import Replayed, replay
from lctl.session import Session, border
from lctl.testing import ModelServer
from tests.clients import closing

SEEDS = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Write to Ann."}]


class World:
    """Tools with effects, and an agent whose model says what `plan` holds."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.read: list[str] = []
        send, look = self.sent.append, self.read.append

        @lctl.tool
        def send_mail(to: str, body: str = "hi") -> dict[str, str]:
            send(to)
            return {"sent": to}

        @lctl.tool
        def read_file(path: str) -> str:
            look(path)
            if path == "/":
                raise PermissionError("no")
            return f"content of {path}"

        self.tools: dict[str, Callable[..., Any]] = {"send_mail": send_mail, "read_file": read_file}

    def agent(
        self, plan: list[list[tuple[str, dict[str, Any]]]], last: str = "Done."
    ) -> Callable[[Session], str]:
        def run(s: Session) -> str:
            while True:
                turns = sum(m["role"] == "assistant" for m in s.context)
                with s.step() as step:
                    step.update(tokens={"input": 10 * (turns + 1), "output": 1})
                    if turns == len(plan):
                        s.record({"role": "assistant", "content": last}, sampled=True)
                        return last
                    calls = [
                        {
                            "id": f"c{turns}-{n}",
                            "type": "function",
                            "function": {"name": name, "arguments": json.dumps(input)},
                        }
                        for n, (name, input) in enumerate(plan[turns])
                    ]
                    s.record({"role": "assistant", "content": None, "tool_calls": calls}, sampled=True)
                    for call, (name, input) in zip(calls, plan[turns], strict=True):
                        try:
                            output = json.dumps(self.tools[name](**input))
                        except PermissionError as error:
                            output = f"error: {error}"
                        s.record({"role": "tool", "tool_call_id": call["id"], "content": output})

        return run


PLAN = [[("read_file", {"path": "a"})], [("send_mail", {"to": "ann"})], [("send_mail", {"to": "bob"})]]
OTHER = [PLAN[0], [("send_mail", {"to": "eve"})], PLAN[2]]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def source(world: World, tmp_path: Path) -> Session:
    """Seeds 1 and 2, then a call and its result three times, the answer: 9 messages."""
    with Session.start(log=tmp_path / "run.lctl.json", session_id="S", seed_messages=SEEDS) as s:
        world.agent(PLAN)(s)
    world.sent.clear()
    world.read.clear()
    return Session.hydrate(tmp_path / "run.lctl.json")


def by(made: Replayed) -> list[tuple[str, str]]:
    return [(one.tool, one.by) for one in made.answered]


def test_s15_the_same_agent_says_the_same_and_nothing_is_done(world: World, source: Session) -> None:
    made = replay(source.fork(at=4), world.agent(PLAN))
    assert made.ok and made.result == "Done."
    assert by(made) == [("send_mail", "recorded")] * 2
    assert world.sent == world.read == []
    assert list(made.session.messages) == list(source.messages)
    assert not made.diff() and not made.diff(source)


def test_s15_a_session_that_was_only_read_is_forked_after_its_seeds(world: World, source: Session) -> None:
    made = replay(source, world.agent(PLAN))
    assert made.ok and by(made) == [("read_file", "recorded")] + [("send_mail", "recorded")] * 2
    assert made.session.forked_from is not None and made.session.forked_from["message_number"] == 2
    assert str(made.session.log.path) != source.origin_chain.log.path


def test_s15_other_arguments_get_the_next_result_and_are_told(world: World, source: Session) -> None:
    made = replay(source.fork(at=4), world.agent(OTHER))
    assert world.sent == [] and made.error is None and not made.ok
    (drift,) = made.drifts
    assert (drift.tool, drift.recorded, drift.given) == (
        *("send_mail", {"to": "ann"}),
        {"to": "eve", "body": "hi"},
    )
    assert made.unconsumed == []


def test_s15_strict_takes_only_the_same_arguments(world: World, source: Session) -> None:
    made = replay(source.fork(at=4), world.agent(OTHER), matching="strict")
    assert isinstance(made.error, RerunStopped) and "recorded with {'to': 'ann'}" in str(made.error)
    assert [one.input for one in made.unconsumed] == [{"to": "ann"}, {"to": "bob"}]
    assert made.session.status == "failed" and world.sent == []
    assert by(made) == [("send_mail", "nobody")]


def test_s15_a_mock_comes_first_then_the_recording_then_a_pure_tool(world: World, source: Session) -> None:
    plan = [PLAN[0], [("send_mail", {"to": "ann"}), ("read_file", {"path": "new"})]]
    mocks = {"send_mail": lambda to, body: {"mock": to, "body": body}}
    made = replay(source.fork(at=2), world.agent(plan), mocks=mocks, pure=["read_file"], matching="strict")
    assert by(made) == [("read_file", "recorded"), ("send_mail", "mock"), ("read_file", "live")]
    assert world.read == ["new"] and world.sent == []
    assert json.loads(made.session.messages[3]["content"]) == {"mock": "ann", "body": "hi"}
    assert len(made.unconsumed) == 2


@pytest.mark.parametrize("mock", [PermissionError("mocked"), {"just": "a value"}])
def test_s15_a_mock_may_be_a_value_or_an_exception(world: World, source: Session, mock: Any) -> None:
    made = replay(source.fork(at=6), world.agent(PLAN), mocks={"send_mail": mock})
    assert made.error is None
    said = made.session.messages[5]["content"]
    assert said == ("error: mocked" if isinstance(mock, Exception) else '{"just": "a value"}')


def test_s15_a_dry_run_does_nothing_and_says_so(world: World, source: Session) -> None:
    plan = [PLAN[0], [("send_mail", {"to": "eve"})]]
    made = replay(source.fork(at=4), world.agent(plan), tools="dry-run", matching="strict")
    assert by(made) == [("send_mail", "dry-run")] and world.sent == []
    assert "dry run: send_mail was not executed" in made.session.messages[3]["content"]


def test_s15_live_tools_run(world: World, source: Session) -> None:
    made = replay(source.fork(at=4), world.agent(OTHER), tools="live")
    assert world.sent == ["eve", "bob"] and by(made) == [("send_mail", "live")] * 2


def test_s15_recorded_exceptions_are_raised_again(world: World, tmp_path: Path) -> None:
    with Session.start(log=tmp_path / "e.lctl.json", seed_messages=SEEDS) as s:
        world.agent([[("read_file", {"path": "/"})]])(s)
    world.read.clear()
    made = replay(Session.hydrate(tmp_path / "e.lctl.json"), world.agent([[("read_file", {"path": "/"})]]))
    assert made.ok and world.read == [] and made.session.messages[1]["content"] == "error: no"


def test_s15_tools_of_which_only_messages_tell(tmp_path: Path, world: World) -> None:
    with Session.start(log=tmp_path / "m.lctl.json", seed_messages=SEEDS) as s:
        call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
        s.record({"role": "assistant", "content": None, "tool_calls": [call]})
        s.record({"role": "tool", "tool_call_id": "c1", "content": "rain"})

    def agent(s: Session) -> Any:
        return s.call_tool("look", {"at": 1, "unit": "C"}, lambda: pytest.fail("it ran"), call_id="c1")

    made = replay(Session.hydrate(tmp_path / "m.lctl.json"), agent)
    assert made.result == "rain" and made.ok


def test_s15_the_recording_is_found_beside_the_fork_or_given(
    world: World, source: Session, tmp_path: Path
) -> None:
    f = source.fork(at=4, path=tmp_path / "f.lctl.json")
    id = f.id
    f.log.close()
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    shutil.copy(f.log.path, moved / "f.lctl.json")

    def again(path: Path) -> Session:
        return Session.start(log=path, session_id=id)

    assert replay(again(tmp_path / "f.lctl.json"), world.agent(PLAN)).ok
    with again(moved / "f.lctl.json") as lost:
        with pytest.raises(UsageError, match=r"was forked from S of chain .* give source="):
            replay(lost, world.agent(PLAN))
        assert replay(lost, world.agent(PLAN), source=source).ok
    assert world.sent == []


def test_s15_sub_sessions_are_there_as_of_the_fork(tmp_path: Path) -> None:
    with Session.start(log=tmp_path / "n.lctl.json", seed_messages=SEEDS) as s:
        inner = Session.start(log=s.log, session_id="inner", state={"n": 1})
        s.record("one")
        inner.state = {"n": 2}
        s.record("two")
        inner.end()

    def agent(s: Session) -> Any:
        found = Session.start(log=s.log, session_id="inner", state={"n": 1})
        return found.status, found.state

    source = Session.hydrate(tmp_path / "n.lctl.json", at=lctl.load(tmp_path / "n.lctl.json").sessions.seq)
    chain = lctl.load(tmp_path / "n.lctl.json")
    outer = next(one.id for one in chain.sessions if one.id != "inner")
    made = replay(Session.hydrate(chain, outer).fork(at=3), agent)
    assert source.status == "completed" and made.result == ("running", {"n": 1})


def test_s15_an_agent_that_fails_or_is_a_coroutine(source: Session) -> None:
    async def agent(s: Session) -> str:
        s.record("from a coroutine")
        return s.id

    made = replay(source.fork(at=9), agent)
    assert made.result == made.session.id and made.session.status == "completed"

    def failing(s: Session) -> None:
        raise KeyError("gone")

    made = replay(source.fork(at=9), failing)
    assert isinstance(made.error, KeyError) and made.session.status == "failed"
    assert border.player() is None


def test_s15_what_there_is_not(world: World, source: Session) -> None:
    with pytest.raises(UsageError, match="tools is one of recorded, live, dry-run"):
        replay(source, world.agent(PLAN), tools="nope")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"replay\('run.lctl.json'\): it takes a session"):
        replay("run.lctl.json", world.agent(PLAN))  # type: ignore[arg-type]

    def nested(s: Session) -> None:
        replay(source, world.agent(PLAN))

    made = replay(source, nested)
    assert isinstance(made.error, RerunError)


def test_s15_the_module_is_the_function(world: World, source: Session) -> None:
    from lctl.replay import ReplayEngine

    assert lctl.ReplayEngine is ReplayEngine
    made = lctl.replay(source.fork(at=4), world.agent(PLAN), tools="recorded", mocks={})
    assert made.ok


def test_s15_with_a_model_that_is_asked_over_the_wire(tmp_path: Path) -> None:
    openai = pytest.importorskip("openai")
    asked: list[str] = []

    def agent(s: Session) -> None:
        client = closing(openai.OpenAI(base_url=server.openai_url, api_key="x"))
        with s.step():
            asked.append(s.model or "")
            reply = client.chat.completions.create(model=s.model or "?", messages=s.context)
            s.record(reply.choices[0].message, sampled=True)

    with ModelServer() as server:
        for answer in ("Four.", "Five."):
            server.reply(answer)
        with lctl.Session.start(log=tmp_path / "w.lctl.json", model="m1", seed_messages=SEEDS) as s:
            agent(s)
        source = Session.hydrate(tmp_path / "w.lctl.json")
        made = replay(source.fork(at=2, model="m2"), agent)
    assert [source.messages[0]["content"], made.session.messages[0]["content"]] == ["Four.", "Five."]
    assert asked == ["m1", "m2"] and made.session.model == "m2"


# -- S16 -------------------------------------------------------------------------------------


def shown(diff: SessionDiff) -> str:
    out = io.StringIO()
    diff.show(out)
    return out.getvalue()


def test_s16_the_first_difference_and_what_each_message_says(world: World, source: Session) -> None:
    made = replay(source.fork(at=4), world.agent(OTHER, "Finished."), mocks={"send_mail": {"sent": "nobody"}})
    diff = made.diff()
    assert (diff.forked_at, diff.common) == (4, 4)
    first = diff.first_divergence
    assert first is not None and (first.kind, first.left, first.right) == ("changed", 5, 5)
    assert first.tools == (
        [{"name": "send_mail", "arguments": {"to": "ann"}}],
        [{"name": "send_mail", "arguments": {"to": "eve"}}],
    )
    assert [(c.left, c.text) for c in diff.changes if c.text] == [
        (6, ('{"sent": "ann"}', '{"sent": "nobody"}')),
        (8, ('{"sent": "bob"}', '{"sent": "nobody"}')),
        (9, ("Done.", "Finished.")),
    ]
    text = shown(diff)
    assert text.startswith(
        f"S and {made.session.id}: forked at message 4, the first difference is message 5\n"
    )
    assert '    - send_mail({"to":"ann"})\n    + send_mail({"to":"eve"})\n' in text
    assert 'send_mail({"to":"ann"}) was not called' in text


def test_s16_equal(world: World, source: Session) -> None:
    made = replay(source.fork(at=4), world.agent(PLAN))
    assert not made.diff() and made.diff().first_divergence is None
    assert shown(made.diff()) == f"The same 9 messages in S and {made.session.id}.\n"


def pair(tmp_path: Path, one: list[Any], other: list[Any]) -> SessionDiff:
    made = []
    for n, messages in enumerate((one, other)):
        with Session.start(log=tmp_path / f"{n}.lctl.json", session_id=f"s{n}", seed_messages=SEEDS) as s:
            s.record(*messages)
        made.append(Session.hydrate(tmp_path / f"{n}.lctl.json"))
    return SessionDiff(*made)


def test_s16_one_is_longer(tmp_path: Path) -> None:
    diff = pair(tmp_path, ["a"], ["a", "b", "c"])
    assert [(c.kind, c.left, c.right) for c in diff.changes] == [("added", None, 4), ("added", None, 5)]
    assert diff.common == 3 and diff.first_divergence == diff.changes[0] and diff.forked_at is None
    back = SessionDiff(diff.right, diff.left)
    assert [(c.kind, c.left, c.right) for c in back.changes] == [("removed", 4, None), ("removed", 5, None)]
    (tmp_path / "x").mkdir()
    middle = pair(tmp_path / "x", ["a", "b", "c"], ["a", "c"])
    assert [(c.kind, c.left) for c in middle.changes] == [("removed", 4)]


def test_s16_tools_in_another_order(tmp_path: Path) -> None:
    def calls(*names: str) -> dict[str, Any]:
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": n, "function": {"name": n, "arguments": "{}"}} for n in names],
        }

    def result(name: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": name, "content": f"r{name}"}

    diff = pair(
        tmp_path,
        [calls("f", "g"), result("f"), result("g"), "end"],
        [calls("g", "f"), result("g"), result("f"), "end"],
    )
    assert [(c.kind, c.left, c.right) for c in diff.changes] == [("reordered", 3, 3), ("moved", 4, 5)]
    assert "reordered" in shown(diff) and "moved" in shown(diff)


def test_s16_what_was_used(world: World, source: Session, tmp_path: Path) -> None:
    def thrifty(s: Session) -> None:
        with s.step() as step:
            s.record({"role": "assistant", "content": "Done."})
            step.update(tokens={"input": 1, "output": 1})

    diff = replay(source.fork(at=8), thrifty).diff()
    (change,) = diff.changes
    assert change.usage is not None and change.text is None
    assert [used.tokens for used in change.usage if used] == [(40, 1, 0), (1, 1, 0)]
    mine, other = diff.totals
    assert (mine.turns, mine.input, other.turns, other.input) == (1, 40, 1, 1)
    assert "used 40 tokens in, 1 out, now 1 tokens in, 1 out" in shown(diff)
