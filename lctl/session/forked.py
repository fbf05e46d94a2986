"""Recorders that do not record yet, or no more: of a forked child before its first event, of a closed log."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from lctl.errors import RecordingError
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

    def end(self, where: str) -> None:
        if self._opened is not None:
            self._opened.end(where)

    @property
    def refused(self) -> int:
        return 1 if self._opened is None else self._opened.refused


class ClosedRecorder:
    """Refuses, as the log itself does a moment later."""

    refused = 1

    def __init__(self, seq: int, where: str) -> None:
        self.seq = seq
        self._where = where

    def end(self, where: str) -> None:
        pass

    def record(self, type: str, agent: str, data: dict[str, Any], step: int | None = None) -> int:
        raise RecordingError(f"{self._where}: the log is closed")

    def record_many(self, build: Build, finite: bool = False) -> int:
        raise RecordingError(f"{self._where}: the log is closed")
