"""What is typed or piped in: `input()` and `sys.stdin`, whoever reads them.

A stream is recorded as it is read from its descriptor. On a terminal `input()` reads past the stream,
so there its lines are recorded; which of the two it was the recording says first.
"""

from __future__ import annotations

import builtins
import io
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from lctl.instrument.ambient import outputs, reads, slots
from lctl.instrument.ambient.callers import own
from lctl.instrument.ambient.values import bytes_of, from_bytes
from lctl.session import border

_getframe = sys._getframe
_CHUNK = 1 << 16
_on_terminal: bool | None = None
_replaced: list[tuple[Any, Any]] = []  # stream, ours


def install() -> None:
    global _on_terminal
    _on_terminal = None
    slots.replace_builtin(builtins, "input", _input)
    stream = sys.stdin
    if stream is not sys.__stdin__ or type(stream) is not io.TextIOWrapper:
        return
    buffer: Any = stream.buffer
    if type(buffer) is not io.BufferedReader or type(buffer.raw) is not io.FileIO:
        return
    raw = _Watched(buffer.raw.fileno(), "rb", closefd=False)
    raw.name = buffer.raw.name
    made = io.TextIOWrapper(
        io.BufferedReader(raw),
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


class _Watched(io.FileIO):
    """Standard input's descriptor: what is read from it is recorded, or comes from a recording."""

    used = False
    _rest = b""

    def readinto(self, buffer: Any, /) -> int:
        self.used = True
        with memoryview(buffer) as view, view.cast("B") as target:
            if not self._rest:
                self._rest = self._next(len(target))
            count = min(len(target), len(self._rest))
            target[:count] = self._rest[:count]
            self._rest = self._rest[count:]
            return count

    def _next(self, size: int) -> bytes:
        def real() -> bytes:
            return io.FileIO.read(self, size) or b""

        if not reads.active():
            return real()
        return reads.read("stdin", "read", _reader(_getframe(2)), real, _text, _bytes)

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            return self.readall()
        made = bytearray(size)
        return bytes(made[: self.readinto(made)])

    def readall(self) -> bytes:
        made = bytearray()
        while piece := self.read(_CHUNK):
            made += piece
        return bytes(made)


def _text(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return bytes_of(value)


def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else from_bytes(value)


def _reader(frame: FrameType) -> FrameType:
    """The program's own code that waits for input, however far up; else who asks."""
    found: FrameType | None = frame
    while found is not None:
        known = own(found)
        if known is not None:
            return known
        found = found.f_back
    return frame


def _input(original: Any) -> Callable[..., Any]:
    def input(_: Any, prompt: object = "", /) -> str:
        if not reads.active():
            return original(prompt)  # type: ignore[no-any-return]
        frame = _reader(_getframe(1))
        if _is_on_terminal(frame):
            line = reads.read(
                "stdin", "input", frame, lambda: _typed(original, prompt), None, _served(prompt)
            )
            if line is None:
                raise EOFError("EOF when reading a line")
            return line
        if border.player() is None:
            return original(prompt)  # type: ignore[no-any-return]
        _say(prompt)
        line = sys.stdin.readline()
        if not line:
            raise EOFError("EOF when reading a line")
        return line.removesuffix("\n")

    return input


def _is_on_terminal(frame: FrameType) -> bool:
    global _on_terminal
    if _on_terminal is None:
        kind = reads.read("stdin", "kind", frame, _kind)
        _on_terminal = kind == "terminal"
    return _on_terminal


def _kind() -> str:
    try:
        both = sys.stdin.fileno() == 0 and sys.stdin.isatty() and sys.stdout.isatty()
    except (AttributeError, OSError, ValueError):
        both = False
    return "terminal" if both else "stream"


def _typed(original: Any, prompt: object) -> str | None:
    """A line, None at the end. The prompt goes to the terminal beside `sys.stdout`: counted all the same."""
    outputs.passed_by("stdout", str(prompt))
    try:
        return original(prompt)  # type: ignore[no-any-return]
    except EOFError:
        return None


def _served(prompt: object) -> Callable[[Any], str | None]:
    def decode(value: Any) -> str | None:
        _say(prompt)
        return None if value is None else str(value)

    return decode


def _say(prompt: object) -> None:
    sys.stdout.write(str(prompt))
    sys.stdout.flush()
