"""Logs in other shapes."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from lctl.analysis import exports
from lctl.analysis.report import markdown
from lctl.analysis.transcripts import conversations, openai_messages, transcript_json, transcript_text
from lctl.codec import open_log
from lctl.errors import BrokenChain, UsageError
from tests.unit.analysis.chains import Script, log_of, spec_example


def _chat() -> Script:
    script = Script()
    step = script.start("worker", kind="agent", intent="review")
    user = script.message(
        "user", "look", script.message("system", "be brief", None, "worker", step), "worker", step
    )
    asked = script.call(user, None, "worker", step, tokens={"input": 100, "output": 20})
    call = {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": '{"p":1}'}}
    script.events[-2]["data"]["tool_calls"] = [call]
    told = script.message("tool", "3 hits", asked, "worker", step, tool_call_id="c1")
    script.add(
        "tool_call",
        "worker",
        step,
        tool="grep",
        input={"p": 1},
        output="3 hits",
        duration_ms=20,
        call_id="c1",
    )
    script.call(told, "done", "worker", step)
    script.add("fact_added", "worker", step, id="F1", text="a | b", confidence=0.7, source="s")
    script.add("error", "worker", step, category="execution_error", type="timeout", message="=slow")
    script.end(step, "worker", duration_ms=220)
    return script


def test_plain_json_is_a_log_again() -> None:
    """What is exported opens, and holds the same events."""
    log = _chat().log("c")
    again = open_log(exports.to_json(log).encode())
    assert [event.to_dict() for event in again.events()] == [event.to_dict() for event in log.events()]
    assert again.chain["id"] == "c"


def test_events_as_a_table() -> None:
    """One row each, data as JSON; no cell a spreadsheet would run."""
    script = _chat()
    script.add("fact_added", "=cmd()", id="F2", text="x")
    rows = list(csv.DictReader(io.StringIO(exports.events_csv(script.log()))))
    assert [int(row["seq"]) for row in rows] == list(range(1, len(script.events) + 1))
    assert json.loads(rows[0]["data"]) == {"kind": "agent", "intent": "review"}
    assert rows[-1]["agent"] == "'=cmd()"


def test_steps_as_a_table() -> None:
    """Times from the chain's start, tokens and cost."""
    rows = list(csv.DictReader(io.StringIO(exports.steps_csv(_chat().log()))))
    assert [(row["parent"], row["kind"], float(row["wall_ms"])) for row in rows] == [
        ("", "agent", 220), ("1", "llm", 100), ("1", "llm", 100)
    ]  # fmt: skip
    assert rows[1]["input_tokens"] == "100"
    assert float(rows[1]["cost_usd"]) == pytest.approx(100 * 2.5e-6 + 20 * 1e-5)


def test_a_trace_for_perfetto_has_slices_by_agent() -> None:
    """Microseconds from the start; errors and facts are marks."""
    trace = exports.chrome(_chat().log("c"))
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [(one["name"], one["ts"], one["dur"]) for one in slices] == [
        ("review", 0, 220_000), ("chat.completions gpt-4o", 0, 100_000),
        ("chat.completions gpt-4o", 100_000, 100_000), ("grep", 80_000, 20_000),
    ]  # fmt: skip
    names = {event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M"}
    assert names == {"c", "worker"}
    assert [event["name"] for event in trace["traceEvents"] if event["ph"] == "i"] == [
        "fact_added F1 (confidence: 0.70)", "error execution_error/timeout: =slow"
    ]  # fmt: skip
    json.dumps(trace)


def test_steps_of_one_agent_that_ran_at_once_get_lanes_of_their_own() -> None:
    """Slices of one lane nest or follow each other; a viewer shows nothing else right."""
    script = Script()
    outer = script.start("a")
    steps = [script.start("a", outer) for _ in range(3)]
    for step in steps:
        script.after(10).end(step, "a")
    script.end(outer, "a")
    trace = exports.chrome(script.log())
    lanes: dict[int, list[tuple[float, float]]] = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            lanes.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
    assert sum(map(len, lanes.values())) == 4
    for slices in lanes.values():
        for a in slices:
            for b in slices:
                assert (
                    a[1] <= b[0]
                    or b[1] <= a[0]
                    or (a[0] <= b[0] and b[1] <= a[1])
                    or (b[0] <= a[0] and a[1] <= b[1])
                )


def test_a_conversation_as_openai_messages() -> None:
    """With tool calls and their results."""
    assert openai_messages(_chat().log()) == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "look"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": '{"p":1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "3 hits"},
        {"role": "assistant", "content": "done"},
    ]


