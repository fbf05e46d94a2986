"""What an event says once everything is left out that differs between two runs of the same work.

Left out: times and durations, the thread or task something was done in, ids that providers, frameworks and
we make up (messages, responses, requests, calls, checkpoints, seqs), what repeats other events (checkpoint
hashes, chunk numbers), and the bytes of an exchange whose meaning stands in the events around it. A tool
call's id becomes `name#n`, the n-th call of that tool in its message, so that an answer still shows which
call it answers.

Each reducer takes the decoded data apart: it is the caller's own copy.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import orjson

from lctl.analysis.asked import COMMAND
from lctl.codec.lines import encode_value

#: call id -> `name#n`, of one log.
CallNames = dict[str, str]
Data = dict[str, Any]

_VOLATILE = frozenset(
    {
        "duration_ms",
        "elapsed_ms",
        "latency_ms",
        "first_chunk_ms",
        "timestamp",
        "created",
        "created_at",
        "request_id",
        "response_id",
        "call_id",
        "message_id",
        "session_id",
        "conversation_id",
        "parent_conversation_id",
        "turn_id",
        "state_hash",
        "system_fingerprint",
    }
)
_STEP_END = _VOLATILE | {"message", "messages"}
_CHECKPOINT = _VOLATILE | {
    "events_hash",
    "facts_snapshot",
    "state",
    "hash",
    "seq",
    "events",
    "checkpoint_seq",
    "checkpoint_id",
    "parent_checkpoint_id",
}
_STREAM = _VOLATILE | {"index", "parent_id", "ms", "chunk_id"}
_MESSAGE = _VOLATILE | {
    "parent_id",
    "fork_of",
    "copy_of",
    "carry",
    "replaces",
    "nested_in",
    "message_number",
    "serial",
    "to_message_number",
    "call",
    "id",
    "item_id",
}
_WHEN = frozenset({"at", "turn", "behind", "counted"})
#: What a rerun needs to do side by side what was side by side: of which thread or task it was, and when.
_PLACE = _WHEN | {"lane"}
_AMBIENT = _VOLATILE | _WHEN | {"value", "values", "steps", "order", "result", "count", "ahead"}
_AMBIENT |= {"pieces", "late", "polls", "pid"}  # of a command: when what came of it
_TOOL_CALL = _VOLATILE | _WHEN | {"nested", "began", "match"}
#: Sources of what has an address for its key.
_ADDRESSED = ("request", "websocket", "gone")
#: Of a tool's tape: seqs, and places in what the program wrote.
_PLACES = frozenset({"inside", "wrote"})
_PART = frozenset({"id", "item_id", "call_id", "signature", "encrypted_content", "created_by"})
#: Keys under which a message holds more message structure; all else is what somebody said and stays.
_NESTED = ("content", "tool_calls", "function", "reasoning", "summary", "reasoning_details")
_SIMPLE = frozenset({"role", "content", "sampled", "status", "name"})
_ANSWERS = ("tool_call_id", "tool_use_id")
_EMPTY: tuple[Any, ...] = (None, [], {}, "")
#: Ids inside error texts.
_MADE_UP = re.compile(
    r"\b(?:req|resp|msg|call|toolu|chatcmpl|run|rs|fc)[_-][A-Za-z0-9_-]{8,}"
    r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
    r"|\b0x[0-9a-fA-F]{6,}\b"
)


def reduce(type: str, data: Data, calls: CallNames) -> None:
    """Take out of `data` what means nothing. `calls` is filled by messages."""
    if "lane" in data:
        _drop(data, _PLACE)
    reducer = REDUCERS.get(type)
    if reducer is not None:
        reducer(data, calls)
    else:
        _drop(data, _VOLATILE)


def apart(data: Data) -> Data:
    """A copy to reduce. A member nested too deeply to be copied is its JSON text there."""
    try:
        return copy.deepcopy(data)
    except RecursionError:
        return {key: _shallow(value) for key, value in data.items()}


def _shallow(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except RecursionError:
        return encode_value(value).decode()


def _drop(data: Data, keys: frozenset[str]) -> None:
    if not keys.isdisjoint(data):
        for key in data.keys() & keys:
            del data[key]


def _step_start(data: Data, calls: CallNames) -> None:
    data.pop("prompt", None)
    if "tools" in data:
        data.pop("tool_definitions", None)  # stands where a chain first used them; the hash says the same
    _drop(data, _VOLATILE)


def _step_end(data: Data, calls: CallNames) -> None:
    _drop(data, _STEP_END)


def _error(data: Data, calls: CallNames) -> None:
    _drop(data, _VOLATILE)
    context = data.get("context")
    if type(context) is dict:
        _drop(context, _VOLATILE)
        context.pop("traceback", None)  # lines move as a program is worked on
    message = data.get("message")
    if isinstance(message, str):
        data["message"] = _MADE_UP.sub("…", message)


def _checkpoint(data: Data, calls: CallNames) -> None:
    _drop(data, _CHECKPOINT)


def _stream(data: Data, calls: CallNames) -> None:
    _drop(data, _STREAM)


def _blob(data: Data, calls: CallNames) -> None:
    if "hash" in data:
        data.pop("content", None)


def _ambient(data: Data, calls: CallNames) -> None:
    """Clock, random and environment: that it was read is the program's doing, what it held is not. Likewise
    that it was asked, and the address without its query. Of a file it is what the file said, and of a command
    what it gave."""
    value = data.get("value")
    _drop(data, _AMBIENT)
    if data.get("source") in ("database", "file") and isinstance(value, dict):
        data["content"] = value.get("blob") or value.get("hash")
    if data.get("source") == COMMAND:
        data["gave"] = value
    key = data.get("key")
    if data.get("source") in _ADDRESSED and isinstance(key, str):
        data["key"] = _MADE_UP.sub("", key.partition("?")[0])


def _tool_call(data: Data, calls: CallNames) -> None:
    _drop(data, _TOOL_CALL)
    tape = data.get("tape")
    if isinstance(tape, dict) and not _PLACES.isdisjoint(tape):
        said = {name: part for name, part in tape.items() if name not in _PLACES}
        wrote = _written(tape.get("wrote"))
        if wrote:
            said["wrote"] = wrote
        data["tape"] = said
        if not said:
            del data["tape"]


def _written(pieces: object) -> dict[str, str]:
    """By stream, wherever in it: what others write at the same time comes before or after as it falls out."""
    made: dict[str, str] = {}
    for piece in pieces if isinstance(pieces, list) else ():
        if isinstance(piece, list) and len(piece) == 3 and isinstance(piece[2], str):
            made[str(piece[0])] = made.get(str(piece[0]), "") + piece[2]
    return made


def _exchange(data: Data, calls: CallNames) -> None:
    url = data.get("url")
    failure = data.get("error")
    said = {
        "attempt": data.get("attempt"),
        "method": data.get("method"),
        "url": address(url) if isinstance(url, str) else None,
        "status": data.get("status"),
        "error": failure.get("type") if isinstance(failure, dict) else failure,
        "complete": data.get("complete"),
        "closed_early": data.get("closed_early"),
    }
    data.clear()
    data.update((key, value) for key, value in said.items() if value is not None)


@lru_cache(maxsize=256)
def address(url: str) -> str:
    """Without query, and on this machine without the port: test servers take any that is free."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return url
    local = host in ("localhost", "127.0.0.1", "::1")
    return f"{parts.scheme}://{host if local else parts.netloc}{parts.path}"


