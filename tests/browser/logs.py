"""Small logs, written by hand."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from tests.browser.debugger import Debugger

#: Opens a log of this text in the debugger.
Open = Callable[[str], tuple[Debugger, Page]]


def event(seq: int, type: str, agent: str = "planner", **data: Any) -> dict[str, Any]:
    return {
        "seq": seq,
        "type": type,
        "timestamp": f"2026-01-15T10:30:{seq:02d}Z",
        "agent": agent,
        "data": data,
    }


def said(seq: int, id: str, parent: str | None, role: str, content: object, **more: Any) -> dict[str, Any]:
    return event(seq, "message", message_id=id, parent_id=parent, role=role, content=content, **more)


def document(*events: dict[str, Any], tail: str = "]}\n") -> str:
    return (
        '{"lctl":"4.0","chain":{"id":"odd"},"events":[\n' + ",\n".join(map(json.dumps, events)) + "\n" + tail
    )


def png(width: int, height: int, rows: bytes) -> bytes:
    """A picture. `rows`: of each a zero and three bytes a pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
