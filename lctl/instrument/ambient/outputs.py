"""What the program writes to standard output and standard error, hashed as it leaves.

The streams are made anew over the same descriptors, with the same types, encoding, buffering and modes;
only the lowest layer is a `FileIO` that also shows what it wrote to whoever counts it. So `print`,
`sys.stdout.buffer.write`, `reconfigure`, redirection and capturing work as they do, and what is
written to a stream that somebody put in place of these is not ours to count.

What libraries write to standard error is counted apart: they tell of connections, timers and objects thrown
away, which a rerun does not have, in lines with the time. A log's last event is of it, with
`"by": "libraries"`; a rerun says whether it is as recorded, and is exact without it.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from lctl.guard import guard
from lctl.instrument import writing
from lctl.instrument.ambient import callers, terminals
from lctl.instrument.ambient.standing import Standing
from lctl.instrument.ambient.written import Written
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.tooling.wrote import streams

if TYPE_CHECKING:
    from lctl.session import LCTLSession

_DESCRIPTORS = {"stdout": 1, "stderr": 2}
#: Columns and lines of a terminal that does not tell.
_USUAL = 80, 24


class _Watched(io.FileIO):
    """A standard stream's descriptor. `counts` are told what is written, `aside` what libraries write."""

    counts: list[Written]
    aside: list[Written] | None
    writing: writing.Writing | None = None

    def write(self, data: Any, /) -> int | None:  # type: ignore[override]
        written = super().write(data)
        if written:
            try:
                counts = self.counts
                if self.aside is not None and self._is_by_library(sys._getframe().f_back):
                    counts = self.aside
                with memoryview(data) as view, view.cast("B") as sent:
                    for count in counts:
                        count.add(sent[:written])
            except Exception as error:
                guard.failed("the program's output", error)
        return written

    def isatty(self) -> bool:
        return terminals.is_terminal(self.fileno(), super().isatty)

    def set_aside(self, is_aside: bool) -> None:
        if self.writing is not None:
            self.writing.is_aside = is_aside

    def _is_by_library(self, frame: FrameType | None) -> bool:
        if self.writing is not None and self.writing.is_again:
            return False
        return callers.is_library_writing(frame)


class _Kernels:
    """What is counted of a stream that a notebook's kernel has put in the place of Python's."""

    def __init__(self, name: str) -> None:
        self.counts = [_program.setdefault(name, Written())]
        self.aside = [_program.setdefault(_ASIDE, Written("libraries"))] if name == "stderr" else None

    def set_aside(self, is_aside: bool) -> None:
        """`writing.unwatched` does."""


_raw: dict[str, _Watched | _Kernels] = {}
_replaced: list[tuple[str, Any, Any]] = []
#: Of the program's own session: from the beginning of the program. Of one it opens: from its opening.
_program: dict[str, Written] = {}
_sessions: WeakKeyDictionary[Any, dict[str, Written]] = WeakKeyDictionary()
#: prompt_toolkit's stream, which writes part of a line if it is flushed; counted where it is written to.
_BY_LINES = "StdoutProxy"
#: The key of what libraries write to standard error.
_ASIDE = "stderr by libraries"


def install() -> None:
    callers.between_writers.add(writing.__file__)
    writing.counter = _count
    for name in writing.STREAMS:
        stream = getattr(sys, name)
        if not writing.is_pythons(name, stream):
            continue  # somebody's own: not ours to take apart
        made = _again(stream, name)
        if made is None:
            continue
        _replaced.append((name, stream, made))
        setattr(sys, name, made)
        setattr(sys, f"__{name}__", made)
    if "stderr" in _raw and sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _unraisable


def _written(name: str, by: str | None = None) -> Written:
    """Of Python's stream of that name: who is told of a kernel's draws nothing over."""
    found, raw = terminals.known(), _raw.get(name)
    if found is None or _DESCRIPTORS[name] not in found.streams or isinstance(raw, _Kernels):
        return Written(by)
    return Written(by, Standing(*(found.size or _USUAL)))


def _unraisable(args: Any, /) -> None:
    """Python's own; its words about an object that was thrown away are written beneath this frame, and not
    in the name of whatever code ran at that moment."""
    sys.__unraisablehook__(args)


