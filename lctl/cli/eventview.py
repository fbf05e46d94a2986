"""One event in lines: the short form, its data, and the model call it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lctl.analysis.describe import summary
from lctl.analysis.wording import block, count, plain, seconds
from lctl.cli.modelcall import ModelCall, said
from lctl.cli.panels import Line
from lctl.cli.screen import Style
from lctl.cli.text import plural, wrap
from lctl.cli.values import value_lines
from lctl.events import Event

_READABLE = 110  # columns prose is wrapped at on a wider screen

_STYLES: dict[str, Style] = {
    "error": "red",
    "fact_added": "green",
    "fact_modified": "green",
    "exchange": "dim",
    "blob": "dim",
    "ambient": "dim",
    "output": "dim",
    "stream_chunk": "dim",
}


def numbered(event: Event) -> Line:
    """`[2] code-analyzer: fact_added F1 (confidence: 0.85)`, coloured by what kind of event it is."""
    agent = plain(event.agent, 40)
    who: Line = [(agent, "cyan"), ": "] if agent else []
    return [(f"[{event.seq}]", "dim"), " ", *who, (summary(event), _STYLES.get(event.type, ""))]


def data_lines(event: Event, room: int) -> Iterator[str]:
    """The event's data, and envelope keys this lctl does not know."""
    yield from value_lines({**event.data, **event.extra}, room) if event.data or event.extra else ()


def event_lines(event: Event, call: ModelCall | None, room: int) -> Iterator[Line]:
    """The event in full, and the model call it belongs to. A call's start and end are shown as the call."""
    yield numbered(event)
    where = f"in step {event.step}" if event.step is not None else "at the top"
    yield ["  ", (f"{plain(event.timestamp)}  {where}".strip(), "dim")]
    if call is None or event.type not in ("step_start", "step_end"):
        yield from _indented(data_lines(event, room - 2))
    elif event.extra:
        yield from _indented(value_lines(event.extra, room - 2))
    if call is not None:
        yield []
        yield from call_lines(call, room)


def call_lines(call: ModelCall, room: int) -> Iterator[Line]:
    """The prompt as the model read it, then what it answered."""
    yield [("Model call", "bold"), f"  {_facts(call)}"]
    for message in call.prompt:
        yield []
        yield from message_lines(message, room)
    if not call.prompt and call.start.data.get("input") is not None:
        yield from _indented(value_lines({"input": call.start.data["input"]}, room - 2))
    for message in call.answers:
        yield []
        yield from message_lines(message, room)
    if not call.answers:
        yield []
        yield [("no answer yet" if call.end is None else "no message in answer", "dim")]


def _facts(call: ModelCall) -> str:
    start, end = call.start.data, call.end.data if call.end else {}
    parts = [f"[{call.start.seq}] {plain(_model(end) or _model(start) or '?', 60)}"]
    if isinstance(ms := end.get("duration_ms"), (int, float)) and not isinstance(ms, bool):
        parts.append(seconds(ms))
    if isinstance(tokens := end.get("tokens"), dict):
        parts.append(f"tokens in: {_number(tokens.get('input'))} / out: {_number(tokens.get('output'))}")
    if end.get("finish_reason"):
        parts.append(plain(end["finish_reason"], 40))
    if end.get("outcome") not in (None, "success"):
        parts.append(plain(end["outcome"], 40))
    if call.attempts > 1:
        parts.append(plural(call.attempts, "attempt"))
    return ", ".join(parts)


def _number(value: Any) -> str:
    return count(value) if isinstance(value, (int, float)) else plain(value) if value else "-"


def _model(data: dict[str, Any]) -> Any:
    model = data.get("model")
    return model.get("id") if isinstance(model, dict) else model


def message_lines(event: Event, room: int) -> Iterator[Line]:
    """A message: its role and seq, then what it says, indented."""
    status = event.data.get("status")
    broken: Line = [(f"  {plain(status, 20)}", "yellow")] if status in ("aborted", "error") else []
    yield [(plain(event.data.get("role") or "message", 20), "bold"), (f"  [{event.seq}]", "dim"), *broken]
    for label, text in said(event):
        if label:
            yield ["  ", (plain(label, 80), "magenta")]
        yield from _indented(wrap(block(text), max(min(room, _READABLE) - 2, 20)))


def _indented(lines: Iterable[str]) -> Iterator[Line]:
    for line in lines:
        yield ["  " + line]
