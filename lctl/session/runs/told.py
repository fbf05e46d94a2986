"""Which model call a framework has told of is being made here.

An exchange that is recorded meanwhile, in the same task or thread or in what it starts, is that call.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol


class Told(Protocol):
    """A call that its framework has told of; `above` is the one around it."""

    seen: bool
    open: bool
    above: Told | None


current: ContextVar[Told | None] = ContextVar("lctl_told_call", default=None)


def around() -> Told | None:
    """The innermost call that is being made here."""
    call = current.get()
    while call is not None and not call.open:
        call = call.above
    return call


def seen() -> None:
    """An exchange of a model call begins here: whoever told of the call says nothing more of it."""
    call = current.get()
    while call is not None:
        call.seen = True
        call = call.above
