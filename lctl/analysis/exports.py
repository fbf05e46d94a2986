"""A log in other shapes: plain JSON, tables, a trace for Perfetto, a report to read.

Each function returns the text or value; writing it is the caller's. `exports.FORMATS` names them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import orjson

from lctl.analysis import bottleneck as bottlenecks
from lctl.analysis import stats as statistics
from lctl.analysis.describe import summary
from lctl.analysis.failures import failures
from lctl.analysis.log import Log
from lctl.analysis.spans import StepSpan
from lctl.analysis.statstext import lines
from lctl.analysis.survey import Survey
from lctl.analysis.surveying import survey
from lctl.analysis.timelanes import lanes
from lctl.analysis.transcripts import transcript_text, transcripts
from lctl.analysis.wording import compact, count, dollars, percent, plain, seconds
from lctl.codec.lines import encode_value
from lctl.events import VERSION


def to_dict(log: Log) -> dict[str, Any]:
    """The whole log as plain values: `lctl`, `chain`, `events`."""
    return {"lctl": VERSION, "chain": dict(log.chain), "events": [event.to_dict() for event in log.events()]}


def to_json(log: Log) -> str:
    """The whole log as indented JSON."""
    return encode_value(to_dict(log), option=orjson.OPT_INDENT_2).decode() + "\n"


def events_csv(log: Log) -> str:
    """One row per event; `data` is JSON."""
    rows = (
        (event.seq, event.type, event.timestamp, event.agent, event.step, summary(event), compact(event.data))
        for event in log.events()
    )
    return _csv(("seq", "type", "timestamp", "agent", "step", "summary", "data"), rows)


def steps_csv(log: Log) -> str:
    """One row per step, with its times, tokens and cost."""
    from lctl.analysis.prices import Prices

    found = survey(log, Prices())
    start = found.span[0]
    rows = (_step_row(span, start) for span in found.steps.values())
    return _csv(_STEP_COLUMNS, rows)


def chrome(log: Log) -> dict[str, Any]:
    """Trace events for Perfetto or chrome://tracing: steps and tool calls as slices by agent, errors, facts
    and checkpoints as marks. Times are microseconds from the chain's start."""
    found = survey(log)
    origin = found.span[0]
    placed = lanes(found)
    places = {seq: lane for seq, (lane, _) in placed.items()}
    threads = {name: n for n, name in enumerate(dict.fromkeys(places.values()), 1)}
    for agent in (*found.agents, *(call.agent for call in found.tools)):
        threads.setdefault(agent, len(threads) + 1)
    slices = [_metadata("process_name", 0, found.chain_id or "chain")]
    slices += [_metadata("thread_name", thread, name or "(no agent)") for name, thread in threads.items()]
    for span in found.steps.values():
        slices.append(
            _slice(
                _title(span), span.kind, placed[span.seq][1], origin, threads[places[span.seq]], _args(span)
            )
        )
    for call in found.tools:
        lane, interval = placed[call.seq]
        args = {"seq": call.seq, "failed": call.failed}
        slices.append(_slice(call.tool, "tool_call", interval, origin, threads[lane], args))
    slices += _marks(log, found, origin, places, threads)
    return {"traceEvents": slices, "displayTimeUnit": "ms", "otherData": {"chain": found.chain_id}}


def markdown(log: Log) -> str:
    """A report to read: summary, agents, slowest steps, advice, failures, facts, conversations."""
    value = statistics.stats(log)
    slow = bottlenecks.bottleneck(log)
    parts = [
        f"# {_cell(value.chain_id or 'chain')}",
        "\n".join(f"- {_cell(line)}" for line in lines(value)[1:]),
    ]
    parts += [
        _section("Agents", _AGENT_COLUMNS, [_agent_row(row) for row in value.agents]),
        _section("Models", _MODEL_COLUMNS, [_model_row(row) for row in value.models]),
        _section("Tools", ("Tool", "Calls", "Errors", "p50", "p95"), [_tool_row(row) for row in value.tools]),
        _section("Slowest steps", ("Step", "Agent", "What", "Time", "Share"), _slow_rows(slow)),
    ]
    if slow.advice:
        parts.append("## Advice\n\n" + "\n".join(f"- {_cell(piece.text)}" for piece in slow.advice))
    parts.append(_section("Failures", ("Times", "Category", "Type", "Message", "Events"), _failure_rows(log)))
    parts.append(_section("Facts", ("Fact", "Text", "Confidence"), _facts(log)))
    for leaf, said, missing in transcripts(log):
        broken = f"What came before is missing: there is no message {_cell(missing)}.\n\n" if missing else ""
        parts.append(f"## Conversation to {_cell(leaf)}\n\n{broken}{_fenced(said)}")
    return "\n\n".join(part for part in parts if part) + "\n"


#: What `lctl export --format` takes. A value that is no text is written as JSON.
FORMATS: dict[str, Callable[[Log], Any]] = {
    "json": to_json,
    "csv": events_csv,
    "steps-csv": steps_csv,
    "chrome": chrome,
    "report": markdown,
    "transcript": transcript_text,
}

_STEP_COLUMNS = (
    *("seq", "parent", "agent", "kind", "intent", "model", "outcome", "start_ms", "wall_ms", "exclusive_ms"),
    *(
        "input_tokens",
        "output_tokens",
        "cache_read",
        "cache_write",
        "reasoning",
        "cost_usd",
        "attempts",
        "errors",
    ),
)
_AGENT_COLUMNS = ("Agent", "Steps", "Model calls", "Tool calls", "Errors", "Time", "Tokens", "Cost")
_MODEL_COLUMNS = ("Model", "Calls", "Errors", "p50", "p95", "In", "Out", "Cost")


