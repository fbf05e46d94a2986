"""AWS event streams: the frames in which Bedrock sends what others send as server-sent events.

A frame is: total length, header length, CRC (4 bytes each, big endian), headers, payload, CRC. The
payload is one event's JSON, of InvokeModel as `{"bytes": <base64 of it>}`.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from lctl.instrument.codecs.bodies import header, loads_or_none, read_error_body


def is_event_stream(headers: Mapping[str, str]) -> bool:
    return "amazon.eventstream" in header(headers, "content-type").lower()


def read_stream(body: bytes) -> list[dict[str, Any]]:
    """The events of the whole frames in `body`."""
    events: list[dict[str, Any]] = []
    for kind, payload in read_frames(body):
        if kind.endswith("Exception") or (set(payload) == {"message"}):
            payload = {"type": "error", "error": payload}
        events.append(payload)
    return events


def read_frames(body: bytes) -> list[tuple[str, dict[str, Any]]]:
    """(type of the event or exception, payload) of the whole frames in `body`."""
    return _frames(body, payload_of)


def open_frames(body: bytes) -> list[tuple[str, dict[str, Any]]]:
    """The same of what seals texts, and not events, in base64: agents. They stay in it."""
    return _frames(body, lambda frame: frame[12 + _size_of_headers(frame) : -4])


def _frames(body: bytes, payload_in: Callable[[bytes], bytes]) -> list[tuple[str, dict[str, Any]]]:
    frames: list[tuple[str, dict[str, Any]]] = []
    for frame in split_frames(body):
        payload = loads_or_none(payload_in(frame))
        if isinstance(payload, dict):
            headers = _read_headers(frame[12 : 12 + _size_of_headers(frame)])
            frames.append((headers.get(":event-type") or headers.get(":exception-type") or "", payload))
    return frames


def split_frames(body: bytes) -> list[bytes]:
    """The whole frames in `body`."""
    frames = []
    at = 0
    while len(body) - at >= 16:
        size = int.from_bytes(body[at : at + 4], "big")
        if size < 16 + int.from_bytes(body[at + 4 : at + 8], "big") or at + size > len(body):
            break
        frames.append(body[at : at + size])
        at += size
    return frames


def payload_of(frame: bytes) -> bytes:
    """What a frame says, out of the base64 of InvokeModel."""
    payload = frame[12 + _size_of_headers(frame) : -4]
    inner = _sealed(payload)
    return payload if inner is None else from_base64(inner)


def from_base64(text: str) -> bytes:
    """The bytes; none where it is no base64."""
    try:
        return base64.b64decode(text)
    except ValueError:
        return b""


def frame(kind: str, payload: dict[str, Any]) -> bytes:
    """One event of that type."""
    named = ((":event-type", kind), (":content-type", "application/json"), (":message-type", "event"))
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + len(value).to_bytes(2, "big") + value.encode()
        for name, value in named
    )
    body = orjson.dumps(payload)
    head = (16 + len(headers) + len(body)).to_bytes(4, "big") + len(headers).to_bytes(4, "big")
    made = head + zlib.crc32(head).to_bytes(4, "big") + headers + body
    return made + zlib.crc32(made).to_bytes(4, "big")


def with_payload(frame: bytes, payload: bytes) -> bytes:
    """The frame as it would be with another payload."""
    size = _size_of_headers(frame)
    if _sealed(frame[12 + size : -4]) is not None:
        payload = orjson.dumps({"bytes": base64.b64encode(payload).decode()})
    head = (16 + size + len(payload)).to_bytes(4, "big") + frame[4:8]
    made = head + zlib.crc32(head).to_bytes(4, "big") + frame[12 : 12 + size] + payload
    return made + zlib.crc32(made).to_bytes(4, "big")


def join_base64(pieces: list[str]) -> str:
    """One base64 of bytes that came in several, each with a padding of its own."""
    if len(pieces) == 1:
        return pieces[0]
    try:
        return base64.b64encode(b"".join(map(base64.b64decode, pieces))).decode()
    except binascii.Error:
        return "".join(pieces)


def _size_of_headers(frame: bytes) -> int:
    return int.from_bytes(frame[4:8], "big")


def _sealed(payload: bytes) -> str | None:
    """The base64 that InvokeModel puts an event in."""
    if b'"bytes"' not in payload:
        return None
    outer = loads_or_none(payload)
    inner = outer.get("bytes") if isinstance(outer, dict) else None
    return inner if isinstance(inner, str) else None


def read_error(status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """Its type stands in a header: `ThrottlingException:http://...`."""
    error = read_error_body(status, body)
    error["type"] = error["type"] or header(headers, "x-amzn-errortype").partition(":")[0] or None
    return error


def _read_headers(data: bytes) -> dict[str, str]:
    """The headers of type string (7), which are all that Bedrock sends; what follows another is not read."""
    headers: dict[str, str] = {}
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        if name_end + 3 > len(data) or data[name_end] != 7:
            break
        size = int.from_bytes(data[name_end + 1 : name_end + 3], "big")
        value = data[name_end + 3 : name_end + 3 + size]
        headers[data[at + 1 : name_end].decode("utf-8", "replace")] = value.decode("utf-8", "replace")
        at = name_end + 3 + size
    return headers
