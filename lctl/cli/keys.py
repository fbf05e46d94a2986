"""Single key presses from a terminal, by name."""

from __future__ import annotations

import os
import select
import signal
import sys
from types import FrameType, TracebackType
from typing import Any, Self

#: What terminals send (xterm, VT, Linux console, rxvt; normal and application mode).
_SEQUENCES = {
    "[A": "up", "[B": "down", "[C": "right", "[D": "left",
    "OA": "up", "OB": "down", "OC": "right", "OD": "left",
    "[H": "home", "[F": "end", "OH": "home", "OF": "end",
    "[1~": "home", "[4~": "end", "[7~": "home", "[8~": "end",
    "[5~": "pageup", "[6~": "pagedown", "[3~": "delete",
}  # fmt: skip
_CONTROLS = {
    "\r": "enter", "\n": "enter", "\t": "tab", "\x7f": "backspace", "\x08": "backspace",
    "\x03": "quit", "\x04": "quit", "\x0c": "redraw", "\x15": "clear",
}  # fmt: skip
#: A sequence arrives whole within this time, also over a slow line; an Escape alone is followed by nothing.
_SEQUENCE_SECONDS = 0.05


class _Pressed:
    """Leaves a terminal as it was; the platform's class says how keys are read."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


if sys.platform == "win32":
    import msvcrt

    _AFTER_PREFIX = {
        "H": "up", "P": "down", "M": "right", "K": "left",
        "G": "home", "O": "end", "I": "pageup", "Q": "pagedown",
    }  # fmt: skip

    class Keys(_Pressed):
        """`with Keys() as keys: keys.read()`: see the POSIX class. No "resize": the console says none."""

        def read(self) -> str:
            char = msvcrt.getwch()
            if char in ("\x00", "\xe0"):
                return _AFTER_PREFIX.get(msvcrt.getwch(), "")
            return "escape" if char == "\x1b" else _CONTROLS.get(char, char)

else:
    import termios
    import tty

    def _notice(number: int, frame: FrameType | None) -> None:
        """That there is a handler: else a window that changes is not told to the process."""

    class Keys(_Pressed):
        """`with Keys() as keys: keys.read()`.

        `read` waits for the next press and gives the character, or the name of a special key ("up",
        "pagedown", "enter", "escape", ...), or "resize" when the window changed, or "quit" at the end of
        input.
        """

        def __enter__(self) -> Self:
            self._pending = ""
            self._fd = sys.stdin.fileno()
            self._before = termios.tcgetattr(self._fd)
            self._resized, self._wake = os.pipe()
            os.set_blocking(self._wake, False)
            # Written by the system's own handler: Python's runs only once `select` has returned, and a signal
            # just before that goes to sleep would not end its wait.
            self._woken = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
            self._handler: Any = signal.signal(signal.SIGWINCH, _notice)
            tty.setcbreak(self._fd)
            attributes = termios.tcgetattr(self._fd)
            attributes[3] &= ~termios.ISIG  # Ctrl-C is a key, so that the screen is always put back
            termios.tcsetattr(self._fd, termios.TCSANOW, attributes)
            return self

        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> None:
            signal.signal(signal.SIGWINCH, self._handler)
            signal.set_wakeup_fd(self._woken)
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)
            os.close(self._resized)
            os.close(self._wake)

        def read(self) -> str:
            if not self._pending:
                ready, _, _ = select.select([self._fd, self._resized], [], [])
                if self._resized in ready:
                    os.read(self._resized, 4096)
                    return "resize"  # or another signal, of which drawing anew does no harm
                self._fill()
                if not self._pending:
                    return "quit"
            return self._take()

        def _fill(self) -> None:
            block = os.read(self._fd, 4096)
            # A character may be cut between two reads; a key press never is for long.
            while block and len(block) < 4100:
                try:
                    self._pending += block.decode()
                    return
                except UnicodeDecodeError:
                    more = os.read(self._fd, 1) if select.select([self._fd], [], [], 0.05)[0] else b""
                    if not more:
                        self._pending += block.decode(errors="ignore")
                        return
                    block += more

        def _take(self) -> str:
            first, self._pending = self._pending[0], self._pending[1:]
            if first != "\x1b":
                return _CONTROLS.get(first, first)
            if not self._pending and select.select([self._fd], [], [], _SEQUENCE_SECONDS)[0]:
                self._fill()
            if not self._pending or self._pending[0] not in "[O":
                return "escape"
            end = 1
            while end < len(self._pending) and not "\x40" <= self._pending[end] <= "\x7e":
                end += 1
            sequence, self._pending = self._pending[: end + 1], self._pending[end + 1 :]
            return _SEQUENCES.get(sequence, "")
