"""What the program does with queues of its own (`queue.Queue`): hooks. See `queueorder`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from lctl.guard import guard
from lctl.interrupts import step_out
from lctl.session import border
from lctl.session.concurrency import lanes, queueorder, signals
from lctl.session.concurrency.lane import Lane
from lctl.session.concurrency.queueorder import EMPTY, FULL, GET, KIND, LOOK, ORDER, PUT, Order, is_programs

if TYPE_CHECKING:
    from lctl.session.concurrency.pooljobs import PoolJobs

_PLACE = "the order of a queue"


def _missed(error: Exception) -> None:
    if guard.policy == "raise":
        raise error
    guard.failed(_PLACE, error)


def _made(original: Callable[..., None], queue: Any, *args: Any, **options: Any) -> None:
    original(queue, *args, **options)
    if is_programs(sys._getframe(2)):
        follow(queue)


def follow(queue: Any) -> None:
    """Keep from now on in which order things are done with what the program has made here."""
    lane = lanes.current()
    if lane.tool is not None or lanes.is_aside(lane.path):
        return
    with guard(_PLACE):
        guard.rehearse(_PLACE)
        from lctl.session import default  # which needs this module

        kept = default.pool_jobs()
        order = None if kept is None else ordered(kept, lane)
        if order is not None:
            setattr(queue, ORDER, order)


def ordered(kept: PoolJobs, lane: Lane) -> Order | None:
    """Of the next one that is made in `lane`; None where there are too many of them."""
    number = lane.number(KIND)
    player = border.playing
    held = player is not None and not player.is_live(lane)
    places = player.queue(lane, number) if player is not None and held else None
    return kept.queue(lane.path, number, places)


def _inherited(order: Order) -> bool:
    """Thread-safe: another one may do the same."""
    from lctl.session import default  # as above

    with queueorder.inheriting:
        if order.is_present():
            return True
        kept = default.pool_jobs()
        player = border.playing
        held = player is not None and not player.is_live(lanes.current())
        places = player.queue_of_parent(order.lane, order.number) if player is not None and held else None
        return kept is not None and kept.inherit(order, places)


queueorder.inherit = _inherited


def begun(order: Order, frame: FrameType | None) -> Lane | None:
    """Arguments as of `Order.begin`."""
    try:
        guard.rehearse(_PLACE)
        return order.begin(frame)
    except Exception as error:
        _missed(error)
        return None


def ended(order: Order, lane: Lane, came: str | None) -> None:
    try:
        guard.rehearse(_PLACE)
        order.end(lane, came)
    except Exception as error:
        _missed(error)


def noted(order: Order, what: str) -> None:
    try:
        guard.rehearse(_PLACE)
        order.note(what)
    except Exception as error:
        _missed(error)


def _get(original: Callable[..., Any], queue: Any, block: bool = True, timeout: float | None = None) -> Any:
    try:
        return _done(GET, original, queue, (), block, timeout)
    except BaseException as error:
        step_out(error)
        raise


def _put(
    original: Callable[..., None], queue: Any, item: Any, block: bool = True, timeout: float | None = None
) -> None:
    try:
        _done(PUT, original, queue, (item,), block, timeout)
    except BaseException as error:
        step_out(error)
        raise


def _done(
    what: str,
    original: Callable[..., Any],
    queue: Any,
    items: tuple[Any, ...],
    block: bool,
    timeout: float | None,
) -> Any:
    order: Order | None = queue.__dict__.get(ORDER)
    module = sys.modules.get("queue")
    if order is None or module is None:  # Python is shutting down
        return original(queue, *items, block, timeout)
    began = module.time()  # in a rerun, on virtual time
    lane = begun(order, sys._getframe(2))
    if lane is None:
        return original(queue, *items, block, timeout)
    if (timeout is not None or not block) and (what == GET or queue.maxsize > 0):
        order.is_awaited = False
    if block and timeout is not None and timeout > 0 and order.turns is not None:
        timeout = max(0.0, timeout - (module.time() - began))
    failed = module.Empty if what == GET else module.Full
    came: str | None = None
    try:
        made = original(queue, *items, block, timeout)
        came = what
        return made
    except failed:
        came = EMPTY if what == GET else FULL
        raise
    finally:
        ended(order, lane, came)


def _looked(original: Callable[..., Any], queue: Any) -> Any:
    """The program asks how much there is."""
    order: Order | None = queue.__dict__.get(ORDER)
    lane = None if order is None else begun(order, sys._getframe(1))
    if order is None or lane is None:
        return original(queue)
    try:
        return original(queue)
    finally:
        ended(order, lane, LOOK)


def _got(original: Callable[..., Any], queue: Any) -> Any:
    item = original(queue)
    signals.note(queue, "get")
    order: Order | None = queue.__dict__.get(ORDER)
    if order is not None:
        noted(order, GET)
    return item


def _kept(original: Callable[..., Any], queue: Any, item: Any) -> Any:
    signals.note(queue, "put", item)
    original(queue, item)
    order: Order | None = queue.__dict__.get(ORDER)
    if order is not None:
        noted(order, PUT)


def _size(original: Callable[..., int], queue: Any) -> int:
    order: Order | None = queue.__dict__.get(ORDER)
    if order is not None:
        order.look()
    return original(queue)


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("queue", "Queue", "__init__", _made),
    ("queue", "Queue", "get", _get),
    ("queue", "Queue", "put", _put),
    ("queue", "Queue", "empty", _looked),
    ("queue", "Queue", "full", _looked),
    ("queue", "Queue", "qsize", _looked),
    *(("queue", of, "_get", _got) for of in ("Queue", "LifoQueue", "PriorityQueue")),
    *(("queue", of, "_put", _kept) for of in ("Queue", "LifoQueue", "PriorityQueue")),
    *(("queue", of, "_qsize", _size) for of in ("Queue", "LifoQueue", "PriorityQueue")),
)
