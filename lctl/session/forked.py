"""The recorder of a forked child before its first event."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from lctl.record.recorder import Build, Recorder


class UnopenedRecorder:
    """Opens the child's own log when something is recorded: most children record nothing."""

    def __init__(self, open: Callable[[], Recorder]) -> None:
        self._open = open
        self._lock = threading.Lock()
        self._opened: Recorder | None = None
        self.seq = 0

    def _recorder(self) -> Recorder:
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def record(self, type: str, agent: str, data: dict[str, Any], step: int | None = None) -> int:
        return self._recorder().record(type, agent, data, step)

    def record_many(self, build: Build, finite: bool = False) -> int:
        return self._recorder().record_many(build, finite)

    @property
    def refused(self) -> int:
        return 1 if self._opened is None else self._opened.refused
