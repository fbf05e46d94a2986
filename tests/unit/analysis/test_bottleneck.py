"""Where time went."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.analysis.advice import Advice
from lctl.analysis.bottleneck import bottleneck, lines
from lctl.analysis.intervals import length, shares
from lctl.analysis.stats import stats
from lctl.analysis.surveying import survey
from tests.unit.analysis.chains import Script, spec_example
from tests.unit.conversation.events import lines_run


def _advice(script: Script, kind: str) -> list[Advice]:
    return [piece for piece in bottleneck(script.log()).advice if piece.kind == kind]


def test_the_protocols_example_prints_as_it_stands() -> None:
    """Slowest first, with shares and the recommendation. (Its steps are numbered by this log.)"""
    log = spec_example().log()
    starts = [event.seq for event in log.events() if event.type == "step_start"]
    assert lines(bottleneck(log)) == [
        "Slowest steps:",
        f"1. security-reviewer (step {starts[1]}): 22.5s (50%)",
        f"2. code-analyzer (step {starts[0]}): 15.0s (33%)",
        f"3. fix-implementer (step {starts[2]}): 7.7s (17%)",
        "",
        "Recommendation: security-reviewer is bottleneck. Consider parallelization.",
    ]


def test_a_steps_time_is_not_its_childrens() -> None:
    """100 ms around two calls of 30 ms and 50 ms: 20 are its own."""
    script = Script()
    outer = script.start("a")
    script.after(10)
    for ms in (30, 50):
        inner = script.start("b", outer)
        script.after(ms)
        script.end(inner, "b")
    script.after(10)
    script.end(outer, "a")
    slow = {step.seq: step for step in bottleneck(script.log()).slowest}
    assert slow[outer].exclusive_ms == pytest.approx(20)
    assert slow[outer].wall_ms == pytest.approx(100)


def test_commands_that_the_program_ran_are_among_what_took_long() -> None:
    """An agent of 50 ms runs one for 30 of them, and another one behind it, beside which nothing runs."""
    script = Script()
    outer = script.start("coder")
    script.after(40)
    inside = _command(script, "pytest -q", 30, outer)
    script.after(10)
    script.end(outer, "coder")
    script.after(200)
    behind = _command(script, "git push", 150)
    found = bottleneck(script.log())
    slow = {step.seq: (step.kind, step.intent, round(step.exclusive_ms)) for step in found.slowest}
    assert slow == {
        outer: ("agent", "", 20),
        inside: ("command", "pytest -q", 30),
        behind: ("command", "git push", 150),
    }
    assert found.idle_ms == pytest.approx(50)
    assert [(part.step, round(part.duration_ms)) for part in found.path] == [
        (outer, 10),
        (inside, 30),
        (outer, 10),
        (None, 50),
        (behind, 150),
    ]
    assert lines(found) == [
        "Slowest steps:",
        f"1. git push (command {behind}): 150ms (60%)",
        f"2. pytest -q (command {inside}): 30ms (12%)",
        f"3. coder (step {outer}): 20ms (8%)",
        "",
        f'Recommendation: The command "git push" (event {behind}) is bottleneck. Consider parallelization.',
    ]
    sums = stats(script.log())
    assert (sums.commands, round(sums.commands_ms)) == (2, 180)
    assert sums.agents[0].exclusive_ms == pytest.approx(50), "a step's own, as steps are counted"


def test_a_command_that_began_before_the_first_event_counts_whole() -> None:
    """Its event is of its end."""
    script = Script()
    alone = _command(script, "pytest", 400)
    script.after(100)
    script.end(script.start("coder"), "coder")
    found = bottleneck(script.log())
    assert (round(found.wall_ms), round(found.idle_ms)) == (500, 100)
    assert (found.slowest[0].seq, round(found.slowest[0].share, 3)) == (alone, 0.8)


def _command(script: Script, line: str, ms: float, step: int | None = None) -> int:
    """One that has just ended."""
    return script.add("ambient", "coder", step, source="command", key=line, value={"code": 0}, duration_ms=ms)


def test_parallel_siblings_share_the_time_they_ran_at_once() -> None:
    """Two calls over the same 100 ms get 50 each, and the agent none."""
    script = Script()
    outer = script.start("a")
    inner = [script.start("b", outer) for _ in range(2)]
    script.after(100)
    for step in inner:
        script.end(step, "b")
    script.end(outer, "a")
    slow = {step.seq: step for step in bottleneck(script.log()).slowest}
    assert [slow[step].exclusive_ms for step in (outer, *inner)] == pytest.approx([0, 50, 50])
    assert [slow[step].self_ms for step in (outer, *inner)] == pytest.approx([0, 100, 100])


def test_the_critical_path_goes_through_what_ended_last() -> None:
    """Of two parallel calls the longer; before them, and after, the agent itself."""
    script = Script()
    outer = script.start("a")
    script.after(10)
    short, long = script.start("b", outer), script.start("c", outer)
    script.after(20).end(short, "b")
    script.after(60).end(long, "c")
    script.after(5).end(outer, "a")
    path = bottleneck(script.log()).path
    assert [part.step for part in path] == [outer, long, outer]
    assert [part.duration_ms for part in path] == pytest.approx([10, 80, 5])


def test_time_without_any_step_is_idle() -> None:
    """A pause between two agents belongs to neither."""
    script = Script()
    for agent in ("a", "b"):
        step = script.start(agent)
        script.after(10).end(step, agent)
        script.after(30)
    script.add("checkpoint", "system")
    value = bottleneck(script.log())
    assert (value.wall_ms, value.idle_ms) == pytest.approx((80, 60))
    assert [part.step for part in value.path] == [1, None, 3, None]


def _tree(seed: int, count: int) -> tuple[list[tuple[float, float]], list[int | None]]:
    chance = random.Random(seed)
    intervals, parents = [], []
    for n in range(count):
        start = chance.randrange(50)
        intervals.append((float(start), float(start + chance.randrange(30))))
        parents.append(chance.randrange(n) if n and chance.random() < 0.7 else None)
    return intervals, parents


@given(st.integers(0, 2**32), st.integers(0, 12))
def test_exclusive_times_add_up_to_the_time_in_which_any_step_ran(seed: int, count: int) -> None:
    """However steps nest, overlap, or outlive the step around them."""
    intervals, parents = _tree(seed, count)
    assert sum(shares(intervals, parents)) == pytest.approx(length(intervals))


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_the_critical_path_covers_the_chain_once(seed: int, count: int) -> None:
    """Its segments join end to start, from the first moment to the last."""
    chance = random.Random(seed)
    script = Script()
    open_steps: list[tuple[int, str]] = []
    for _ in range(count):
        script.after(chance.randrange(5))
        if open_steps and chance.random() < 0.5:
            step, agent = open_steps.pop(chance.randrange(len(open_steps)))
            script.end(step, agent)
        else:
            parent = chance.choice(open_steps)[0] if open_steps and chance.random() < 0.7 else None
            agent = f"a{chance.randrange(3)}"
            open_steps.append((script.start(agent, parent), agent))
    value = bottleneck(script.log())
    assert sum(part.duration_ms for part in value.path) == pytest.approx(value.wall_ms)
    assert all(
        a.end_ms == pytest.approx(b.start_ms) for a, b in zip(value.path, value.path[1:], strict=False)
    )
    found = survey(script.log())
    busy = length(span.interval for span in found.steps.values())
    assert sum(step.exclusive_ms for step in value.slowest) == pytest.approx(busy)


# -- advice -------------------------------------------------------------------------------------------------


def _siblings(second_input: str) -> Script:
    script = Script()
    outer = script.start("lead", kind="agent")
    for agent, ms, told in (("one", 400, "read a.py"), ("two", 300, second_input)):
        step = script.start(agent, outer, kind="agent", input_summary=told)
        script.add("fact_added", agent, step, id=f"F-{agent}", text="x", confidence=0.5)
        script.after(ms)
        script.end(step, agent, output_summary=f"the findings of {agent} are these and no others")
    script.end(outer, "lead")
    return script


def test_independent_siblings_one_after_the_other_could_run_at_once() -> None:
    """What would be saved is all but the longest."""
    [piece] = _advice(_siblings("read b.py"), "parallelize")
    assert (piece.seqs, piece.saving_ms) == ((2, 5), 300)


@pytest.mark.parametrize(
    "told", ["check F-one", "given: the findings of one are these and no others"], ids=["fact", "words"]
)
def test_a_sibling_that_used_the_others_result_had_to_wait(told: str) -> None:
    """It names the fact the other added, or repeats its words."""
    assert _advice(_siblings(told), "parallelize") == []


@pytest.mark.parametrize("asked", ["research", "weather"])
def test_an_agent_that_is_the_tool_a_model_asked_for_had_to_wait_for_it(asked: str) -> None:
    """It is in the body of that tool, whose call is written behind it; of another tool's it is not."""
    script = Script()
    outer = script.start("lead", kind="agent")
    call = {"type": "tool_use", "id": "t1", "name": asked, "input": {"task": "whales"}}
    script.call(script.message("user", "Write.", None, "lead", outer), [call], "lead", outer, ms=300)
    script.after(5)
    step = script.start("researcher", outer, intent="research")
    script.after(400)
    script.end(step, "researcher")
    script.after(2)
    script.add(
        "tool_call", "lead", outer, tool="research", input={"task": "whales"}, output="big", duration_ms=400.5
    )
    script.end(outer, "lead")
    assert len(_advice(script, "parallelize")) == (asked == "weather")


