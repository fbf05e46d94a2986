"""The columns of an event in a warehouse, and how an event fills them.

`data` is the whole payload as JSON; the other columns after it are copies of what is asked for most, so that
most questions need no JSON. A value that is not of its column's type is only in `data`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from lctl.codec.lines import encode_value
from lctl.events import Event
from lctl.state.moments import moment

Data = Mapping[str, Any]
Row = tuple[Any, ...]


class Column(NamedTuple):
    """One column.

    Attributes:
        type: text, integer, number or time.
        about: what it holds.
        of: (event's payload) -> its value; None of the columns of the envelope.
    """

    name: str
    type: str
    about: str
    of: Callable[[Data], Any] | None = None


def _text(*path: str) -> Callable[[Data], Any]:
    return lambda data: value if isinstance(value := _at(data, path), str) else None


def _integer(*path: str) -> Callable[[Data], Any]:
    def read(data: Data) -> Any:
        value = _at(data, path)
        return value if type(value) is int and -(2**63) <= value < 2**63 else None

    return read


def _number(*path: str) -> Callable[[Data], Any]:
    def read(data: Data) -> Any:
        value = _at(data, path)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        try:
            return float(value)
        except OverflowError:  # JSON's whole numbers have no end
            return None

    return read


def _at(data: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


def _model(data: Data) -> str | None:
    model = data.get("model")
    model = model.get("id") if isinstance(model, Mapping) else model
    return model if isinstance(model, str) else None


def _said(data: Data) -> str | None:
    """Words of a fact, a message or an error."""
    for key in ("text", "content", "message"):
        if isinstance(data.get(key), str):
            return str(data[key])
    from lctl.state.messages import content_of, text_of

    return (text_of(data) or None) if isinstance(content_of(data), list) else None


def _failure(data: Data) -> str | None:
    error = data.get("error")
    if error is None or error is False:
        return None
    return error if isinstance(error, str) else encode_value(error).decode("utf-8", "replace")


COLUMNS: tuple[Column, ...] = (
    Column("run", "text", "id of the chain"),
    Column("seq", "integer", "number of the event in its chain"),
    Column("type", "text", "step_start, step_end, message, tool_call, fact_added, ..."),
    Column("timestamp", "time", "when, UTC, microseconds"),
    Column("agent", "text", "who"),
    Column("step", "integer", "seq of the step it happened in; of a step_end the step it ends"),
    Column("data", "text", "the payload, JSON"),
    Column("extra", "text", "keys of the envelope that lctl does not know, JSON"),
    Column("kind", "text", "of a step_start: llm, agent, tool, ...", _text("kind")),
    Column("intent", "text", "of a step_start: what for", _text("intent")),
    Column("model", "text", "of a model call", _model),
    Column("provider", "text", "of a model call", _text("provider")),
    Column("operation", "text", "of a model call: chat.completions, messages, ...", _text("operation")),
    Column("outcome", "text", "of a step_end: success, error, ...", _text("outcome")),
    Column("finish_reason", "text", "of a model call", _text("finish_reason")),
    Column("response_id", "text", "of a model call", _text("response_id")),
    Column("input_tokens", "integer", "all a call read, cached ones included", _integer("tokens", "input")),
    Column("output_tokens", "integer", "all it wrote, reasoning included", _integer("tokens", "output")),
    Column("cache_read_tokens", "integer", "of the input: from the cache", _integer("tokens", "cache_read")),
    Column(
        "cache_write_tokens", "integer", "of the input: into the cache", _integer("tokens", "cache_write")
    ),
    Column("reasoning_tokens", "integer", "of the output: reasoning", _integer("tokens", "reasoning")),
    Column("duration_ms", "number", "of a step_end, tool_call or exchange", _number("duration_ms")),
    Column("tool", "text", "of a tool_call", _text("tool")),
    Column("call_id", "text", "of a tool_call: the model's call it answers", _text("call_id")),
    Column("error", "text", "of a tool_call that failed: why", _failure),
    Column("category", "text", "of an error", _text("category")),
    Column(
        "error_type", "text", "of an error", lambda data: _text("type")(data) if "category" in data else None
    ),
    Column("role", "text", "of a message", _text("role")),
    Column("message_id", "text", "of a message", _text("message_id")),
    Column("parent_id", "text", "of a message: the one before it", _text("parent_id")),
    Column("fact", "text", "of a fact: its id", lambda data: _text("id")(data)),
    Column("confidence", "number", "of a fact, from 0 to 1", _number("confidence")),
    Column("text", "text", "words of a message, fact or error", _said),
    Column("parent_run", "text", "the chain this one was forked from or started by"),
    Column("parent_seq", "integer", "and after which of its events"),
)

_PROMOTED = [column.of for column in COLUMNS if column.of is not None]
#: Types of event that a copied column is meant for, where its key means something else in others.
_FACTS = frozenset({"fact_added", "fact_modified"})
_FACT = [column.name for column in COLUMNS if column.of is not None].index("fact")


def rows(events: Iterator[Event], chain: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of a log, in the order of its events."""
    run = str(chain.get("id") or "")
    above = chain.get("parent")
    parent = above if isinstance(above, Mapping) else {}
    tail = (_text("id")(parent), _integer("seq")(parent))
    open: dict[int, str] = {}  # steps under way -> their agents
    for event in events:
        step = event.step
        if event.type == "step_start":
            open[event.seq] = event.agent
        elif event.type == "step_end":
            step = step if step is not None else _newest(open, event.agent)
            open.pop(step or 0, None)
        copied = [read(event.data) for read in _PROMOTED]
        if event.type not in _FACTS:
            copied[_FACT] = None
        yield (
            run, event.seq, event.type, _time(event.timestamp), event.agent, step, _json(event.data),
            _json(event.extra) if event.extra else None, *copied, *tail,
        )  # fmt: skip


def _newest(open: dict[int, str], agent: str) -> int | None:
    """The newest open step of an agent, as logs without `step` mean it."""
    return next((seq for seq in reversed(open) if open[seq] == agent), None)


def _time(timestamp: str) -> datetime | None:
    return moment(timestamp)


def _json(value: Any) -> str:
    return encode_value(value, option=orjson.OPT_NON_STR_KEYS).decode("utf-8", "replace")
