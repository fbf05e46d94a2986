"""A real terminal for tests: a pseudo-terminal with a size, keys going in, a screen coming out."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path
from types import TracebackType

_SEQUENCE = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|[()][A-Z0-9]|[=>78])")
_PATIENCE = 20.0  # seconds; reached only by a failing test


class Terminal:
    """`with Terminal(["replay", "x"], cwd, columns=80, lines=24) as terminal:`"""

    def __init__(
        self,
        words: list[str],
        cwd: Path,
        columns: int = 80,
        lines: int = 24,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.fd, self._inner = pty.openpty()
        self.resize(columns, lines, tell=False)
        self.before = termios.tcgetattr(self._inner)
        inner = {
            k: v for k, v in os.environ.items() if not k.startswith("LCTL_") and k not in ("COLUMNS", "LINES")
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lctl", *words],
            cwd=cwd,
            env={**inner, "TERM": "xterm-256color", **(environment or {})},
            stdin=self._inner,
            stdout=self._inner,
            stderr=self._inner,
            preexec_fn=self._own,
        )
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.raw = ""
        self._seen = 0

    def _own(self) -> None:
        os.setsid()
        fcntl.ioctl(self._inner, termios.TIOCSCTTY, 0)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._inner)
        os.close(self.fd)

    def resize(self, columns: int, lines: int, tell: bool = True) -> None:
        fcntl.ioctl(self._inner, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        if tell:
            self.process.send_signal(signal.SIGWINCH)

    def press(self, keys: str) -> None:
        self._seen = len(self.raw)
        os.write(self.fd, keys.encode())

    def wait_for(self, text: str) -> str:
        """What the screen said since the last press, once `text` is in it."""
        while text not in (shown := _SEQUENCE.sub("", self.raw[self._seen :])):
            ready, _, _ = select.select([self.fd], [], [], _PATIENCE)
            assert ready, f"{text!r} never came; the screen said: {shown}"
            block = b""
            with contextlib.suppress(OSError):  # Linux says EIO at the end
                block = os.read(self.fd, 65536)
            assert block, f"ended without {text!r}; the screen said: {shown}"
            self.raw += self._decoder.decode(block)
        return shown

    def wait(self) -> int:
        """The exit code, all output read."""
        while self.process.poll() is None or select.select([self.fd], [], [], 0)[0]:
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.raw += self._decoder.decode(os.read(self.fd, 65536))
                except OSError:
                    break
        return self.process.wait(_PATIENCE)

    def is_restored(self) -> bool:
        """The terminal's settings are as they were, and the ordinary screen with its cursor is back."""
        back = self.raw.rfind("\x1b[?1049l") > self.raw.rfind("\x1b[?1049h")
        cursor = self.raw.rfind("\x1b[?25h") > self.raw.rfind("\x1b[?25l")
        return back and cursor and termios.tcgetattr(self._inner) == self.before
