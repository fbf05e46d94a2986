"""Runs that nobody went on with: of plain functions that gave a generator or coroutine which is thrown away
before it is asked for anything. The function was called all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import finalize

from lctl.guard import guard

if TYPE_CHECKING:
    from lctl.session.runs.wrappedruns import Run
    from lctl.session.session import LCTLSession

_runs: dict[Run, None] = {}


def keep(run: Run, given: Any) -> None:
    """`run` ends with `given`, unless somebody begins with that."""
    _runs[run] = None
    finalize(given, _leave, run).atexit = False  # a session ends those that are left


def begin(run: Run) -> None:
    """Somebody asks for the first item."""
    _runs.pop(run, None)


def end(session: LCTLSession) -> None:
    """As the session closes."""
    for run in list(_runs):
        if run.session is session:
            _leave(run)


def after_fork() -> None:
    """In the child: they are the parent's."""
    _runs.clear()


def _leave(run: Run) -> None:
    if run not in _runs:
        return
    _runs.pop(run, None)
    with guard("the end of a traced function"):
        run.left()


__all__ = ["after_fork", "begin", "end", "keep"]
