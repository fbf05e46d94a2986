"""How a tape counts the crossings of its lanes, where a program has several logs.

A lane counts all that it does. It may do some of it in one log and some in another, and a log that is gone on
with gets more of lanes of the same name: each time a session is entered its main flow is one of its own.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lctl.session.concurrency.lane import Lane


class Numbers:
    """Of one tape. Safe from several threads."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], int] = {}  # by path and kind
        self._shifts: dict[Lane, dict[str, int]] = {}
        self._lock = threading.Lock()

    def of(self, kind: str, lane: Lane, number: int) -> int:
        """What the tape calls the crossing that the lane calls its `number`th of that kind."""
        with self._lock:
            name = lane.path, kind
            shift = self._shifts.setdefault(lane, {}).setdefault(kind, self._last.get(name, 0) - number + 1)
            found = number + shift
            self._last[name] = max(found, self._last.get(name, 0))
            return found
