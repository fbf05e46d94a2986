"""How events get from a session into its log."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lctl.guard import guard
from lctl.record.recorder import Build, Draft, Recorder
from lctl.session import ending, jsonable, reported
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane
from lctl.session.forked import ClosedRecorder, UnopenedRecorder
from lctl.session.runs.context import Frame

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession
    from lctl.session.watching import Watch

_raw_lane = lanes.raw
_TYPES = reported.TYPES


class Emitting:
    """Mixed into `LCTLSession`: the low-level door, for integrations. Nothing here raises for a failure of
    ours.

    Attributes: see `LCTLSession`.
    """

    on_tool_call: Callable[[dict[str, Any]], None] | None = None
    before_event: Callable[[], None] | None = None
    body_ended: Callable[[Lane], None] | None = None
    after_event: Callable[[], None] | None = None
    lost: int
    _recorder: Recorder | UnopenedRecorder | ClosedRecorder
    _watch: Watch | None = None

    if TYPE_CHECKING:  # what stands beside it, behind it in the order of the classes

        @property
        def path(self) -> Path: ...
        def frame(self) -> Frame: ...
        def _look(self, quiet: bool = False) -> None: ...
        def _session(self) -> LCTLSession: ...

    def emit(
        self, type: str, data: dict[str, Any], *, agent: str | None = None, step: int | None = None
    ) -> int:
        """Record one event in the running step (or `step`); its seq, 0 when it could not be recorded."""
        frame = self.frame()
        who = frame.agent if agent is None else jsonable.name_text(agent)
        where = frame.step if step is None else step
        if type == "tool_call" and self.on_tool_call is not None:
            return self._emit_tool_call((type, who, data, where), self.on_tool_call)
        return self._record(type, who, data, where)

    def record_read(self, agent: str, data: dict[str, Any], step: int | None) -> int:
        """Record an `ambient` event; for what gathers them (see `before_event`)."""
        inside = lanes.current().inside
        try:
            seq = self._recorder.record("ambient", agent, data, step)
        except Exception as error:
            return self._failed(error, 1)
        if inside is not None:
            inside.append((seq, seq))
        return seq

    def _record(self, type: str, agent: str, data: dict[str, Any], step: int | None) -> int:
        if self.before_event is not None:
            self._prepare(self.before_event)
        lane = lanes.current() if lanes.owning else _raw_lane()
        if lane.path != "0" and type in _TYPES:
            data = reported.stamped(self._session(), data)
        inside = lane.inside
        try:
            seq = self._recorder.record(type, agent, data, step)
        except Exception as error:
            return self._failed(error, 1)
        if inside is not None:
            inside.append((seq, seq))
        if self.after_event is not None:
            self._tell(self.after_event)
        if self._watch is not None and type == "fact_read" and type in self._watch.types:
            self._look()
        return seq

    def _emit_tool_call(self, draft: Draft, listen: Callable[[dict[str, Any]], None]) -> int:
        """Under the recorder's lock, as what listens also plans model calls there."""

        def build(first: int) -> list[Draft]:
            with guard("a tool call's place in its conversation"):
                listen(draft[2])
            return [draft]

        return self.emit_many(build)

    def emit_many(self, build: Build, finite: bool = False) -> int:
        """Record several events in one write (see `Recorder.record_many`); the first seq, 0 when none was.

        Whatever `build` has noted of seqs does not hold when this returns 0.
        """
        if self.before_event is not None:
            self._prepare(self.before_event)
        recorder = self._recorder
        lane = lanes.current() if lanes.owning else _raw_lane()
        if lane.inside is not None:
            build = _noting(build, lane.inside)
        try:
            seq = recorder.record_many(build, finite)
        except Exception as error:
            return self._failed(error, recorder.refused)
        if self.after_event is not None:
            self._tell(self.after_event)
        if self._watch is not None and self._watch.types:
            self._look(quiet=True)
        return seq

    def _prepare(self, before: Callable[[], None]) -> None:
        with guard("reads of the surroundings"):
            before()

    def _tell(self, after: Callable[[], None]) -> None:
        with guard("the tree of conversations"):
            after()

    def _failed(self, error: Exception, count: int) -> int:
        """What a recording call does with a failure of ours: count it, report the first, go on. What threads
        do that Python ends with the program is none, once its log is closed."""
        if ending.is_over and threading.current_thread().daemon:
            return 0
        if guard.policy == "raise":
            raise error
        self.lost += count
        guard.failed(f"events in {self.path}", error)
        return 0


def _noting(build: Build, inside: list[tuple[int, int]]) -> Build:
    """`build`, with the seqs of what it builds added to `inside`."""

    def noted(first: int) -> list[Draft]:
        drafts = build(first)
        if drafts:
            inside.append((first, first + len(drafts) - 1))
        return drafts

    return noted
