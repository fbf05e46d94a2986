"""The tables of a log beside `facts`: steps, tools, messages, errors, events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson

from lctl.codec.lines import encode_value
from lctl.events import Event
from lctl.facts.sandbox import Sandbox
from lctl.state.messages import content_of
from lctl.state.reducer import fold, initial

Row = tuple[Any, ...]

#: table -> its columns
TABLES = {
    "steps": (
        "seq INTEGER PRIMARY KEY, agent TEXT, kind TEXT, intent TEXT, parent INTEGER, started TEXT,"
        " ended TEXT, outcome TEXT, duration_ms REAL, model TEXT, provider TEXT, operation TEXT, role TEXT,"
        " profile TEXT, tool TEXT, finish_reason TEXT, response_id TEXT, input_tokens INTEGER,"
        " output_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER,"
        " reasoning_tokens INTEGER, errors INTEGER, tool_calls INTEGER"
    ),
    "tools": (
        "seq INTEGER PRIMARY KEY, step INTEGER, agent TEXT, tool TEXT, input TEXT, output TEXT, error TEXT,"
        " duration_ms REAL, call_id TEXT, timestamp TEXT"
    ),
    "messages": (
        "seq INTEGER PRIMARY KEY, id TEXT, step INTEGER, agent TEXT, role TEXT, parent TEXT, content TEXT,"
        " sampled INTEGER, status TEXT, timestamp TEXT"
    ),
    "errors": (
        "seq INTEGER PRIMARY KEY, step INTEGER, agent TEXT, category TEXT, type TEXT, message TEXT,"
        " recoverable INTEGER, suggested_action TEXT, context TEXT, timestamp TEXT"
    ),
    "events": ("seq INTEGER PRIMARY KEY, type TEXT, agent TEXT, step INTEGER, timestamp TEXT, data TEXT"),
}


def fill(sandbox: Sandbox, table: str, events: Iterable[Event]) -> None:
    """Create one of the tables with the rows the events give."""
    columns = TABLES[table]
    sandbox.define(table, columns)
    marks = ", ".join("?" * (columns.count(",") + 1))
    sandbox.fill(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", _ROWS[table](events))


def _steps(events: Iterable[Event]) -> Iterator[Row]:
    begun: dict[int, Row] = {}
    ended: dict[int | None, Row] = {}

    def noted() -> Iterator[Event]:
        for event in events:
            data = event.data
            if event.type == "step_start":
                told = (_text(data.get("provider")), _text(data.get("operation")))
                begun[event.seq] = (
                    *told, _key(data.get("model"), "role"), _key(data.get("agent_profile"), "type"),
                )  # fmt: skip
            elif event.type == "step_end":
                used = data.get("tokens")
                ended[event.step] = (
                    _text(data.get("finish_reason")), _text(data.get("response_id")),
                    *(_whole(used, name) for name in ("cache_read", "cache_write", "reasoning")),
                )  # fmt: skip
            yield event

    for step in fold(noted(), initial()).steps.values():
        tokens = step.tokens
        reason, response, *details = ended.get(step.seq, (None,) * 5)
        yield (
            step.seq, step.agent, step.kind, step.intent, step.parent, step.start, step.end, step.outcome,
            step.duration_ms, step.model, *begun.get(step.seq, (None,) * 4), step.tool, reason, response,
            tokens.input if tokens else None, tokens.output if tokens else None, *details,
            step.errors, step.tool_calls,
        )  # fmt: skip


def _tools(events: Iterable[Event]) -> Iterator[Row]:
    for event in events:
        if event.type == "tool_call":
            data = event.data
            yield (
                event.seq, event.step, event.agent, _cell(data.get("tool")), _cell(data.get("input")),
                _cell(data.get("output")), _cell(data.get("error")), _cell(data.get("duration_ms")),
                _cell(data.get("call_id")), event.timestamp,
            )  # fmt: skip


_MESSAGES = frozenset({"message", "stream_start", "stream_chunk", "stream_end"})


def _messages(events: Iterable[Event]) -> Iterator[Row]:
    """A message each, by its first event: what later ones say of it counts while it is streamed. One that is
    complete stands, and an event that only says whose it is adds nothing."""
    known: set[str] = set()
    streamed: dict[str, _Streamed] = {}
    for event in events:
        if event.type not in _MESSAGES:
            continue
        named = _cell(event.data.get("message_id"))
        if not named and event.type != "message":
            continue  # a stream of no message
        id = str(named) if named else f"#{event.seq}"
        if id in streamed:
            streamed[id].take(event)
        elif id not in known:
            known.add(id)
            if event.type == "message" and event.data.get("status") != _STREAMING:
                yield _message(event, id)
            elif event.type != "stream_end":
                streamed[id] = _Streamed(event, id)
    for one in streamed.values():
        yield one.row()


_STREAMING = "streaming"


def _message(event: Event, id: str) -> Row:
    data = event.data
    return (
        event.seq, id, event.step, event.agent, _cell(data.get("role")), _cell(data.get("parent_id")),
        _cell(content_of(data)), int(data.get("sampled") is True), _cell(data.get("status")) or "complete",
        event.timestamp,
    )  # fmt: skip


class _Streamed:
    """A message whose words come one after the other."""

    def __init__(self, event: Event, id: str) -> None:
        self._row = list(_message(event, id))
        self._row[8] = _STREAMING
        if event.type == "stream_start":
            self._row[4] = self._row[4] or "assistant"
        self._pieces = [self._row[6]] if isinstance(self._row[6], str) else []

    def take(self, event: Event) -> None:
        said = _message(event, self._row[1])
        if self._row[8] != _STREAMING:
            return
        if event.type == "stream_chunk":
            self._pieces += [said[6]] if isinstance(said[6], str) else []
        elif event.type in ("message", "stream_end"):
            self._row[8] = said[8]
        if event.type == "message":  # the whole of it
            self._row[4:6] = said[4] or self._row[4], said[5] or self._row[5]
            self._row[7] = self._row[7] or said[7]
            self._pieces = [said[6]] if said[6] is not None else self._pieces

    def row(self) -> Row:
        content = self._pieces[0] if len(self._pieces) == 1 else "".join(map(str, self._pieces))
        return (*self._row[:6], content if self._pieces else None, *self._row[7:])


def _errors(events: Iterable[Event]) -> Iterator[Row]:
    for event in events:
        if event.type == "error":
            data = event.data
            recoverable = data.get("recoverable")
            yield (
                event.seq, event.step, event.agent, _cell(data.get("category")), _cell(data.get("type")),
                _cell(data.get("message")), int(recoverable) if isinstance(recoverable, bool) else None,
                _cell(data.get("suggested_action")), _cell(data.get("context")), event.timestamp,
            )  # fmt: skip


def _events(events: Iterable[Event]) -> Iterator[Row]:
    for event in events:
        yield event.seq, event.type, event.agent, event.step, event.timestamp, _cell(event.data)


def _cell(value: Any) -> Any:
    """A value as SQLite holds it: texts and numbers as they are, the rest as JSON."""
    if value is None or isinstance(value, str | float):
        return value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    return encode_value(value, default=repr, option=orjson.OPT_NON_STR_KEYS).decode()


def _key(value: Any, name: str) -> str | None:
    return _text(value.get(name)) if isinstance(value, dict) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: Any, name: str) -> int | None:
    """A count there, as SQLite can hold it."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if type(found) is int and 0 <= found < 2**63 else None


_ROWS: dict[str, Callable[[Iterable[Event]], Iterator[Row]]] = {
    "steps": _steps,
    "tools": _tools,
    "messages": _messages,
    "errors": _errors,
    "events": _events,
}
