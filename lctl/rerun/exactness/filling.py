"""Numbers the events of a rerun: where the recording has those of a served tool's body, they come first."""

from __future__ import annotations

from typing import Any

from lctl.record.recorder import Build, Recorder
from lctl.rerun.exactness.echo import EchoStore


class Filling(Recorder):
    """A recorder of a rerun. What a tool's body recorded stands where it was recorded, not where the tool is
    served: tools that ran at the same time have their events between one another's."""

    def __init__(self, store: EchoStore, **options: Any) -> None:
        super().__init__(store, **options)
        self._echo = store
        plain, lock = self.record, store.lock

        def record(type: str, agent: str, data: dict[str, Any], step: int | None = None) -> int:
            with lock:
                self._fill()
                return plain(type, agent, data, step)

        self.record = record

    def record_many(self, build: Build, finite: bool = False) -> int:
        with self._lock:
            self._fill()
            return super().record_many(build, finite)

    def _fill(self) -> None:
        if not self._state:  # else a call is under way in this very thread
            self.seq += self._echo.fill(self.seq + 1)
