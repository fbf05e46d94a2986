"""AWS event streams: the frames in which Bedrock sends what others send as server-sent events.

A frame is: total length, header length, CRC (4 bytes each, big endian), headers, payload, CRC. The
payload is one event's JSON, of InvokeModel as `{"bytes": <base64 of it>}`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from lctl.instrument.codecs.bodies import header, loads_or_none


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
    frames: list[tuple[str, dict[str, Any]]] = []
    at = 0
    while len(body) - at >= 16:
        size = int.from_bytes(body[at : at + 4], "big")
        head = int.from_bytes(body[at + 4 : at + 8], "big")
        if size < 16 + head or at + size > len(body):
            break
        headers = _read_headers(body[at + 12 : at + 12 + head])
        payload = loads_or_none(body[at + 12 + head : at + size - 4])
        at += size
        if not isinstance(payload, dict):
            continue
        inner = payload.get("bytes")
        if isinstance(inner, str):
            try:
                payload = loads_or_none(base64.b64decode(inner))
            except binascii.Error:
                continue
        if isinstance(payload, dict):
            frames.append((headers.get(":event-type") or headers.get(":exception-type") or "", payload))
    return frames


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
