"""The line that says where a log is, as the program ends."""

from __future__ import annotations

import os
from pathlib import Path

from lctl.notices import tell
from lctl.session import ending, naming
from lctl.session.tooling import toolresults

_said = False


def say(log: ending.Closed, more: str, begun_in: Path | None) -> None:
    """Say where a log is, and on lines after it `more`.

    Args:
        begun_in: the folder the program was started in; it may have gone elsewhere since.
    """
    # A child process says nothing: its parent will, and `last` is the parent's run. Not so what the program
    # of `lctl run` has become by `os.execv`: of its parent nobody is left.
    global _said
    if (log.is_child and not is_program()) or os.environ.get("LCTL_QUIET") == "1":
        return
    _said = True
    what = f"{log.events} event{'' if log.events == 1 else 's'}"
    is_file = log.where == str(log.path)
    path = _shown(log, begun_in) if is_file else log.where
    is_last = _is_listed(log.place, begun_in) or (path == log.where and os.environ.get("LCTL_STORE"))
    target = "last" if is_last and not log.is_child else path
    hint = f"  (lctl replay {target})"
    if log.where.startswith("memory:"):
        hint = ", gone with the program"
    if log.astray:  # see `say_astray`
        tell(more)
    else:
        tell(f"lctl: {what} in {path}{hint}\n{more}")


def say_astray(log: ending.Closed) -> None:
    """Say that a log is not where it was written. Also of sessions that the program opened, and of child
    processes: nobody else would."""
    if os.environ.get("LCTL_QUIET") == "1":
        return
    path = _shown(log, None)
    events = f"{log.events} event{'' if log.events == 1 else 's'}"
    if log.astray == "removed":
        tell(f"lctl: {path} was removed while the program ran: {events} lost\n")
    else:
        tell(f"lctl: {path} was moved while the program ran, with its {events}\n")


def say_own(begun_in: Path | None) -> None:
    """Say where the log is that the program's own session left, where nothing else was said: as the program
    of `lctl run` ends, which was asked for one."""
    if _said or ending.latest is None or not is_program():
        return
    more = ending.closed - 1
    say(ending.latest, f"lctl: and {more} before it\n" if more else "", begun_in)


def run_again() -> str:
    """A line for the tools whose results could not be kept; nothing where there is none."""
    names = list(dict.fromkeys(told.partition(": ")[0] for told in toolresults.executed))
    if not names:
        return ""
    return f"lctl: a rerun has to run again: {', '.join(names)}; 'lctl doctor' says why\n"


def lost(count: int) -> str:
    """A line for the events that the log did not take, as on a full disk: it may have no room to say so."""
    return f"lctl: {count} event{'' if count == 1 else 's'} could not be written to it\n" if count else ""


def is_program() -> bool:
    """Whether this process is the one that `lctl run` became."""
    return os.environ.get("LCTL_RUN") == str(os.getpid())


def _is_listed(path: Path, begun_in: Path | None) -> bool:
    """Whether `lctl ls` finds it where the program was started."""
    try:
        return path.absolute().parent == (begun_in or Path.cwd()) / naming.folder()
    except OSError:
        return False


def _shown(log: ending.Closed, begun_in: Path | None) -> str:
    try:
        return str(log.place.resolve().relative_to((begun_in or Path.cwd()).resolve()))
    except (ValueError, OSError):
        return str(log.path)
