"""Turns of event loops: what reached a loop together, or one turn after another.

Answers that come at nearly the same time are taken by a loop in the same turn or in turns close to each
other, and what the program does upon the first runs between them, or after both. Times do not tell that;
the number of turns from one to the next does. Counted where a recording is to be run again
(`record="full"`), elsewhere, of each loop, from the first call or tool on that begins in it, or job of a pool
that is handed in there.
"""

from __future__ import annotations

import functools
import sys
import threading
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lctl.session.concurrency import nestedloops

if TYPE_CHECKING:
    from lctl.session.concurrency.lane import Lane

#: In place of a number of turns that is not known. (Older logs have it for more, too.)
FAR = 99

#: In place of a number of turns: it was there when it was asked for. It did not reach the loop just then.
AT_ONCE = -1

#: Where the future of a pool job has the job's lane.
LANE = "_lctl_lane"

#: Whether what orders tasks and threads is kept, too.
active = False

#: Whether turns are counted.
counting = False

#: Whether they are to be, as soon as that tells anything.
wanted = False

#: Called in a thread that begins what is not the program's (see `apart`); gives what to call at its end.
on_apart: list[Callable[[], Callable[[], object]]] = []

#: The lanes of the jobs from whose handing in on they are.
counted_from: list[str] = []

#: Whether they are of all loops, from the first turn of each on.
_all = False

_undo: list[Callable[[], None]] = []

#: By thread: the lane of its job, or of the last call it made without a loop, until it wakes a loop.
crossed: dict[int, Lane] = {}

#: Called with its lane where a pool job is handed in.
on_submit: list[Callable[[Lane], object]] = []

#: Called where a server reads what a rerun sends it in the place of somebody outside.
on_arrival: list[Callable[[], object]] = []

#: Called with its lane, in a thread that begins a job.
on_job: list[Callable[[Lane], object]] = []


def is_first() -> bool:
    """A call or tool begins in this thread, or a pool's job is handed in. Whether turns of the loop are
    counted from it on, as if it were what had reached that last: what tasks do comes before its end, or after
    it."""
    loop = running()
    if loop is None or not wanted or _all or getattr(loop, "_lctl_reached", None) is not None:
        return False
    if not isinstance(loop, sys.modules["asyncio"].BaseEventLoop):
        return False
    count()
    if getattr(loop, "_lctl_turn", None) is None:
        loop._lctl_turn = 1  # the turn that runs now
    loop._lctl_reached = loop._lctl_turn
    return True


def count(*, all: bool = False) -> None:
    """Count the turns of asyncio's loops from their next one on. Idempotent; undone by `stop`.

    Args:
        all: no loop has begun one yet, as far as is known.
    """
    global _all, counting
    if counting:
        return
    counting, _all = True, all
    _undo.append(nestedloops.wrap(_counted))


def _counted(real: Callable[[Any], None]) -> Callable[[Any], None]:
    @functools.wraps(real)
    def _run_once(self: Any) -> None:
        try:  # written out: it is done in each turn of each loop
            self._lctl_turn += 1
        except AttributeError:
            self._lctl_turn = 1
        real(self)

    return _run_once


def stop() -> None:
    global _all, counting
    counting, _all = False, False
    counted_from.clear()
    while _undo:
        _undo.pop()()


def since(ago: int = 0) -> int | None:
    """Turns from the last thing that reached the loop of this thread until now; None where none runs, or one
    whose turns are not counted. Where nothing has reached it yet, those from its first one on, if all have
    been counted, else `FAR`.

    Args:
        ago: so many turns before this one it did, if not earlier than the last.
    """
    loop = running()
    turn = getattr(loop, "_lctl_turn", None)
    if loop is None or turn is None:
        return None
    last = getattr(loop, "_lctl_reached", 0 if _all else None)
    turn = turn - ago if last is None else max(turn - ago, last)
    loop._lctl_reached = turn
    return FAR if last is None else turn - last


def now() -> int | None:
    """The turn of the loop of this thread; None where none runs, or one whose turns are not counted."""
    return getattr(running(), "_lctl_turn", None)


def crossing(lane: Lane) -> None:
    """A call is made in `lane`."""
    if running() is None:
        crossed[get_ident()] = lane


def job(lane: Lane) -> None:
    """This thread begins a job of the program's, or one that a library runs for itself, which is not noted.
    What the thread called before, or another one that had its number, is not what it will hand to a loop."""
    if lane.index:
        crossed[get_ident()] = lane
    else:
        crossed.pop(get_ident(), None)
    for told in on_job:
        told(lane)


def ended() -> None:
    """This thread ends. The system gives its number to another one, which may be none of Python's."""
    crossed.pop(get_ident(), None)


def submitted(lane: Lane) -> None:
    """A pool job is handed in by this thread, and will run in `lane`."""
    for told in on_submit:
        told(lane)


def arrived() -> int | None:
    """What came from outside is read in this thread. From there on turns of its loop are counted. Gives those
    from what reached it before."""
    turn = since()
    for told in on_arrival:
        told()
    return turn


@contextmanager
def apart() -> Iterator[None]:
    """What this thread hands to loops in the block comes of no job or call of the program's."""
    mine = get_ident()
    before = crossed.pop(mine, None)
    ends = [begun() for begun in on_apart]
    try:
        yield
    finally:
        if before is not None:
            crossed[mine] = before
        for end in ends:
            end()


def job_in(callback: Any, args: tuple[Any, ...]) -> Lane | None:
    """The lane of the pool job whose future is among `args`, or whose thread (anyio's) `callback` is of: its
    result is handed to a loop. In the thread of the job, or of the loop if the job was done before the loop
    asked for it."""
    worker = getattr(callback, "__self__", None)
    if isinstance(worker, threading.Thread):
        found: Lane | None = worker.__dict__.get(LANE)
        return found
    futures = sys.modules.get("concurrent.futures._base")
    if futures is not None:
        for one in args:
            if isinstance(one, futures.Future):
                lane: Lane | None = one.__dict__.get(LANE)
                return lane
    return None


def is_closing(coroutine: Any) -> bool:
    """Whether it closes an asynchronous generator that somebody left in its middle. Loops make tasks of such:
    when and how many, libraries and the collector of garbage decide."""
    return type(coroutine).__name__ == "async_generator_athrow"


def running() -> Any:
    """The event loop that runs in this thread."""
    events = sys.modules.get("asyncio.events")
    return None if events is None else events._get_running_loop()
