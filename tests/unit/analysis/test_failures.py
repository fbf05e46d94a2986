"""What went wrong, grouped."""

from __future__ import annotations

from pathlib import Path

from lctl.analysis.failedruns import failed_runs
from lctl.analysis.failures import failures
from lctl.codec import open_log
from tests.unit.analysis.chains import Script, log_of


def test_the_same_failure_is_one_group_whatever_its_numbers() -> None:
    """Most first, with every event, who, and what was suggested."""
    script = Script()
    step = script.start("worker")
    for n in (10, 20):
        script.add(
            "error", f"agent{n}", step, category="execution_error", type="rate_limited",
            message=f"try again in {n}s", recoverable=True, suggested_action="wait",
        )  # fmt: skip
    script.add("tool_call", "worker", step, tool="read", input={}, error="no such file")
    script.end(step, "worker", outcome="error")
    limited, tool = failures(script.log())
    assert (limited.count, limited.seqs, limited.agents) == (2, (2, 3), ("agent10", "agent20"))
    assert (limited.type, limited.message, limited.recoverable) == ("rate_limited", "try again in 10s", True)
    assert limited.suggested_action == "wait"
    assert (tool.source, tool.type, tool.message) == ("tool_call", "read", "no such file")


def test_a_step_that_failed_without_an_error_is_listed() -> None:
    """The innermost; the steps around it failed because of it."""
    script = Script()
    outer = script.start("lead")
    inner = script.start("worker", outer)
    script.end(inner, "worker", outcome="cancelled", output_summary="stopped")
    script.end(outer, "lead", outcome="error")
    [only] = failures(script.log())
    assert (only.source, only.type, only.seqs) == ("step", "cancelled", (3,))


def test_a_tool_whose_error_leaves_its_steps_failed_once() -> None:
    """What else fails in them, or with other words, counts."""
    script = Script()
    outer = script.start("lead")
    inner = script.start("worker", outer)
    missing = {"type": "KeyError", "message": "'tea'"}
    script.add("tool_call", "worker", inner, tool="read", input={}, error=missing)
    script.add("error", "worker", inner, category="execution_error", **missing)
    script.end(inner, "worker", outcome="error")
    script.add("error", "lead", outer, category="execution_error", **missing)
    script.add("error", "lead", outer, category="execution_error", type="KeyError", message="'milk'")
    script.end(outer, "lead", outcome="error")
    script.add("error", "lead", category="execution_error", **missing)
    tool, milk, later = failures(script.log())
    assert (tool.source, tool.type, tool.message, tool.seqs) == ("tool_call", "read", "KeyError: 'tea'", (3,))
    assert (milk.source, milk.message, milk.seqs) == ("error", "'milk'", (7,))
    assert (later.source, later.seqs) == ("error", (9,))


def test_a_tool_whose_error_ends_the_program_failed_once() -> None:
    """What the program raised elsewhere, with the same words, counts."""
    script = Script()
    missing = {"type": "FileNotFoundError", "message": "no tea"}
    told = {"category": "input_error", "type": "missing_input", "message": "no tea"}
    exception = {"exception": "FileNotFoundError"}
    script.add("tool_call", "worker", tool="read", input={}, error=missing)
    script.add("error", "worker", **told, context=exception)
    script.add("error", "worker", **told, context={**exception, "ends": "program"})
    assert [one.seqs for one in failures(script.log())] == [(1,), (2,)]


def test_an_error_of_a_call_that_leaves_the_steps_around_it_is_one() -> None:
    """An SDK puts more words around what its server said. Each explains one, and only where it was."""
    script = Script()
    refused = {"category": "input_error", "type": "invalid_format"}
    for n in (0, 1):
        outer = script.start("lead")
        call = script.start("lead", outer)
        script.add("error", "lead", call, **refused, message="not valid")
        script.end(call, "lead", outcome="error")
        script.add("error", "lead", outer, **refused, message="Error code: 400 - not valid")
        script.end(outer, "lead", outcome="error")
        ended = {"message": f"Error code: 400 - not valid, as of {n}", "context": {"ends": "request"}}
        script.add("error", "lead", **refused, **ended)
    other = script.start("other")
    script.add("error", "other", other, **refused, message="Error code: 400 - not valid")
    script.add("error", "other", other, **refused, message="Error code: 400 - not valid")
    calls, others = failures(script.log())
    assert [one.seqs for one in (calls, others)] == [(3, 10), (16, 17)]


