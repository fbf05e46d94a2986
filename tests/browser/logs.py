"""Small logs, written by hand."""

from __future__ import annotations

import json
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


def document(*events: dict[str, Any], tail: str = "]}\n") -> str:
    return (
        '{"lctl":"4.0","chain":{"id":"odd"},"events":[\n' + ",\n".join(map(json.dumps, events)) + "\n" + tail
    )
