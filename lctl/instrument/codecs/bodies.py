"""Reading JSON bodies that may be anything: the tolerant door between wire bytes and codecs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import orjson

from lctl.interrupts import let_through


def loads(data: bytes) -> Any:
    """The JSON value of `data`.

    Takes what strict parsers refuse and real clients send: bytes that are not UTF-8, lone surrogates
    (they become "?"), NaN, Infinity and numbers beyond floats (they become null), a byte order mark, UTF-16
    and UTF-32.

    Raises:
        ValueError: not JSON even so, or nested too deep.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        value = json.loads(
            data.decode(json.detect_encoding(data), "replace"),
            parse_constant=without_constants,
            parse_float=within_floats,
        )
        return orjson.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("JSON nested too deep") from None


def without_constants(name: str) -> None:
    """NaN and Infinity, which JSON does not have."""
    return


def within_floats(number: str) -> float | None:
    """None for `1e400`, which Python's parser takes for infinite."""
    value = float(number)
    return value if math.isfinite(value) else None


def loads_or_none(data: bytes) -> Any:
    try:
        return loads(data)
    except ValueError as error:
        let_through(error)
        return None


def read_object(data: bytes) -> dict[str, Any]:
    """Raises ValueError where `data` is not one JSON object."""
    value = loads(data)
    if not isinstance(value, dict):
        raise ValueError(f"a request body is a JSON object, this is {type(value).__name__}")
    return value


def header(headers: Mapping[str, str], name: str) -> str:
    """The header's value, "" when absent; `name` in lower case, `headers` in any."""
    value = headers.get(name)
    if value is None:
        value = headers.get(name.title(), "")
    return value


def is_event_stream(headers: Mapping[str, str], body: bytes) -> bool:
    """Server-sent events, by content type or, where that says otherwise, by how the body begins."""
    start = body[:64].lstrip()
    if start.startswith((b"data:", b"event:", b": ")):
        return True
    return not start.startswith(b"{") and "event-stream" in header(headers, "content-type").lower()


def read_error(status: int, body: Any) -> dict[str, Any]:
    """{status, type, code, message} of an error body: an object of any provider, or bare text."""
    if isinstance(body, list) and len(body) == 1:  # Google's, also where it speaks as OpenAI
        body = body[0]
    detail = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(detail, dict):
        detail = {"message": detail}
    return {
        "status": status,
        "type": detail.get("type"),
        "code": detail.get("code"),
        "message": detail["detail"]
        if "message" not in detail and "detail" in detail
        else detail.get("message"),
    }


def reports_error(value: dict[str, Any]) -> bool:
    """Whether an object reports a failure, whatever the status says: an event of a stream, or a whole body
    (gateways put into a 200 what the provider behind them refused)."""
    kind = value.get("type", "error")
    return kind == "error" and bool(value.get("error") or "type" in value)


def is_filtered(whole: dict[str, Any]) -> bool:
    """Whether the `error` of a status 200 is Azure's of a filtered prompt: an answer without content."""
    said = whole.get("error")
    return isinstance(said, dict) and said.get("code") == "content_filter"


def read_error_body(status: int, body: bytes) -> dict[str, Any]:
    """The same from bytes that need not be JSON: their text is the message then."""
    value = loads_or_none(body) if body[:1] in b'{["' else None
    return read_error(status, body.decode("utf-8", "replace") if value is None else value)


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; nothing of anything else."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, dict)]
