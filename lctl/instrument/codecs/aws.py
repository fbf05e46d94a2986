"""AWS event streams: the frames in which Bedrock sends what others send as server-sent events.

A frame is: total length, header length, CRC (4 bytes each, big endian), headers, payload, CRC. The
payload is `{"bytes": <base64 of one event's JSON>}`.
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
    at = 0
    while len(body) - at >= 16:
        size = int.from_bytes(body[at : at + 4], "big")
        head = int.from_bytes(body[at + 4 : at + 8], "big")
        if size < 16 + head or at + size > len(body):
            break
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
        elif "message" in payload:  # an exception frame
            payload = {"type": "error", "error": payload}
        if isinstance(payload, dict):
            events.append(payload)
    return events
