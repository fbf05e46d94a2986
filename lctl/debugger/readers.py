"""Threads that read a run ahead of the requests for it: one its columns, one its states."""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from lctl.debugger.columns import Columns
from lctl.state.timeline import Timeline

if TYPE_CHECKING:
    from lctl.debugger.opened import Opened


class Readers:
    """Those of one run.

    Args:
        lock: held while the run changes.

    Attributes:
        reading: held while columns are read.
    """

    def __init__(self, run: Opened, lock: AbstractContextManager[Any]) -> None:
        self._run = run
        self._lock = lock
        self.reading = threading.Lock()
        self._columns: threading.Thread | None = None
        self._states: threading.Thread | None = None

    def forget(self) -> None:
        """Another log has taken the place of the one they read."""
        self._columns = self._states = None

    def read(self, columns: Columns) -> None:
        """Have the columns read to their end."""
        with self._lock:
            if columns.ended or (self._columns is not None and self._columns.is_alive()):
                return
            reader = threading.Thread(target=self._read, args=(columns,), name="lctl-columns", daemon=True)
            reader.start()
            self._columns = reader  # only now: `wait` takes no lock, and cannot wait for what has not begun

    def _read(self, columns: Columns) -> None:
        with self.reading:
            for _ in columns.read():
                time.sleep(0)  # requests come first

    def wait(self, columns: Columns, patience: float) -> None:
        """Return when the columns have been read, or after so many seconds."""
        deadline = time.monotonic() + patience
        while not columns.ended and (left := deadline - time.monotonic()) > 0:
            reader = self._columns
            if reader is None or not reader.is_alive():
                break  # the log has grown since it was at the end
            reader.join(left)

    def index(self) -> threading.Thread:
        """Have the states read to their end; the thread that does."""
        with self._lock:
            if self._states is not None and self._states.is_alive():
                return self._states
            reader = threading.Thread(
                target=self._index, args=(self._run.timeline,), name="lctl-states", daemon=True
            )
            reader.start()
            self._states = reader
            return reader

    def _index(self, timeline: Timeline) -> None:
        run, seq = self._run, timeline.known
        while seq < timeline.source.last_seq and timeline is run.timeline:
            seq = max(seq, run.log.first_seq) + 8192
            timeline.read_to(min(seq, timeline.source.last_seq))
            time.sleep(0)
