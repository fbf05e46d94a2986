"""Server-sent events as bytes."""

from __future__ import annotations

import threading
from typing import Any

import msgspec

HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}
PING = b": ping\n\n"
#: The server is about to end: streams end first.
ENDING = threading.Event()


def told(event: str, data: Any, id: int | None = None) -> bytes:
    """One event; its data is one line of JSON, whatever it holds."""
    head = f"event: {event}\n" + (f"id: {id}\n" if id is not None else "")
    return head.encode() + b"data: " + msgspec.json.encode(data) + b"\n\n"
