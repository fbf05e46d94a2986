"""Limits of time that are over as they are set: against what the program asks for, that is an order, too.

A limit of some milliseconds may have passed before it is set (a busy machine, a long computation on the way);
asyncio and anyio set no timer then, and what is under it ends at once. In virtual time it would not have.
"""

from __future__ import annotations

import math
import sys
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.instrument.ambient import reads, slots, timers
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.sources import OVERDUE

if TYPE_CHECKING:
    from lctl.session.concurrency.lane import Lane


def install() -> None:
    from lctl.instrument.hooks import on_import

    slots.on_undo(on_import("asyncio.timeouts", _asyncio).remove)
    slots.on_undo(on_import("anyio._backends._asyncio", _anyio).remove)


def _asyncio(module: ModuleType) -> None:
    if not reads.active():
        return
    timeout: Any = module.Timeout
    soon: type = sys.modules["asyncio.events"].Handle
    real = timeout.reschedule

    def reschedule(self: Any, when: float | None) -> None:
        limit = None if when is None else _limit(sys._getframe(1), when)
        real(self, when)
        if limit is not None and type(self._timeout_handler) is soon:  # no timer, nor another loop's
            limit.note("asyncio.timeout")

    slots.replace(timeout, "reschedule", slots.like(reschedule, real))


def _anyio(module: ModuleType) -> None:
    scope: Any = getattr(module, "CancelScope", None)
    if not reads.active() or not hasattr(scope, "_timeout"):
        return
    real = scope._timeout

    def _timeout(self: Any) -> None:
        frame = sys._getframe(1)
        is_set = frame.f_code.co_name in ("__enter__", "deadline")  # else it is the timer that goes off
        limit = _limit(frame, self.deadline) if is_set and not self.cancel_called else None
        real(self)
        if limit is not None and self.cancel_called:
            limit.note("anyio.CancelScope")

    slots.replace(scope, "_timeout", slots.like(_timeout, real))


class _Limit(NamedTuple):
    """One that the program's code in `frame` sets, the `number`th of its lane."""

    frame: FrameType
    lane: Lane
    number: int

    def note(self, key: str) -> None:
        try:
            reads.note(OVERDUE, key, self.frame, self.lane, self.number)
        except Exception as error:
            reads.failed("a limit of time", error)


def _limit(frame: FrameType, when: float) -> _Limit | None:
    """What is set in `frame`, made over if it was so when recorded; None where that is not the program's."""
    is_one = isinstance(when, int | float) and when < math.inf  # else it is for asyncio to refuse
    own = timers.owner(frame) if is_one and reads.active() else None
    lane = lanes.current()
    if own is None or lane.tool is not None or lane.is_apart:
        return None
    limit = _Limit(own, lane, lane.number(OVERDUE))
    player = border.player()
    if player is not None:
        player.overdue(lane, limit.number, when)
    return limit
