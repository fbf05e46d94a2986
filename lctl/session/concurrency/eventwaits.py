"""Who found a `threading.Event` of the program's own to be set, as of its queues (`queueorder`).

A thread that waits for one with a timeout (a heartbeat) goes round so often as that came before the event was
set, and one that asks `is_set()` so often as it was not. What each of them saw is noted, and seen again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from lctl.session.concurrency import queues, signals
from lctl.session.concurrency.queueorder import CHANGE, ORDER, SET, UNSET, Order, is_made_by_program

#: Seconds of a rerun's own time for which who saw it set waits for that.
_PATIENCE = 1.0


def _made(original: Callable[..., None], event: Any, *args: Any, **options: Any) -> None:
    original(event, *args, **options)
    caller: FrameType | None = sys._getframe(2)
    if caller is not None and is_made_by_program(caller):
        queues.follow(event)


def _wait(original: Callable[..., bool], event: Any, timeout: float | None = None) -> bool:
    order: Order | None = event.__dict__.get(ORDER)
    module = sys.modules.get("threading")
    if order is None or module is None:  # Python is shutting down
        return original(event, timeout)
    time = module._time
    began = time()  # in a rerun, on virtual time
    lane = queues.begun(order, sys._getframe(2))
    if lane is None:
        return original(event, timeout)
    if timeout is not None:
        order.is_awaited = False
    if timeout is not None and timeout > 0 and order.turns is not None:
        timeout = max(0.0, timeout - (time() - began))
    came: str | None = None
    try:
        due = None if timeout is None else order.due(lane)
        if due in (SET, CHANGE):  # changed while it waits: by a signal's handler
            timeout = max(timeout or 0.0, _PATIENCE)
        is_set = original(event, timeout) and due != UNSET
        came = SET if is_set else UNSET
        return is_set
    finally:
        queues.ended(order, lane, came)


def _looked(original: Callable[..., bool], event: Any) -> bool:
    order: Order | None = event.__dict__.get(ORDER)
    lane = None if order is None else queues.begun(order, sys._getframe(2))
    if order is None or lane is None:
        return original(event)
    due = order.due(lane)
    is_set = original(event) if due is None else due == SET
    queues.ended(order, lane, SET if is_set else UNSET)
    return is_set


def _set(original: Callable[..., None], event: Any) -> None:
    signals.note(event, "set")
    _changed(original, event)


def _cleared(original: Callable[..., None], event: Any) -> None:
    signals.note(event, "clear")
    _changed(original, event)


def _changed(original: Callable[..., None], event: Any) -> None:
    """It is set or cleared. Noted before: who waits for that goes on by it, and is not to be noted first."""
    order: Order | None = event.__dict__.get(ORDER)
    lane = None if order is None else queues.begun(order, sys._getframe(3))
    if order is None or lane is None:
        original(event)
        return
    queues.noted(order, CHANGE)
    try:
        original(event)
    finally:
        queues.ended(order, lane, CHANGE)


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("threading", "Event", "__init__", _made),
    ("threading", "Event", "wait", _wait),
    ("threading", "Event", "is_set", _looked),
    ("threading", "Event", "set", _set),
    ("threading", "Event", "clear", _cleared),
)
