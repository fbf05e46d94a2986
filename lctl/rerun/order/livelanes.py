"""Which lanes of a rerun have left the tape."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lctl.session.concurrency.lane import Lane


class LiveLanes:
    """A lane that left the tape never comes back to it, nor does what it starts from then on. Safe from
    several threads."""

    def __init__(self) -> None:
        self._spawned: dict[str, int] = {}  # lane that left -> how many it had started by then
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        """Whether any has left."""
        return bool(self._spawned)

    def add(self, lane: Lane) -> None:
        with self._lock:
            self._spawned.setdefault(lane.path, lane.spawned)

    def __contains__(self, lane: Lane) -> bool:
        if not self._spawned:
            return False
        if lane.path in self._spawned:
            return True
        at: Lane = lane
        while (parent := at.parent) is not None:
            started = self._spawned.get(parent.path)
            if started is not None and not 0 < at.index <= started:
                return True
            at = parent
        return False
