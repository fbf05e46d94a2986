"""Programs on a terminal, and somebody who types."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.rerun.harness import Result


def typed(
    command: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    log: Path,
    *keys: tuple[str, str],
    size: tuple[int, int] = (80, 24),
    pause: float = 0.0,
) -> tuple[Result, str]:
    """Run `command` on a terminal of `size` (columns, lines). As soon as the first of a pair of `keys` is
    shown, the second is typed, `pause` seconds later. The result, without what it wrote; and what was
    shown."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    shown, at, left = "", 0, list(keys)
    # Python's readline puts a size into the environment of whoever the tests' process starts.
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    inside = {**kept, **environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    with subprocess.Popen(
        command, cwd=folder, env=inside, stdin=inner, stdout=inner, stderr=inner,
        start_new_session=True, preexec_fn=_own,
    ) as process:  # fmt: skip
        os.close(inner)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if left and left[0][0] in shown[at:]:
                at = shown.index(left[0][0], at) + len(left[0][0])
                time.sleep(pause)
                os.write(outer, left.pop(0)[1].encode())
                continue
            if select.select([outer], [], [], 0.1)[0]:
                try:
                    piece = os.read(outer, 10_000)
                except OSError:  # nobody has the other end any more
                    piece = b""
                if not piece:
                    break
                shown += piece.decode(errors="replace")
        else:
            process.kill()
            pytest.fail(f"it did not end:\n{shown}")
    os.close(outer)
    assert not left, shown
    return Result(process.returncode, "", "", log), shown


def _own() -> None:
    """The terminal is that of the process: Ctrl-C reaches it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