def _again(stream: io.TextIOWrapper, name: str) -> io.TextIOWrapper | None:
    """The same stream over a watched descriptor; None where it is not built as Python builds it."""
    buffer: Any = stream.buffer
    old = getattr(buffer, "raw", buffer)
    if type(old) is not io.FileIO or type(buffer) not in (io.BufferedWriter, io.FileIO):
        return None
    stream.flush()
    raw = _Watched(old.fileno(), "wb", closefd=False)
    raw.name = old.name
    raw.counts = [_program.setdefault(name, _written(name))]
    raw.aside = [_program.setdefault(_ASIDE, _written(name, "libraries"))] if name == "stderr" else None
    _raw[name] = raw
    made = io.TextIOWrapper(
        raw if buffer is old else io.BufferedWriter(raw, _size_of(buffer)),
        encoding=stream.encoding,
        errors=stream.errors,
        newline=None if sys.platform == "win32" else "\n",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
    made.mode = stream.mode  # type: ignore[misc]
    raw.writing = writing.watch(name, made, ordered=True)
    return made


def _size_of(buffer: io.BufferedWriter) -> int:
    """Bytes it holds back, which hang on the kind of descriptor: what is left of them where a reader goes
    away decides about the exit code. Nothing says it but the object's own size."""
    held = buffer.__sizeof__() - io.BufferedWriter.__basicsize__
    return held if held > 0 else io.DEFAULT_BUFFER_SIZE


def uninstall() -> None:
    """The streams as they were, unless somebody has put others there."""
    writing.uninstall()
    writing.counter = None
    while _replaced:
        name, stream, made = _replaced.pop()
        with guard("the program's output"):
            made.flush()
        for attribute in (name, f"__{name}__"):
            if getattr(sys, attribute) is made:
                setattr(sys, attribute, stream)
    if sys.unraisablehook is _unraisable:
        sys.unraisablehook = sys.__unraisablehook__
    _raw.clear()
    _program.clear()


def leave() -> None:
    """What is written from now on is not recorded: an interactive shell draws its prompts between it."""
    for raw in _raw.values():
        raw.counts, raw.aside = [], None
    _raw.clear()


def _count(name: str, text: str) -> None:
    """Count what was written to a kernel's stream."""
    raw = _raw.get(name)
    if not isinstance(raw, _Kernels):
        raw = _raw[name] = _Kernels(name)
    is_aside = raw.aside is not None and callers.is_library_writing(sys._getframe(2))
    for count in (raw.aside or ()) if is_aside else raw.counts:
        count.add(text.encode("utf-8", "surrogatepass"))


def passed_by(name: str, text: str, in_order: bool = False) -> None:
    """Count text that goes to a stream's descriptor by another way. `in_order`: a rerun writes it to the
    stream, in this lane's turn."""
    raw = _raw.get(name)
    if raw is not None:
        _flush(name)
        for count in raw.counts:
            count.add(text.encode(getattr(sys, name).encoding, "replace"))
        lane = lanes.current()
        with streams.lock:
            streams.passed(name, text, len(text), None)
            if in_order and lane.wrote is None and name in streams.orders:
                streams.orders[name].note(lane.path, len(text))


@contextmanager
def uncounted(flush: bool = True) -> Iterator[None]:
    """What is written in the block is not the program's output. Not `flush`: it leaves nothing unwritten, nor
    had anybody before it."""
    before = {name: (raw.counts, raw.aside) for name, raw in _raw.items()}
    for name, raw in _raw.items():
        if flush:
            _flush(name)
        raw.counts, raw.aside = [], None
        raw.set_aside(True)
    try:
        yield
    finally:
        for name, raw in _raw.items():
            if flush:
                _flush(name)
            raw.counts, raw.aside = before.get(name, (raw.counts, raw.aside))
            raw.set_aside(False)


def opened(session: LCTLSession) -> None:
    """Count what is written while `session` is open, if the program opened it itself."""
    from lctl.session import default

    if not _raw or default.is_opening():
        return
    counts = {name: _written(name) for name in _raw}
    for name, raw in _raw.items():
        with guard("the program's output"):
            _flush(name)
        raw.counts.append(counts[name])
        if raw.aside is not None:
            counts[_ASIDE] = _written(name, "libraries")
            raw.aside.append(counts[_ASIDE])
    _sessions[session] = counts


def closing(session: LCTLSession) -> None:
    """Record what the program wrote, one event a stream."""
    counts = _sessions.get(session)
    for name, raw in _raw.items():
        with guard("the program's output"):
            streams.release(name)
            _flush(name)
        count = raw.counts[0] if counts is None else counts[name]
        if counts is not None:
            raw.counts.remove(count)
        if count.settle().size:
            lanes = _lanes(name) if counts is None else None
            told = count.event(name) if lanes is None else {**count.event(name), "lanes": lanes}
            session.emit("output", told, agent=session.agent)


def _lanes(name: str) -> list[Any] | None:
    """In which order its writers wrote, where that does not come by itself. Of standard error libraries
    write a share, each time another one."""
    if name != "stdout":
        return None
    follows = streams.following.get(name)
    if follows is not None:
        return [list(turn) for turn in follows.turns]
    order = streams.orders.get(name)
    return None if order is None else order.told()


def closed(session: LCTLSession) -> None:
    """Record what libraries wrote to standard error; that they wrote nothing, where a player compares it."""
    counts = _sessions.pop(session, None)
    raw = _raw.get("stderr")
    if raw is None or raw.aside is None:
        return
    count = raw.aside[0] if counts is None else counts[_ASIDE]
    if counts is not None:
        raw.aside.remove(count)
    if count.settle().size or getattr(border.player(), "compares_stderr", False):
        session.emit("output", count.event("stderr"), agent=session.agent)


def after_fork() -> None:
    """In the child: what it writes is its own."""
    _program.clear()
    for name, raw in _raw.items():
        _program[name] = _written(name)
        raw.counts = [_program[name]]
        if raw.aside is not None:
            raw.aside = [_program.setdefault(_ASIDE, _written(name, "libraries"))]
    _sessions.clear()


def _flush(name: str) -> None:
    if isinstance(_raw.get(name), _Kernels):
        return  # counted as it is written
    for stream in {id(s): s for s in (getattr(sys, name), getattr(sys, f"__{name}__"))}.values():
        if type(stream).__name__ == _BY_LINES:
            continue
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass  # its reader is gone: Python says so itself, at its end
