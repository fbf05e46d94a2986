"""What would help a run: advice that follows from what its log holds."""

from __future__ import annotations

import pytest

from lctl.analysis.advice import Advice
from lctl.analysis.bottleneck import bottleneck
from tests.unit.analysis.chains import Script
from tests.unit.conversation.events import lines_run


def _advice(script: Script, kind: str) -> list[Advice]:
    return [piece for piece in bottleneck(script.log()).advice if piece.kind == kind]


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
