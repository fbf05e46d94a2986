"""Responses that an edit makes or changes: what a model call gets in place of its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.instrument.codecs.paths import path_of
from lctl.patch import Edit, Unaddressed, change
from lctl.rerun.dialects.converse import sealed
from lctl.rerun.edits import answering, failing
from lctl.session.border import RecordedError, WireRequest

if TYPE_CHECKING:
    from lctl.instrument.codecs.model import ModelRequest


class EditedAnswer(NamedTuple):
    """What a model call gets in place of its answer: a response, or the exception for one."""

    status: int | None
    headers: Mapping[str, str]
    chunks: tuple[bytes, ...] = ()
    error: RecordedError | None = None


def failure(operation: str, request: WireRequest, text: str) -> EditedAnswer:
    """A status as its provider sends it, or an exception of the HTTP library."""
    name, message = failing.split(text)
    if name.isdigit():
        headers = {"content-type": "application/json"}
        return EditedAnswer(int(name), headers, (failing.error_body(operation, int(name), message),))
    return EditedAnswer(None, {}, (), failing.transport_error(request.http, name, message))


def whole_of(operation: str, recorded: EditedAnswer) -> dict[str, Any]:
    """The response as one JSON object, if it was streamed or not."""
    from lctl.instrument.codecs.bodies import read_object

    body = b"".join(recorded.chunks)
    if not _is_stream(recorded):
        return read_object(body)
    return answering.gathered(operation, body)


def _is_stream(answer: EditedAnswer) -> bool:
    kind = answer.headers.get("content-type", "")
    return "event-stream" in kind or "ndjson" in kind or "amazon.eventstream" in kind


def given_whole(value: Any, old: dict[str, Any]) -> dict[str, Any]:
    """A whole answer: what it leaves out is empty, not as recorded."""
    if not isinstance(value, dict):
        value = {"content": None if value is None else str(value)}
    calls = value.get("tool_calls")
    usual: dict[str, Any] = {
        "content": None,
        "tool_calls": [],
        "finish_reason": "tool_calls" if calls else "stop",
    }
    return {**usual, "model": old.get("model"), **value}


def spoken(
    operation: str, whole: dict[str, Any], recorded: EditedAnswer | None, request: WireRequest
) -> EditedAnswer:
    """The response that says `whole`, streamed if the program reads it so."""
    asked = _asked(request.body)
    streamed = _is_stream(recorded) if recorded is not None else _asks_stream(operation, request)
    headers = {
        key: value
        for key, value in (recorded.headers if recorded is not None else {}).items()
        if key not in ("content-length", "content-encoding", "transfer-encoding")
    }
    if streamed:
        options = asked.get("stream_options")
        counted = isinstance(options, dict) and options.get("include_usage") is True
        speaking = answering.dialect(operation)
        headers["content-type"] = headers.get("content-type", speaking.streamed_as)
        pieces = speaking.stream(whole, counted)
        if path_of(request.url).endswith("/invoke-with-response-stream"):
            pieces = sealed(pieces)
        return EditedAnswer(200, headers, tuple(pieces))
    headers["content-type"] = headers.get("content-type", "application/json")
    return EditedAnswer(200, headers, (_json(whole, recorded),))


def _json(whole: dict[str, Any], recorded: EditedAnswer | None) -> bytes:
    from lctl.patch import rewrite

    return rewrite(b"{}" if recorded is None else b"".join(recorded.chunks), whole)


def rewritten(recorded: EditedAnswer | None, edit: Edit) -> EditedAnswer:
    """The JSON of a response edited as it is."""
    from lctl.instrument.codecs.bodies import loads
    from lctl.patch import rewrite

    if edit.operator == "=" and len(edit.path) == 1 and recorded is None:
        return EditedAnswer(200, {"content-type": "application/json"}, (rewrite(b"{}", edit.value),))
    if recorded is None or _is_stream(recorded):
        raise Unaddressed("there is no recorded JSON response whose body could be changed")
    body = b"".join(recorded.chunks)
    new = change({"body": loads(body)}, edit.path, edit.operator, edit.value)["body"]
    return recorded._replace(chunks=(rewrite(body, new),))


def _asked(body: bytes | None) -> dict[str, Any]:
    from lctl.instrument.codecs.bodies import loads_or_none

    value = loads_or_none(body) if body else None
    return value if isinstance(value, dict) else {}


def asked_model(operation: str, request: WireRequest) -> str:
    """The model a request names, in its body or its URL."""
    asked = _read(operation, request)
    return "" if asked is None else asked.model or ""


def _asks_stream(operation: str, request: WireRequest) -> bool:
    asked = _read(operation, request)
    return asked is not None and asked.stream


def _read(operation: str, request: WireRequest) -> ModelRequest | None:
    from lctl.instrument.codecs import find

    found = find("POST", request.url, request.headers)
    try:
        return None if found is None else found[0].read_request(operation, request.url, request.body or b"")
    except ValueError:
        return None
