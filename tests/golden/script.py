"""`Script`: what logs of fixed times are written with."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

Event = dict[str, Any]
_START = datetime.fromisoformat("2024-01-15T10:30:00+00:00")


class Script:
    """Events numbered and timed as they are added; `at` is seconds after the start."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(self, at: float, agent: str, type: str, step: int | None = None, /, **data: Any) -> int:
        event: Event = {
            "seq": len(self.events) + 1,
            "type": type,
            "timestamp": (_START + timedelta(seconds=at)).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "agent": agent,
        }
        if step is not None:
            event["step"] = step
        self.events.append({**event, "data": data})
        return len(self.events)