def _message(data: Data, calls: CallNames) -> None:
    for key in data.keys() & _MESSAGE:
        if key == "call_id" and data.get("type") in ("function_call", "function_call_output"):
            continue
        del data[key]
    if type(data.get("content")) is not str or not data.keys() <= _SIMPLE:
        _part(data, calls, {})
    # null and empty say nothing (a dialect's way to leave a field out)
    for key in [key for key, value in data.items() if value in _EMPTY and key != "content"]:
        del data[key]


def _part(part: Data, calls: CallNames, counts: dict[str, int]) -> None:
    """One level of message structure: ids out, tool calls named, deeper levels the same."""
    kind = part.get("type")
    function = part.get("function")
    if kind in ("tool_use", "function_call", "function", "server_tool_use") or isinstance(function, dict):
        _name_call(part, function, calls, counts)
    for key in _ANSWERS:
        answered = part.pop(key, None)
        if isinstance(answered, str):
            part["answers"] = calls.get(answered, "?")
    if kind == "function_call_output" and isinstance(part.get("call_id"), str):
        part["answers"] = calls.get(part["call_id"], "?")
    for key in part.keys() & _PART:
        del part[key]
    for key in _NESTED:
        inner = part.get(key)
        if type(inner) is dict:
            _part(inner, calls, counts)
        elif type(inner) is list:
            for one in inner:
                if type(one) is dict:
                    _part(one, calls, counts)


def _name_call(part: Data, function: object, calls: CallNames, counts: dict[str, int]) -> None:
    name = str(function.get("name") if isinstance(function, dict) else part.get("name"))
    id = part.get("call_id") or part.get("id")
    nth = counts[name] = counts.get(name, 0) + 1
    if isinstance(id, str):
        calls[id] = f"{name}#{nth}"
    _canonical_arguments(function if isinstance(function, dict) else part)


def _canonical_arguments(call: Data) -> None:
    arguments = call.get("arguments")
    if isinstance(arguments, str):
        try:
            call["arguments"] = orjson.loads(arguments)
        except ValueError:
            pass


REDUCERS: dict[str, Callable[[Data, CallNames], None]] = {
    "step_start": _step_start,
    "step_end": _step_end,
    "error": _error,
    "checkpoint": _checkpoint,
    "stream_start": _stream,
    "stream_chunk": _stream,
    "stream_end": _stream,
    "message": _message,
    "message_alias": _stream,
    "view_select": _stream,
    "exchange": _exchange,
    "tool_call": _tool_call,
    "ambient": _ambient,
    "output": _blob,
    "blob": _blob,
}