def _many(count: int, last_input: str = "") -> Script:
    script = Script()
    outer = script.start("lead", kind="agent")
    for n in range(count):
        told = last_input if last_input and n == count - 1 else f"read {n}.py"
        step = script.start(f"agent {n}", outer, kind="agent", input_summary=told)
        script.after(400)
        script.end(step, f"agent {n}", output_summary=f"the findings of number {n} are these and no others")
        script.add("handoff", "lead", outer, **{"from": f"agent {n}", "to": "lead"})
    script.end(outer, "lead")
    return script


@pytest.mark.parametrize("count", [100, 700])
def test_the_last_of_many_siblings_may_use_any_of_them(count: int) -> None:
    """What it read is found among few texts and among many; the advice stays readable."""
    [piece] = _advice(_many(count, "given: the findings of number 3 are these and no others"), "parallelize")
    assert len(piece.seqs) == count - 1
    assert len(piece.text) < 200 and all(len(one) < 400 for one in piece.evidence)


def test_a_step_costs_the_same_however_many_stood_beside_it() -> None:
    """Ten thousand children of one step, or five thousand agents that hand over, are read in a second."""
    costs = []
    for count in (100, 400):
        log = _many(count).log()
        _, lines_of_code = lines_run(lambda log=log: bottleneck(log))  # type: ignore[misc]
        costs.append(lines_of_code / count)
    assert costs[1] < 1.3 * costs[0]