def test_anthropic_messages_become_openai_messages() -> None:
    """A tool use is a tool call; each tool result a message of its own."""
    script = Script()
    user = script.message("user", [{"type": "text", "text": "go"}], None)
    use: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "I look"},
        {"type": "tool_use", "id": "t1", "name": "read", "input": {"f": 1}},
    ]
    asked = script.message("assistant", use, user, sampled=True)
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "ok"}]}
    script.message("user", [result, {"type": "text", "text": "and now"}], asked)
    _, assistant, tool, more = openai_messages(script.log())
    assert assistant["content"] == "I look"
    assert assistant["tool_calls"][0]["function"] == {"name": "read", "arguments": '{"f":1}'}
    assert tool == {"role": "tool", "tool_call_id": "t1", "content": "ok"}
    assert more == {"role": "user", "content": "and now"}
    assert "[assistant, reasoning]\nhm" in transcript_text(script.log())


def test_a_fork_is_another_conversation() -> None:
    """Each leaf has its path; the newest message is the default."""
    script = Script()
    root = script.message("user", "q", None)
    first = script.message("assistant", "one", root)
    second = script.message("assistant", "two", root)
    log = script.log()
    assert conversations(log) == [first, second]
    assert [m["content"] for m in openai_messages(log, first)] == ["q", "one"]
    assert [m["content"] for m in openai_messages(log)] == ["q", "two"]
    assert [one["leaf"] for one in transcript_json(log)] == [first, second]
    with pytest.raises(UsageError, match="no message 'm9'"):
        openai_messages(log, "m9")


def test_a_transcript_cannot_drive_the_terminal() -> None:
    """Lines stay, escapes are shown."""
    script = Script()
    script.message("user", "a\nb\x1b[2J", None)
    assert transcript_text(script.log()) == "[user]\na\nb\\x1b[2J\n"


def test_a_report_has_everything_once() -> None:
    """Summary, tables, facts, failures, conversation; text of the log is no Markdown."""
    report = markdown(_chat().log("the | chain"))
    assert report.startswith("# the \\| chain\n\n- Duration: 200ms\n")
    for title in ("Agents", "Models", "Tools", "Slowest steps", "Failures", "Facts", "Conversation to m12"):
        assert report.count(f"## {title}\n") == 1
    assert "| F1 | a \\| b | 0.70 |" in report
    assert "| 1 | execution\\_error | timeout | =slow | 15 |" in report


def test_a_report_of_a_long_run_is_one_to_read() -> None:
    """The first rows of each table and the newest conversations, and how to come by the others."""
    script = Script()
    for n in range(203):
        script.add("fact_added", "main", id=f"F{n}", text="so", confidence=0.5)
    for n in range(3):
        script.message("user", f"{n}" * 450_000, None)
    report = markdown(script.log())
    assert "| F199 | so | 0.50 |\n\n3 more: `lctl confidence`.\n" in report
    older, second, third = (report.find(f"{n}" * 9) for n in range(3))
    assert older < 0 < second < third
    assert "Conversations that ended before these: `lctl branches`, `lctl transcript`.\n\n## Conv" in report


@pytest.mark.parametrize("name", sorted(exports.FORMATS))
def test_every_format_takes_any_log(name: str) -> None:
    """Plain logs, empty logs, messages that are none."""
    odd = Script()
    odd.add("message", message_id=5, role=None, content={"a": 1}, parent_id=None)
    odd.add("message", message_id="m", parent_id=5, role="user", tool_calls=[None, {"function": "x"}])
    for log in (log_of([]), spec_example().log(), odd.log()):
        value = exports.FORMATS[name](log)
        assert isinstance(value, str) or json.dumps(value)


def test_a_conversation_that_lacks_a_message_is_an_error_with_its_name() -> None:
    """Nothing is cut in silence: the missing message is named, and what there is is given when asked for."""
    script = Script()
    script.message("user", "lost", "gone")
    log = script.log("c")
    for read in (transcript_text, openai_messages, transcript_json):
        with pytest.raises(BrokenChain, match="hangs on gone, which is not in the log; --partial gives"):
            read(log)
    assert transcript_text(log, partial=True) == "[user]\nlost\n"
    assert openai_messages(log, partial=True) == [{"role": "user", "content": "lost"}]
    (only,) = transcript_json(log, partial=True)
    assert only["missing"] == "gone" and len(only["messages"]) == 1
    assert "there is no message gone" in markdown(log)
