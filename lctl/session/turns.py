"""Turns of event loops: what reached a loop together, or one turn after another.

Answers that come at nearly the same time are taken by a loop in the same turn or in turns close to each
other, and what the program does upon the first runs between them, or after both. Times do not tell that;
the number of turns from one to the next does. Counted only where a recording is to be run again
(`record="full"`).
"""

from __future__ import annotations

import sys
from _thread import get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lctl.session.lanes import Lane

#: Turns that are not told apart from more.
FAR = 99

#: Whether turns are counted.
active = False

#: The lane of the last call a thread without a loop made, until it wakes a loop.
crossed: dict[int, Lane] = {}


def begin(loop: Any) -> None:
    """A loop begins a turn."""
    loop._lctl_turn = getattr(loop, "_lctl_turn", 0) + 1


def since() -> int | None:
    """Turns from the last thing that reached the loop of this thread until now, at most `FAR`; None where
    none runs, or one whose turns are not counted."""
    loop = running()
    turn = getattr(loop, "_lctl_turn", None)
    if loop is None or turn is None:
        return None
    last = getattr(loop, "_lctl_reached", None)
    loop._lctl_reached = turn
    return FAR if last is None else min(turn - last, FAR)


def crossing(lane: Lane) -> None:
    """A call is made in `lane`."""
    if running() is None:
        crossed[get_ident()] = lane


def running() -> Any:
    """The event loop that runs in this thread."""
    events = sys.modules.get("asyncio.events")
    return None if events is None else events._get_running_loop()
