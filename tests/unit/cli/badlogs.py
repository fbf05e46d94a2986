"""Logs in which something is as it should not be, and the commands that read them."""

from __future__ import annotations

from typing import Any

import orjson

from tests.golden import logs

READING = [
    "replay {}",
    "replay --to-seq 3 {}",
    "show {}",
    "show {} 2",
    "tail {}",
    "stats {}",
    "bottleneck {}",
    "diff {} {}",
    "verify {}",
    "validate {}",
    "convert {}",
    "export --format csv {}",
    "export --format report {}",
    "doctor --no-import {}",
]


def document(events: list[Any], **top: Any) -> bytes:
    return orjson.dumps({"lctl": "4.0", "chain": {"id": "c"}, "events": events, **top})


def edited(**changes: Any) -> bytes:
    """The review with keys of event N replaced: `_3={"data": None}`."""
    events: list[Any] = logs.security_review()
    for name, change in changes.items():
        events[int(name[1:]) - 1] |= change
    return document(events)
