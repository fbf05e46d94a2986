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
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from lctl.guard import guard
from lctl.instrument import writing
from lctl.instrument.ambient import callers
from lctl.instrument.ambient.tracebacks import Tracebacks
from lctl.session import border
from lctl.session.tooling.wrote import streams

if TYPE_CHECKING:
    from lctl.session import LCTLSession

#: Bytes of the beginning that go into the event as text.
_TEXT = 1 << 15
#: Where an object is in memory, as its `repr` says it: elsewhere in each run, and not hashed. What may be the
#: beginning of one, at the end of what has left, waits for the rest.
_ADDRESS = re.compile(rb"(?<= at )0x[0-9a-f]{6,16}(?=>)")
_BEGUN = re.compile(rb" (?:a(?:t(?: (?:0(?:x[0-9a-f]{0,16})?)?)?)?)?\Z")
_LONGEST = len(" at 0x") + 16
#: Which number the system gave to a thread, as its `repr` says it; likewise.
_THREAD = re.compile(rb"(?<=(?:started|stopped|.daemon) )\d{9,20}(?=\)>)")


class Written:
    """What was written to one stream since somebody began to count; by libraries, if `by` says so."""

    __slots__ = ("_begun", "_hash", "_tracebacks", "beginning", "by", "size")

    def __init__(self, by: str | None = None) -> None:
        from hashlib import sha256

        self.by = by
        self._hash = sha256()
        self._begun = b""
        self._tracebacks = Tracebacks()
        self.size = 0
        self.beginning = bytearray()

    def add(self, data: bytes | memoryview) -> None:
        left = self._begun + self._tracebacks.without_places(bytes(data))
        begun = _BEGUN.search(left, max(0, len(left) - _LONGEST))
        self._begun = b"" if begun is None else begun[0]
        told = _ADDRESS.sub(b"0x", left[: len(left) - len(self._begun)])
        self._hash.update(_THREAD.sub(b"", told) if b")>" in told else told)
        self.size += len(data)
        if len(self.beginning) < _TEXT:
            self.beginning += data[: _TEXT - len(self.beginning)]

    def event(self, stream: str) -> dict[str, Any]:
        text = bytes(self.beginning).decode("utf-8", "replace")
        hash = self._hash.copy()
        hash.update(self._begun)
        made = {"stream": stream, "hash": f"sha256:{hash.hexdigest()}", "size": self.size, "text": text}
        return made if self.by is None else {"by": self.by, **made}


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

    def set_aside(self, is_aside: bool) -> None:
        if self.writing is not None:
            self.writing.is_aside = is_aside

    def _is_by_library(self, frame: FrameType | None) -> bool:
        if self.writing is not None and self.writing.is_again:
            return False
        return callers.is_library_writing(frame)


_raw: dict[str, _Watched] = {}
_replaced: list[tuple[str, Any, Any]] = []
#: Of the program's own session: from the beginning of the program. Of one it opens: from its opening.
_program: dict[str, Written] = {}
_sessions: WeakKeyDictionary[Any, dict[str, Written]] = WeakKeyDictionary()
#: The key of what libraries write to standard error.
_ASIDE = "stderr by libraries"


def install() -> None:
    callers.between_writers.add(writing.__file__)
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
    raw.counts = [_program.setdefault(name, Written())]
    raw.aside = [_program.setdefault(_ASIDE, Written("libraries"))] if name == "stderr" else None
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


def passed_by(name: str, text: str) -> None:
    """Count text that goes to a stream's descriptor by another way."""
    raw = _raw.get(name)
    if raw is not None:
        _flush(name)
        for count in raw.counts:
            count.add(text.encode(getattr(sys, name).encoding, "replace"))
        with streams.lock:
            streams.passed(name, text, len(text), None)


@contextmanager
def uncounted() -> Iterator[None]:
    """What is written in the block is not the program's output."""
    before = {name: (raw.counts, raw.aside) for name, raw in _raw.items()}
    for name, raw in _raw.items():
        _flush(name)
        raw.counts, raw.aside = [], None
        raw.set_aside(True)
    try:
        yield
    finally:
        for name, raw in _raw.items():
            _flush(name)
            raw.counts, raw.aside = before.get(name, (raw.counts, raw.aside))
            raw.set_aside(False)


def opened(session: LCTLSession) -> None:
    """Count what is written while `session` is open, if the program opened it itself."""
    from lctl.session import default

    if not _raw or default.is_opening():
        return
    counts = {name: Written() for name in _raw}
    for name, raw in _raw.items():
        with guard("the program's output"):
            _flush(name)
        raw.counts.append(counts[name])
        if raw.aside is not None:
            counts[_ASIDE] = Written("libraries")
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
        if count.size:
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
    if count.size or getattr(border.player(), "compares_stderr", False):
        session.emit("output", count.event("stderr"), agent=session.agent)


def after_fork() -> None:
    """In the child: what it writes is its own."""
    _program.clear()
    for name, raw in _raw.items():
        _program[name] = Written()
        raw.counts = [_program[name]]
        if raw.aside is not None:
            raw.aside = [_program.setdefault(_ASIDE, Written("libraries"))]
    _sessions.clear()


def _flush(name: str) -> None:
    for stream in {id(s): s for s in (getattr(sys, name), getattr(sys, f"__{name}__"))}.values():
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass  # its reader is gone: Python says so itself, at its end