def test_steps_whose_seqs_come_twice_are_no_circle() -> None:
    """A damaged log is read to its end."""
    script = Script()
    outer = script.start("lead")
    inner = script.start("lead", outer)
    script.events[0] = {**script.events[0], "step": inner}
    script.events.append(script.events[0])
    script.add(
        "tool_call", "lead", inner, tool="read", input={}, error={"type": "KeyError", "message": "'tea'"}
    )
    assert [one.seqs for one in failures(script.log())] == [(4,)]


def test_a_chain_that_went_well_has_none() -> None:
    """Nothing is a failure by mistake."""
    script = Script()
    step = script.start()
    script.add("tool_call", "main", step, tool="t", error=None)
    script.end(step, outcome="done")
    assert failures(script.log()) == ()


def test_an_error_explains_its_step_where_no_event_names_a_step() -> None:
    """A log that never uses `step`: an event is in the newest open step of its agent."""
    script = Script()
    script.start("lead")
    script.start("worker")
    script.add("error", "worker", category="execution_error", type="timeout", message="late")
    script.add("step_end", "worker", outcome="error")
    script.add("step_end", "lead", outcome="success")
    script.start("worker")
    script.add("step_end", "worker", outcome="failed")
    assert [(one.source, one.seqs) for one in failures(script.log())] == [("error", (3,)), ("step", (7,))]


def test_a_cycle_that_an_error_tells_of_is_told_once() -> None:
    """Also where another error of that type names events by what can be none."""
    script = Script()
    step = script.start("worker")
    for _ in range(6):
        script.add("tool_call", "worker", step, tool="read", input={"path": "a"}, output="b")
        script.add("tool_call", "other", step, tool="look", input={}, output="c")
    seqs = [2, 4, 6]
    for context in ({"seqs": seqs}, {"seqs": [[3], {}]}, {"seqs": 3}, None):
        script.add(
            "error", "worker", step, category="orchestration_error", type="cycle_detected", message="round",
            context=context,
        )  # fmt: skip
    script.end(step, "worker")
    told, seen = failed_runs([script.log()])
    assert (told.source, told.count) == ("error", 4)
    assert (seen.source, seen.agents, seen.message) == (
        "cycle",
        ("other",),
        "look: the same calls 3 times in a row",
    )


def _failing(tool: str = "read") -> Script:
    script = Script()
    step = script.start("worker")
    script.add("tool_call", "worker", step, tool=tool, input={}, error="no such file")
    script.end(step, "worker", outcome="error")
    return script


def test_what_a_fork_has_of_its_recording_failed_once() -> None:
    """Where the recording is there, too; what it failed by itself counts."""
    fork = _failing()
    step = fork.start("worker")
    fork.add("tool_call", "worker", step, tool="write", input={}, error="read only")
    again = log_of(fork.events, "f", fork={}, parent={"id": "r", "seq": 3})
    recording = log_of(_failing().events, "r")
    found = {one.message: one.places for one in failed_runs([again, recording])}
    assert found == {"read: no such file": {"r": (2,)}, "write: read only": {"f": (5,)}}
    assert len(failed_runs([again])) == 2


def test_a_rerun_failed_as_its_recording_did() -> None:
    """One that has the seed of another recording of the same name is not of this one."""
    recording = log_of(_failing().events, "r", seed="1")
    again = log_of(_failing().events, "again", seed="1", rerun={"of": "r"})
    other = log_of(_failing().events, "other", seed="2", rerun={"of": "r"})
    (found,) = failed_runs([recording, again, other])
    assert found.places == {"r": (2,), "other": (2,)}


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """By their paths; copies of one log are one."""
    for name, seed in (("one", "1"), ("two", "2"), ("copy", "1")):
        log = log_of(_failing().events, "nightly", seed=seed)
        (tmp_path / f"{name}.lctl.json").write_bytes(
            b'{"lctl":"4.0","chain":{"id":"nightly","seed":"%s"},"events":[\n' % seed.encode()
            + b",\n".join(log.lines())
            + b"\n]}\n"
        )
    paths = [str(tmp_path / f"{name}.lctl.json") for name in ("one", "two", "copy", "one")]
    (found,) = failed_runs(map(open_log, paths))
    assert found.places == {paths[0]: (2,), paths[1]: (2,)}
