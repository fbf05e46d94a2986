"""Who writes text to a standard stream: the bodies of tools, and what of it is kept with their calls.

The stream's `write` is shadowed on the object, so types and all that can be asked of it stay as they are.
Bytes that go to its `buffer` are not seen here, and neither is what libraries write to standard error, which
a rerun does not have.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from lctl.guard import guard
from lctl.instrument import settings
from lctl.session import exits, jsonable
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Drawing, Lane
from lctl.session.tooling.wrote import Body, Sink, Streams, streams

_getframe = sys._getframe
_raw, _thread = lanes.raw, lanes.thread
STREAMS = ("stdout", "stderr")
#: In a rerun, what its paths of temporary files have that the recorded ones have not; it is not printed.
moved = ""
_watched: dict[str, Writing] = {}
#: Counts what is written to streams of another make, where output is recorded.
counter: Callable[[str, str], None] | None = None


def install() -> None:
    """Watch the standard streams, as far as they are Python's own and nobody does."""
    for name in STREAMS:
        stream = getattr(sys, name)
        if name not in _watched and is_pythons(name, stream):
            watch(name, stream)
    if not settings.full:
        streams.positions.clear()  # a rerun begins to watch earlier, and comes by here as the program did


def uninstall() -> None:
    for name in list(_watched):
        _watched.pop(name).undo()


def is_pythons(name: str, stream: object) -> bool:
    """Whether it is the stream that Python made, and not somebody's own."""
    return stream is getattr(sys, f"__{name}__") and type(stream) is io.TextIOWrapper


def watch(name: str, stream: io.TextIOWrapper, ordered: bool = False) -> Writing:
    """Watch `stream`, and the one that had the name no more.

    Args:
        ordered: keep, or follow, the order in which threads write to it.
    """
    before = _watched.pop(name, None)
    if before is not None:
        before.undo()
    made = _watched[name] = Writing(name, stream, ordered)
    return made


def adopt(name: str, stream: Any) -> None:
    """Watch a stream of another make that stands in the place of Python's, as a notebook's kernel puts one
    there. Once more, where somebody has taken off what is shadowed on it."""
    before = _watched.get(name)
    if before is not None and before.is_of(stream):
        stream.write = before.write
        return
    if before is not None:
        before.undo()
    _watched[name] = Writing(name, stream, bool(counter), type(stream).write)


@contextmanager
def unwatched() -> Iterator[None]:
    """What is written in the block is not the program's."""
    found = list(_watched.values())
    for one in found:
        one.is_aside = True
    try:
        yield
    finally:
        for one in found:
            one.is_aside = False


class Writing:
    """One stream, `made` to be watched.

    Attributes:
        is_aside: what is written now is not the program's: a debugger's words.
        is_again: what is written now was written by a recorded tool's body: by the program's own code.
    """

    is_aside = False
    is_again = False

    def __init__(
        self, name: str, made: io.TextIOWrapper, ordered: bool, real: Callable[[Any, Any], int] | None = None
    ) -> None:
        self._name, self._made, self._real = name, made, real
        self._write: Callable[[Any], int] = made.write
        self._flush: Callable[[], None] = made.flush
        made.write = self.write  # type: ignore[method-assign]
        if real is None:
            made.flush = self.flush  # type: ignore[method-assign]
        else:  # it has no descriptor at which one could count, and its flush waits for a thread that writes
            self._write = self._count
        streams.watch(name, self._again, self._write, ordered)

    def is_of(self, stream: object) -> bool:
        return stream is self._made

    def _count(self, text: Any) -> int:
        assert self._real is not None
        size = self._real(self._made, text)
        if counter is not None and not self.is_aside:
            counter(self._name, text)
        return size

    def undo(self) -> None:
        streams.leave(self._name)
        vars(self._made).pop("write", None)
        vars(self._made).pop("flush", None)

    def flush(
        self,
        streams: Streams = streams,
        program: exits.Watch = exits.watch,
        frame: Callable[[], FrameType] = _getframe,
    ) -> None:
        """Nobody writes meanwhile: Python's own streams let a text that is written in another thread leave
        before the one that is being flushed, and the order that is kept was not that of the output. Python's
        last flush comes when this module's names are gone; the one behind a script, from no line of it."""
        if program.is_on and frame().f_back is None:
            program.over()
        with streams.lock:
            self._flush()

    def write(self, text: Any, /) -> int:
        if moved and isinstance(text, str) and moved in text:
            self.write(text.replace(moved, ""))
            return len(text)
        lane = _raw() if _thread.lane is None else lanes.current()
        try:
            if self.is_aside:
                return self._write(text)
            if (lane.wrote is not None or streams.pending) and type(lane) is not Drawing:
                return self._write_as_told(text, lane, _getframe().f_back)
            with streams.lock:  # most of what is written
                if type(lane) is Drawing:
                    return self._write(text)
                if self._name in streams.following:
                    return self._in_turn(lane.path, text)
                size = self._write(text)
                streams.positions[self._name] += size
                order = streams.orders.get(self._name)
                if order is not None:
                    order.note(lane.path, size)
            return size
        except BaseException as error:
            error.__traceback__ = None  # the program's call failed, in the interpreter itself
            raise

    def _in_turn(self, lane: str, text: Any) -> int:
        if not isinstance(text, str):
            return self._write(text)  # which says what is wrong with it
        try:
            streams.in_turn(self._name, lane, text)
        except Exception as error:
            guard.failed("the order of what is written", error)
        return len(text)

    def _write_as_told(self, text: Any, lane: Lane, frame: FrameType | None) -> int:
        """Write what a tool's body, or somebody beside one that is served, writes."""
        name, sink = self._name, lane.wrote
        with streams.lock:
            if sink is not None and self._is_beside(frame):
                sink = None
            elif sink is not None and self._is_had(sink, text):
                return len(text)
            if name in streams.following and not isinstance(sink, Body):
                return self._in_turn(lane.path, text)
            size = self._write(text)
            try:
                order = streams.orders.get(name)
                if order is not None:
                    order.note(lane.path, size)
                kept = text if sink is None or jsonable.text(text) is text else None
                streams.passed(name, kept, size, sink)
            except Exception as error:
                guard.failed("what a tool wrote", error)
            return size

    def _is_beside(self, frame: FrameType | None) -> bool:
        """Whether it is a library that writes, which is counted apart."""
        if self._name != "stderr":
            return False
        with guard("what a tool wrote"):
            from lctl.instrument.ambient import callers

            return callers.is_library_writing(frame)
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
