"""All processes of a rerun: where one tells that none gets further, those that do not end are ended.

A server's first process starts others in place of workers that end, and leaves them when it is killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from lctl.rerun.exactness import results

#: Seconds between two looks; for which a program may end by itself, and at the bidding of a signal.
_BEAT, _GRACE, _SOON = 0.2, 4.0, 2.0


def wait(process: subprocess.Popen[bytes], folder: Path) -> int:
    """The exit code of a program whose processes leave their results in `folder`."""
    code: int | None = None
    while code is None and not results.is_to_end(folder):
        code = _within(process, _BEAT)
    if not results.is_to_end(folder):
        assert code is not None
        return code
    if code is None:
        code = _within(process, _GRACE)
    for number in (signal.SIGTERM, signal.SIGKILL):
        found = _members(folder) | ({process.pid} if code is None else set())
        for member in found:
            try:
                os.kill(member, number)
            except OSError:
                pass  # it has ended
        if found and code is None:
            code = _within(process, _SOON)
        elif found:
            time.sleep(_SOON / 4)
    return process.wait() if code is None else code


def _within(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _members(folder: Path) -> set[int]:
    """Process ids of those that were told of the folder as they were started, or were forked from one; none
    where the system does not tell."""
    mark, found = os.fsencode(folder), set()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in entry.read_bytes():
                found.add(int(entry.parent.name))
        except OSError:
            pass  # another's, or it has ended
    return found