def _agent_row(row: statistics.Row) -> tuple[Any, ...]:
    time, used = seconds(row.exclusive_ms), count(row.tokens.total)
    return (row.name, row.calls, row.llm_calls, row.tool_calls, row.errors, time, used, _usd(row.cost))


def _model_row(row: statistics.Row) -> tuple[Any, ...]:
    used = (count(row.tokens.input), count(row.tokens.output))
    return (row.name, row.calls, row.errors, _ms(row.p50_ms), _ms(row.p95_ms), *used, _usd(row.cost))


def _tool_row(row: statistics.Row) -> tuple[Any, ...]:
    return (row.name, row.calls, row.errors, _ms(row.p50_ms), _ms(row.p95_ms))


def _slow_rows(slow: bottlenecks.Bottleneck) -> list[tuple[Any, ...]]:
    return [
        (step.seq, step.agent, step.intent or step.kind, seconds(step.exclusive_ms), percent(step.share))
        for step in slow.slowest[:10]
    ]


def _failure_rows(log: Log) -> list[tuple[Any, ...]]:
    return [
        (one.count, one.category, one.type, one.message, ", ".join(map(str, one.seqs[:8])))
        for one in failures(log)
    ]


def _step_row(span: StepSpan, origin: float) -> tuple[Any, ...]:
    used = span.tokens
    counts = (
        (used.input, used.output, used.cache_read, used.cache_write, used.reasoning) if used else (None,) * 5
    )
    times = (round(value, 3) for value in (span.start - origin, span.wall_ms, span.exclusive_ms))
    return (
        span.seq, span.parent, span.agent, span.kind, span.tool or span.intent, span.model,
        "(open)" if span.open else span.outcome, *times, *counts, span.cost, span.attempts, len(span.errors),
    )  # fmt: skip


def _csv(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(columns)
    for row in rows:
        table.writerow([_spreadsheet(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def _spreadsheet(text: str) -> str:
    """A cell no spreadsheet runs as a formula."""
    text = text.encode("utf-8", "replace").decode()
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _slice(
    name: str, kind: str, interval: tuple[float, float], origin: float, thread: int, args: Mapping[str, Any]
) -> dict[str, Any]:
    # Whole numbers: Perfetto drops a slice that ends by a rounding error after the one it stands in.
    start, end = (round((moment - origin) * 1000) for moment in interval)
    return {
        "name": plain(name, 120),
        "cat": plain(kind, 40),
        "ph": "X",
        "ts": start,
        "dur": end - start,
        "pid": 1,
        "tid": thread,
        "args": dict(args),
    }


def _marks(
    log: Log, found: Survey, origin: float, places: Mapping[int, str], threads: Mapping[str, int]
) -> list[dict[str, Any]]:
    from lctl.analysis.log import millis

    marks = []
    for event in log.events():
        if event.type not in ("error", "fact_added", "fact_modified", "checkpoint", "handoff"):
            continue
        at = millis(event.timestamp)
        lane = places.get(event.step, event.agent) if event.step is not None else event.agent
        marks.append(
            {
                "name": plain(summary(event), 120),
                "cat": event.type,
                "ph": "i",
                "s": "t",
                "ts": round(((at if at is not None else origin) - origin) * 1000),
                "pid": 1,
                "tid": threads.get(lane, 0),
                "args": {"seq": event.seq},
            }
        )
    return marks


def _metadata(name: str, thread: int, value: str) -> dict[str, Any]:
    return {"name": name, "ph": "M", "pid": 1, "tid": thread, "args": {"name": plain(value, 80)}}


def _title(span: StepSpan) -> str:
    name = span.tool or span.intent or span.kind
    return f"{name} {span.model}" if span.model and span.is_model_call else name


def _args(span: StepSpan) -> dict[str, Any]:
    args: dict[str, Any] = {"seq": span.seq, "outcome": "(open)" if span.open else span.outcome}
    if span.tokens is not None:
        args["tokens"] = {"input": span.tokens.input, "output": span.tokens.output}
    return args


def _facts(log: Log) -> list[tuple[str, str, str]]:
    facts: dict[str, tuple[str, float | None]] = {}
    for event in log.events():
        if event.type in ("fact_added", "fact_modified"):
            id = str(event.data.get("id"))
            text, confidence = facts.get(id, ("", None))
            given = event.data.get("confidence")
            facts[id] = (
                str(event.data.get("text") or text),
                float(given)
                if isinstance(given, int | float) and not isinstance(given, bool)
                else confidence,
            )
    return [(id, text, "-" if value is None else f"{value:.2f}") for id, (text, value) in facts.items()]


def _section(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return ""
    head = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    body = [f"| {' | '.join(_cell(str(cell)) for cell in row)} |" for row in rows]
    return f"## {title}\n\n" + "\n".join([*head, *body])


def _cell(text: str) -> str:
    """Text that stays text in Markdown."""
    safe = plain(text, 300)
    for mark in ("\\", "|", "`", "*", "_", "<", "[", "#"):
        safe = safe.replace(mark, f"\\{mark}")
    return safe


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text.rstrip()}\n{fence}"


def _usd(value: float | None) -> str:
    return "?" if value is None else dollars(value)


def _ms(value: float | None) -> str:
    return "-" if value is None else seconds(value)
