"""What each type of event says, cut out of its bytes where that is possible, decoded where not.

A cutter gets the data of an event as JSON, notes in the trace what the event names and begins, and returns
what it says and what it is to the alignment. What it returns may be finer than the event's essence (keys of
an object in another order), never coarser.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec
import orjson

from lctl.analysis.asked import is_file
from lctl.analysis.essence import CallNames, address, reduce
from lctl.analysis.trace import EVENT, LOOSE, ORDER, POOL, STEP, Trace
from lctl.codec.lines import encode_value

Cutter = Callable[[Trace, int, int, bytes], tuple[bytes, int]]


class _Exchange(msgspec.Struct):
    attempt: Any = None
    method: Any = None
    url: Any = None
    status: Any = None
    error: Any = None
    complete: Any = None
    closed_early: Any = None


def reduced(type: str, data: dict[str, Any], calls: CallNames) -> bytes:
    """JSON of the essence of an event; `data` is taken apart."""
    reduce(type, data, calls)
    return dump(data)


def dump(value: object) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a lone surrogate, an integer of more than 64 bits
        return encode_value(value, option=orjson.OPT_SORT_KEYS)


def load(raw: bytes) -> dict[str, Any]:
    try:
        data = orjson.loads(raw)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


_SCALARS = re.compile(
    rb'(?:,"(?:duration_ms|call_id)":(?:-?[0-9][0-9.eE+-]*|"[^"\\]*"|null)|,"derived":true)+\}$'
)
_PROMPT = b',"prompt":"'
#: The end of a call of a model, and of a step with nothing in it that names or measures. Both are for data
#: without a backslash: then a text ends at its next quote, and "all but a quote" is what is found fastest.
_ANSWERED = re.compile(
    rb'(\{"outcome":"[^"]*"),"message":"([^"]*)"(,"model":(?:"[^"]*"|null))(?:,"response_id":"[^"]*")?'
    rb'(,"finish_reason":(?:"[^"]*"|null),"tokens":\{[^{}]*\})(?:,"(?:duration|first_chunk)_ms":[0-9.eE+-]+)*\}'
)
_ENDED = re.compile(
    rb'(\{"outcome":"[^"]*"(?:,"(?:output_summary|error)":"[^"]*")?)(?:,"duration_ms":[0-9.eE+-]+)?\}'
)
#: How a tool call ends as lctl writes it.
_TIMED = re.compile(rb',"duration_ms":[0-9.eE+-]+(?:,"call_id":"[^"\\]*")?\}')
#: A message of text and nothing else. A quote in the text ends the match: then `_HEAD` has to do.
_TEXT = re.compile(
    rb'\{"message_id":"([^"\\]*)","parent_id":(?:null|"([^"\\]*)"),'
    rb'("role":"[^"]*","content":"[^"]*"(,"sampled":true)?(?:,"status":"[^"]*")?\})'
)
_HEAD = re.compile(rb'\{"message_id":"([^"\\]*)","parent_id":(?:null|"([^"\\]*)"),')

#: Sources of what threads did to each other's order.
_ORDERING = ("wake", "resumed", "jobs")

# `find` below, where `in` would do: of bytes it takes half the time.


def _tool_call(trace: Trace, n: int, seq: int, raw: bytes) -> tuple[bytes, int]:
    where = LOOSE if raw.find(b'"derived":true') >= 0 else EVENT
    at = raw.rfind(b',"duration_ms":')
    if at > 0 and (_TIMED.fullmatch(raw, at) or _SCALARS.match(raw, at)):
        return raw[:at], where
    if b'"duration_ms"' in raw or b'"call_id"' in raw:
        return reduced("tool_call", load(raw), trace.calls), where
    return raw, where


def _step_start(trace: Trace, n: int, seq: int, raw: bytes) -> tuple[bytes, int]:
    trace.starts.setdefault(seq, n)
    if raw.find(b'"tool_definitions"') < 0:
        before, prompt, after = raw.partition(_PROMPT)
        if not prompt:
            return raw, STEP
        id, _, after = after.partition(b'"')
        if id in trace.messages:  # so it is the step's prompt, and no parameter of that name
            trace.named[n] = id
            return before + after, STEP
    data = load(raw)
    _name(trace, n, data.get("prompt"))
    return reduced("step_start", data, trace.calls), STEP


def _step_end(trace: Trace, n: int, seq: int, raw: bytes) -> tuple[bytes, int]:
    if raw.find(b"\\") < 0:
        answer = _ANSWERED.fullmatch(raw)
        if answer is not None:
            outcome, trace.named[n], model, rest = answer.groups()
            return outcome + model + rest, EVENT
        ended = _ENDED.fullmatch(raw)
        if ended is not None:
            return ended[1] + b"}", EVENT  # the essence, too, is this: keys that sort as they stand
    data = load(raw)
    _name(trace, n, data.get("message"))
    return reduced("step_end", data, trace.calls), EVENT


def _message(trace: Trace, n: int, seq: int, raw: bytes) -> tuple[bytes, int]:
    text = _TEXT.fullmatch(raw)
    if text is not None:
        id, trace.named[n], rest, sampled = text.groups()
        trace.messages.setdefault(id, n)
        return rest, POOL if sampled is None else EVENT
    head = _HEAD.match(raw)
    where = EVENT if b'"sampled":true' in raw else POOL
    if head is not None:
        id, parent = head.groups()
        rest = raw[head.end() :]
        # `{"` cannot stand inside a JSON string, so without it there is no structure that may hold ids
        if b'{"' not in rest and b'_id"' not in rest and b'_of"' not in rest:
            trace.messages.setdefault(id, n)
            trace.named[n] = parent
            return rest, where
    data = load(raw)
    id = data.get("message_id")
    parent = data.get("parent_id")
    trace.messages.setdefault(_id(id) or b"#%d" % seq, n)
    trace.named[n] = _id(parent)
    return reduced("message", data, trace.calls), where


def _name(trace: Trace, n: int, id: object) -> None:
    if isinstance(id, str):
        trace.named[n] = id.encode("utf-8", "surrogatepass")


def _id(value: object) -> bytes | None:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else None


def _exchange(trace: Trace, n: int, seq: int, raw: bytes) -> tuple[bytes, int]:
    try:
        exchange = _decode_exchange(raw)
    except (ValueError, RecursionError):
        return reduced("exchange", load(raw), trace.calls), EVENT
    url, failure = exchange.url, exchange.error
    said = (
        exchange.method,
        address(url) if isinstance(url, str) else None,
        exchange.attempt,
        exchange.status,
        failure.get("type") if isinstance(failure, dict) else failure,
        exchange.complete,
        exchange.closed_early,
    )
    return dump(said), EVENT


def _ambient(trace: Trace, n: int, seq: int, raw: bytes) -> tuple[bytes, int]:
    """In which order a browser asked for the files of its page is luck."""
    data = load(raw)
    source = data.get("source")
    where = ORDER if source in _ORDERING else POOL if is_file(source, data.get("key")) else EVENT
    return reduced("ambient", data, trace.calls), where


def _pooled(trace: Trace, n: int, seq: int, raw: bytes) -> tuple[bytes, int]:
    return reduced("blob", load(raw), trace.calls), POOL


def _naming(type: str) -> Cutter:
    def cut(trace: Trace, n: int, seq: int, raw: bytes) -> tuple[bytes, int]:
        data = load(raw)
        _name(trace, n, data.get("message_id"))
        return reduced(type, data, trace.calls), EVENT

    return cut


def _decoded(type: str) -> Cutter:
    def cut(trace: Trace, n: int, seq: int, raw: bytes) -> tuple[bytes, int]:
        return reduced(type, load(raw), trace.calls), EVENT

    return cut


_decode_exchange = msgspec.json.Decoder(_Exchange).decode
CUTTERS: dict[str, Cutter] = {
    "tool_call": _tool_call,
    "step_start": _step_start,
    "step_end": _step_end,
    "message": _message,
    "exchange": _exchange,
    "blob": _pooled,
    "error": _decoded("error"),
    "checkpoint": _decoded("checkpoint"),
    "ambient": _ambient,
    "output": _decoded("output"),
    "stream_start": _naming("stream_start"),
    "stream_chunk": _naming("stream_chunk"),
    "stream_end": _naming("stream_end"),
    "message_alias": _naming("message_alias"),
    "view_select": _naming("view_select"),
}