def test_model_calls_of_one_conversation_had_to_wait() -> None:
    """The second prompt holds the first answer."""
    script = Script()
    step = script.start(kind="agent")
    first = script.call(script.message("user", "q", None, step=step), "a", step=step)
    script.call(script.message("user", "r", first, step=step), "b", step=step)
    script.end(step)
    assert _advice(script, "parallelize") == []


def test_model_calls_with_prompts_of_their_own_could_run_at_once() -> None:
    """Three questions about three files, asked in a loop."""
    script = Script()
    step = script.start(kind="agent")
    for n in range(3):
        script.call(script.message("user", f"file {n}", None, step=step), f"answer {n}", step=step)
    script.end(step)
    [piece] = _advice(script, "parallelize")
    assert piece.saving_ms == pytest.approx(200)


def test_tools_asked_for_together_could_run_at_once() -> None:
    """The model itself asked for both in one message."""
    script = Script()
    user = script.message("user", "q", None)
    script.call(user, None)
    script.events[-2]["data"]["tool_calls"] = [
        {"id": id, "function": {"name": "read"}} for id in ("c1", "c2")
    ]
    for id in ("c1", "c2"):
        script.after(100).add("tool_call", tool="read", input=id, output=id, duration_ms=100, call_id=id)
    [piece] = _advice(script, "parallelize")
    assert (piece.saving_ms, len(piece.seqs)) == (100, 2)


