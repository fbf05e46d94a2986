"""The system's numbers of processes that a rerun does not start: a signal to one reaches nobody else."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any

from lctl.instrument.ambient import slots
from lctl.instrument.ambient.commands.command import Command
from lctl.interrupts import step_out

#: No process of the system's has a larger number.
_LARGEST = 1 << 22

#: By number: whether it runs, as far as the program has heard.
_runs: dict[int, Callable[[], bool]] = {}


def install() -> None:
    for name in ("kill", "killpg"):
        slots.replace_builtin(os, name, _signalling)
    slots.replace_builtin(os, "getpgid", _grouping)
    slots.on_undo(_runs.clear)


def standing_in(command: Command, runs: Callable[[], bool]) -> int:
    """The recorded number; of an older recording one that nobody has."""
    pid = command.pid or _LARGEST + 1 + len(_runs)
    _runs[pid] = runs
    return pid


def _signalling(original: Any) -> Callable[..., Any]:
    """What comes of it is recorded."""

    def kill(_: Any, pid: Any, signal: Any, /) -> None:
        runs = _runs.get(pid) if isinstance(pid, int) else None
        try:
            if runs is None:
                original(pid, signal)
            elif not runs():
                raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
        except BaseException as error:
            step_out(error)
            raise

    return kill


def _grouping(original: Any) -> Callable[..., Any]:
    """Of one that began a group of its own: others are not asked for theirs, to end it."""

    def getpgid(_: Any, pid: Any, /) -> Any:
        try:
            return pid if isinstance(pid, int) and pid in _runs else original(pid)
        except BaseException as error:
            step_out(error)
            raise

    return getpgid
