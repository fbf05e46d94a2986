"""Who writes text to a standard stream: the bodies of tools, and what of it is kept with their calls.

The stream's `write` is shadowed on the object, so types and all that can be asked of it stay as they are.
Bytes that go to its `buffer` are not seen here, and neither is what libraries write to standard error, which
a rerun does not have.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from lctl.guard import guard
from lctl.instrument.ambient import callers
from lctl.session import jsonable, lanes
from lctl.session.wrote import Sink, streams

_getframe = sys._getframe
_raw, _thread = lanes.raw, lanes.thread
callers.between_writers.add(__file__)


class Writing:
    """One stream, `made` to be watched.

    Attributes:
        is_aside: what is written now is not the program's: a debugger's words.
        is_again: what is written now was written by a recorded tool's body: by the program's own code.
    """

    is_aside = False
    is_again = False

    def __init__(self, name: str, made: io.TextIOWrapper) -> None:
        self._name, self._made = name, made
        self._write: Callable[[Any], int] = made.write
        made.write = self.write  # type: ignore[method-assign]
        streams.writers[name] = self._again

    def undo(self) -> None:
        streams.writers.pop(self._name, None)
        vars(self._made).pop("write", None)

    def write(self, text: Any, /) -> int:
        lane = _raw() if _thread.lane is None else lanes.current()
        if self.is_aside:
            return self._write(text)
        if lane.wrote is not None or streams.pending:
            return self._write_as_told(text, lane.wrote, _getframe().f_back)
        with streams.lock:  # most of what is written
            size = self._write(text)
            streams.positions[self._name] += size
        return size

    def _write_as_told(self, text: Any, sink: Sink | None, frame: FrameType | None) -> int:
        """Write what a tool's body, or somebody beside one that is served, writes."""
        name = self._name
        with streams.lock:
            if sink is not None and self._is_beside(frame):
                sink = None
            elif sink is not None and self._is_had(sink, text):
                return len(text)
            size = self._write(text)
            try:
                kept = text if sink is None or jsonable.text(text) is text else None
                streams.passed(name, kept, size, sink)
            except Exception as error:
                guard.failed("what a tool wrote", error)
            return size

    def _is_beside(self, frame: FrameType | None) -> bool:
        """Whether it is a library that writes, which is counted apart."""
        with guard("what a tool wrote"):
            return self._name == "stderr" and callers.is_library_writing(frame)
        return False

    def _is_had(self, sink: Sink, text: Any) -> bool:
        with guard("what a tool wrote"):
            return isinstance(text, str) and sink.has(self._name, text)
        return False

    def _again(self, text: str) -> None:
        before, self.is_again = self.is_again, True
        try:
            self._write(text)
            self._made.flush()
        finally:
            self.is_again = before
