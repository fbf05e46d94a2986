"""A log in other shapes: plain JSON, tables, a trace for Perfetto, a report to read.

Each function returns the text or value; writing it is the caller's. `exports.FORMATS` names them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import orjson

from lctl.analysis.describe import summary
from lctl.analysis.log import Log
from lctl.analysis.report import markdown
from lctl.analysis.spans import StepSpan
from lctl.analysis.survey import Survey
from lctl.analysis.surveying import survey
from lctl.analysis.timelanes import lanes
from lctl.analysis.transcripts import transcript_text
from lctl.analysis.wording import compact, plain
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
    return "".join(events_csv_rows(log))


def events_csv_rows(log: Log) -> Iterator[str]:
    """As `events_csv`, row by row: a long log is never in memory as a whole."""
    rows = (
        (event.seq, event.type, event.timestamp, event.agent, event.step, summary(event), compact(event.data))
        for event in log.events()
    )
    return _csv_rows(("seq", "type", "timestamp", "agent", "step", "summary", "data"), rows)


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
    return "".join(_csv_rows(columns, rows))


def _csv_rows(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    for row in chain((columns,), rows):
        table.writerow([_spreadsheet(cell) if isinstance(cell, str) else cell for cell in row])
        yield out.getvalue()
        out.seek(0)
        out.truncate()


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