def test_one_slow_tool_is_named() -> None:
    """With how much of the time it took."""
    script = Script()
    step = script.start()
    for n in range(3):
        script.after(300).add("tool_call", "main", step, tool="scan", input=n, output=n, duration_ms=300)
    script.after(100).end(step)
    [piece] = _advice(script, "slow_tool")
    assert (piece.saving_ms, piece.text.startswith("scan takes 90%")) == (900, True)


def test_time_lost_to_retries_is_all_but_the_last_attempt() -> None:
    """Waiting to try again included."""
    script = Script()
    llm = script.start(kind="llm", model="gpt-4o")
    script.after(100).add("exchange", "main", llm, attempt=1, status=429, duration_ms=100)
    script.add(
        "error", "main", llm, category="execution_error", type="rate_limited", message="m", recoverable=True
    )
    script.after(900).add("exchange", "main", llm, attempt=2, status=200, duration_ms=400)
    script.end(llm, duration_ms=1000)
    [piece] = _advice(script, "retries")
    assert piece.saving_ms == pytest.approx(600)
    assert "rate limit" in piece.text


def test_one_refusal_among_other_failures_is_no_advice_about_the_rate_limit() -> None:
    script = Script()
    llm = script.start(kind="llm", model="gpt-4o")
    for n, kind in enumerate(("rate_limited", "connection", "connection"), 1):
        script.after(100).add("exchange", "main", llm, attempt=n, duration_ms=100)
        script.add("error", "main", llm, category="execution_error", type=kind, message="m", recoverable=True)
    script.after(900).add("exchange", "main", llm, attempt=4, status=200, duration_ms=400)
    script.end(llm, duration_ms=1200)
    [piece] = _advice(script, "retries")
    assert "rate limit" not in piece.text
    assert "2 connection, 1 rate_limited" in piece.evidence[0]


def test_the_same_tool_call_again_is_named() -> None:
    """Same tool, same input, same output."""
    script = Script()
    step = script.start()
    for _ in range(3):
        script.after(50).add(
            "tool_call", "main", step, tool="read", input={"p": 1}, output="x", duration_ms=50
        )
    script.add("tool_call", "main", step, tool="read", input={"p": 2}, output="x", duration_ms=50)
    script.end(step)
    [piece] = _advice(script, "repeated_tool_call")
    assert (len(piece.seqs), piece.saving_ms) == (3, 100)


def _loop(cache_read: int) -> Script:
    script = Script()
    parent: str | None = script.message("system", "s" * 8000, None)
    size = 2000
    for n in range(5):
        parent = script.message("user", f"question {n} " + "w" * 4000, parent)
        size += 1000
        tokens = {"input": size, "output": 10, "cache_read": cache_read if n else 0}
        parent = script.call(parent, f"answer {n}", tokens=tokens)
    return script


def test_a_prompt_sent_again_and_read_from_no_cache_costs() -> None:
    """Four of five calls begin with what the one before had sent."""
    [piece] = _advice(_loop(0), "cache_miss")
    assert len(piece.seqs) == 4
    assert piece.saving_usd is not None and piece.saving_usd > 0
    assert _advice(_loop(1500), "cache_miss") == []


def test_prompts_that_hang_on_what_the_log_lacks_share_what_it_has() -> None:
    """Two calls under a message that was lost: nothing is known of it, nor of its size."""
    script = Script()
    for word in ("a", "b"):
        script.call(
            script.message("user", word * 8000, "lost"), "answer", tokens={"input": 2000, "output": 1}
        )
    assert _advice(script, "cache_miss") == []


def test_a_growing_prompt_is_named() -> None:
    """From 3,000 to 7,000 tokens."""
    [piece] = _advice(_loop(0), "growing_context")
    assert "from 3,000 to 7,000 tokens" in piece.text


def test_a_slow_first_chunk_is_named() -> None:
    """Most of the call passed before it."""
    script = Script()
    for first in (3000, 500):
        script.call(script.message("user", str(first), None), "a", ms=4000, first_chunk_ms=first)
    [piece] = _advice(script, "slow_first_chunk")
    assert piece.saving_ms == 2500


def test_a_short_quick_chain_gets_no_advice() -> None:
    """Silence without evidence."""
    script = Script()
    script.call(script.message("user", "q", None), "a")
    value = bottleneck(script.log())
    assert (value.advice, value.recommendation) == ((), None)
