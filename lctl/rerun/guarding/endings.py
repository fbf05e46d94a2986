"""A child that the program ends by a signal: not before it has come as far as it had when it was recorded.

What its parent waited for until then takes no time in a rerun (`time.sleep(10); child.terminate()`), and what
the child does there takes some: it would be ended before it has begun. So the signal waits until the child
has nothing to do. Linux only.
"""

from __future__ import annotations

import os
import signal
import sys
from time import sleep as _sleep

from lctl.clock import monotonic
from lctl.guard import guard
from lctl.rerun.order.watching import NAME, descendants, listening
from lctl.session import ownports

_ENDING = tuple(
    getattr(signal, name)
    for name in ("SIGTERM", "SIGKILL", "SIGINT", "SIGHUP", "SIGQUIT")
    if hasattr(signal, name)
)
#: Real seconds for which nothing moves in one that has nothing to do, and after which it is not waited for.
_QUIET, _PATIENCE = 0.05, 4.0
_BEAT = 0.01
_WATCH = NAME.encode()


def await_child(pid: int, number: int) -> None:
    """Return when it is time to send process `pid` that signal."""
    if sys.platform == "linux" and number in _ENDING and pid not in (0, os.getpid()):
        with guard("a signal to a child process"):
            _await_rest(abs(pid))


def serves_below() -> bool:
    """Whether a process that this one has started is a server, or may be this one's, once it has nothing to
    do."""
    if sys.platform != "linux" or not (below := descendants()):
        return False
    for pid in below:
        _await_rest(pid)
    return bool(ownports.places() or listening(descendants()))


def linger(seconds: float) -> None:
    """In the child: have nothing to do for so long, if the parent is there yet."""
    parent, until = os.getppid(), monotonic() + seconds
    while os.getppid() == parent and (left := until - monotonic()) > 0:
        _sleep(min(left, 2 * _QUIET))


def _await_rest(pid: int) -> None:
    now = since = monotonic()
    until = now + _PATIENCE
    before: list[bytes] | None = None
    while now < until:
        used = _used(pid)
        if used is None:
            return  # it has ended
        if used != before or not used:
            before, since = used, now
        elif now - since >= _QUIET:
            return
        _sleep(_BEAT)
        now = monotonic()


def _used(pid: int) -> list[bytes] | None:
    """What each thread of the program's has used of processors; empty, if one of them runs or is about to.
    None once it has ended."""
    found = []
    try:
        for tid in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            name, _, stat = _read(pid, tid, "stat").rpartition(b") ")
            state = stat[:1]
            if state in (b"Z", b"X", b"") or name.partition(b"(")[2] == _WATCH:
                continue
            if state not in b"SIT":
                return []
            found.append(_read(pid, tid, "schedstat"))
    except OSError:
        return None
    return found or None


def _read(pid: int, tid: str, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/task/{tid}/{name}", "rb", buffering=0) as file:  # noqa: PTH123
            return file.read(400)
    except FileNotFoundError:  # a thread that has just ended
        return b""
