"""Where time went."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.analysis.bottleneck import bottleneck, lines
from lctl.analysis.intervals import length, shares
from lctl.analysis.stats import stats
from lctl.analysis.surveying import survey
from tests.unit.analysis.chains import Script, spec_example


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
