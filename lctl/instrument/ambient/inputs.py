"""What is typed or piped in: `input()` and `sys.stdin`, whoever reads them.

What is recorded is what each call gave to who made it, in his task or thread: a tool that asks takes its
lines with it where a rerun serves it. On a terminal `input()` reads past the stream, so there its own lines
are recorded; which of the two it was the log's header says.
"""

from __future__ import annotations

import builtins
import io
import os
import stat
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from lctl.instrument import writing
from lctl.instrument.ambient import linehistory, outputs, raised, reads, slots, terminals
from lctl.instrument.ambient.callers import is_lctl, own
from lctl.instrument.ambient.values import bytes_of, from_bytes
from lctl.interrupts import step_out
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.sources import STDIN
from lctl.session.tooling.wrote import streams

T = TypeVar("T")

_getframe = sys._getframe
_CHUNK = 1 << 16
#: What `kind` says of the recording that is served; of a kernel, which asks whoever sends it cells.
recorded: str | None = None
#: In a rerun: the process that started this one runs again, too, and writes to its standard input. What it
#: writes is read, and is what the recording has, if all is well: who reads the descriptor itself finds the
#: rest.
fed = False
_replaced: list[tuple[Any, Any]] = []  # stream, ours


def install() -> None:
    slots.replace_builtin(builtins, "input", _input)
    stream = sys.stdin
    if stream is not sys.__stdin__ or type(stream) is not io.TextIOWrapper:
        return
    buffer: Any = stream.buffer
    if type(buffer) is not io.BufferedReader or type(buffer.raw) is not io.FileIO:
        return
    raw = _Watched(buffer.raw.fileno(), "rb", closefd=False)
    raw.name = buffer.raw.name
    made = _Lines(
        _Bytes(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        newline=None,
        line_buffering=stream.line_buffering,
    )
    made.mode = stream.mode  # type: ignore[misc]
    _replaced.append((stream, made))
    sys.stdin = sys.__stdin__ = made  # type: ignore[misc]


def uninstall() -> None:
    """The stream as it was. What has been read ahead is lost, so only where nothing has been read."""
    while _replaced:
        stream, made = _replaced.pop()
        raw: Any = made.buffer.raw
        if sys.stdin is made and not raw.used:
            sys.stdin = sys.__stdin__ = stream  # type: ignore[misc]


class _Asked(threading.local):
    """Whether this thread is in a call whose result is recorded: what that reads is no read of its own."""

    inside = False


_asked = _Asked()


@contextmanager
def asked_for() -> Iterator[None]:
    """What this thread reads in the block is part of something that is recorded as a whole."""
    before, _asked.inside = _asked.inside, True
    try:
        yield
    finally:
        _asked.inside = before


def _recorded(
    key: str,
    real: Callable[[], T],
    encode: Callable[[T], Any] | None = None,
    decode: Callable[[Any], T] | None = None,
) -> T:
    if _asked.inside or not reads.active():
        return real()

    def inside() -> T:
        with asked_for():
            return real()

    if not fed:
        return reads.read(STDIN, key, reader(_getframe(2)), inside, encode, decode)
    value = inside()
    return reads.read(STDIN, key, reader(_getframe(2)), lambda: value, encode, lambda _recorded: value)


class _Lines(io.TextIOWrapper):
    """`sys.stdin`: what is read from it is recorded, or comes from a recording."""

    def read(self, size: int | None = -1, /) -> str:
        real = super().read
        return _recorded("read", lambda: real(size))

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        real = super().readline
        return _recorded("readline", lambda: real(size))

    def __next__(self) -> str:  # type: ignore[override]
        line = self.readline()
        if not line:
            raise StopIteration
        return line


class _Bytes(io.BufferedReader):
    """`sys.stdin.buffer`; likewise."""

    def read(self, size: int | None = -1, /) -> bytes:
        real = super().read
        return _recorded("buffer.read", lambda: real(size), _text, _bytes)

    def read1(self, size: int = -1, /) -> bytes:
        real = super().read1
        return _recorded("buffer.read1", lambda: real(size), _text, _bytes)

    def readline(self, size: int | None = -1, /) -> bytes:
        real = super().readline
        return _recorded("buffer.readline", lambda: real(size), _text, _bytes)

    def readinto(self, buffer: Any, /) -> int:
        return _filled(buffer, self.read)

    def readinto1(self, buffer: Any, /) -> int:
        return _filled(buffer, self.read1)

    def __next__(self) -> bytes:
        line = self.readline()
        if not line:
            raise StopIteration
        return line


class _Watched(io.FileIO):
    """Standard input's descriptor; likewise."""

    used = False

    def isatty(self) -> bool:
        return terminals.is_terminal(self.fileno(), super().isatty)

    def readinto(self, buffer: Any, /) -> int:
        return _filled(buffer, self.read)

    def read(self, size: int | None = -1, /) -> bytes:
        self.used = True
        if size is None or size < 0:
            return self.readall()
        real = super().read
        return _recorded("raw.read", lambda: real(size) or b"", _text, _bytes)

    def readall(self) -> bytes:
        made = bytearray()
        while piece := self.read(_CHUNK):
            made += piece
        return bytes(made)


def _filled(buffer: Any, read: Callable[[int], bytes]) -> int:
    with memoryview(buffer) as view, view.cast("B") as target:
        piece = read(len(target))
        target[: len(piece)] = piece
        return len(piece)


def _text(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return bytes_of(value)


def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else from_bytes(value)


def reader(frame: FrameType) -> FrameType:
    """The program's own code that waits for input, however far up; else who asks: `input` itself may be what
    a thread is to run."""
    found: FrameType | None = frame
    while found is not None:
        known = own(found)
        if known is not None:
            return known
        found = found.f_back
    asks = frame
    while is_lctl(asks.f_code.co_filename) and asks.f_back is not None:
        asks = asks.f_back
    return asks


def _input(original: Any) -> Callable[..., Any]:
    def input(_: Any, prompt: object = "", /) -> str:
        try:
            if not reads.active():
                return original(prompt)  # type: ignore[no-any-return]
            return line_for(reader(_getframe(1)), prompt)
        except BaseException as error:
            step_out(error)
            raise

    def line_for(frame: FrameType, prompt: object) -> str:
        if kind() == "terminal":
            line = raised.given(
                reads.read(
                    STDIN,
                    "input",
                    frame,
                    lambda: _typed(original, prompt),
                    raised.encoded,
                    _served(prompt),
                )
            )
            if line is None:
                raise EOFError("EOF when reading a line")
            return str(line)
        if border.player() is None:
            return original(prompt)  # type: ignore[no-any-return]
        _say(prompt)
        line = sys.stdin.readline()
        if not line:
            raise EOFError("EOF when reading a line")
        return line.removesuffix("\n")

    return input


def asked(prompt: object, real: Callable[[], str]) -> str:
    """A line that a kernel asks for, past `sys.stdin` and `sys.stdout`."""
    if not reads.active():
        return real()

    def ask() -> str:
        if writing.counter is not None:
            writing.counter("stdout", str(prompt))
        with streams.lock:
            streams.passed("stdout", str(prompt), len(str(prompt)), None)
        return real()

    return reads.read(STDIN, "input", reader(_getframe(1)), ask)


def kind() -> str:
    """Whether `input()` reads from a "terminal", past `sys.stdin`, or from that as a "stream"; in a rerun,
    whether it did."""
    if recorded is not None:
        return recorded
    try:
        both = sys.stdin.fileno() == 0 and sys.stdin.isatty() and sys.stdout.isatty()
    except (AttributeError, OSError, ValueError):
        both = False
    return "terminal" if both else "stream"


def identity() -> tuple[int, ...]:
    """Which file standard input is; nothing where it is closed."""
    try:
        found = os.fstat(0)
    except OSError:
        return ()
    return found.st_dev, found.st_ino


def is_piped(starters: Collection[int]) -> bool:
    """Whether standard input is a pipe, and not the one (`identity`) of the process that started this one."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)) and tuple(starters) != identity()


def _typed(original: Any, prompt: object) -> str | raised.Raised | None:
    """A line, None at the end. The prompt goes to the terminal beside `sys.stdout`: counted all the same."""
    outputs.passed_by("stdout", str(prompt), in_order=True)
    token = lanes.enter(lanes.current().apart())  # what completes is asked by the key
    try:
        line: str | raised.Raised = raised.caught(lambda: original(prompt))
    finally:
        lanes.leave(token)
    if isinstance(line, raised.Raised):
        return None if isinstance(line.error, EOFError) else line
    if terminals.is_drawn_on():  # it shows what is typed, with the line's end: what follows is below it
        outputs.passed_by("stdout", "\n", in_order=True)
    return line


def _served(prompt: object) -> Callable[[Any], Any]:
    def decode(value: Any) -> Any:
        _say(prompt)
        line = raised.decoded(value)
        if isinstance(line, str):
            if terminals.is_drawn_on():
                _say("\n")
            linehistory.add(line)
        return line

    return decode


def _say(prompt: object) -> None:
    sys.stdout.write(str(prompt))
    sys.stdout.flush()
