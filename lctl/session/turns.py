"""Turns of event loops: what reached a loop together, or one turn after another.

Answers that come at nearly the same time are taken by a loop in the same turn or in turns close to each
other, and what the program does upon the first runs between them, or after both. Times do not tell that;
the number of turns from one to the next does. Counted where a recording is to be run again
(`record="full"`), elsewhere from the first time on that two calls are under way at once in a loop, or a call
or tool begins, or a job of a pool is handed in, beside other tasks.
"""

from __future__ import annotations

import functools
import sys
import threading
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lctl.session.lanes import Lane

#: Turns that are not told apart from more.
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

#: The lane of the job from whose handing in on they are.
counted_from: str | None = None

#: Whether they are of all loops, from the first turn of each on.
_all = False

_undo: list[Callable[[], None]] = []

#: By thread: the lane of its job, or of the last call it made without a loop, until it wakes a loop.
crossed: dict[int, Lane] = {}

#: Called with its lane where a pool job is handed in.
on_submit: list[Callable[[Lane], object]] = []

#: Called with its lane, in a thread that begins a job.
on_job: list[Callable[[Lane], object]] = []


def begin(loop: Any) -> None:
    """A loop begins a turn."""
    loop._lctl_turn = getattr(loop, "_lctl_turn", 0) + 1


def together() -> None:
    """Two calls are under way at once: their ends may come in one turn of this thread's loop."""
    if wanted and not counting and running() is not None:
        count()


def beside(job: Lane | None = None) -> None:
    """A call or tool begins, or a pool's job is handed in: what other tasks of this thread's loop do may come
    before its end, or after it. Counted from a job on, that is what reached the loop last."""
    global counted_from
    if counting or not wanted:
        return
    loop = running()
    if loop is None or _is_alone(loop):
        return
    count()
    if isinstance(loop, sys.modules["asyncio"].BaseEventLoop):
        begin(loop)  # the turn that runs now
        if job is not None:
            loop._lctl_reached, counted_from = loop._lctl_turn, job.path


def _is_alone(loop: Any) -> bool:
    """Whether the running task is the only one of its loop."""
    if sys.version_info < (3, 14):  # all that there are, of whichever loop: each call looks here
        name = "_scheduled_tasks" if sys.version_info >= (3, 12) else "_all_tasks"
        known: Any = getattr(sys.modules["asyncio.tasks"], name, None)
        if known is not None and len(known) < 2:
            return True
    return len(sys.modules["asyncio"].all_tasks(loop)) < 2


def count(*, all: bool = False) -> None:
    """Count the turns of asyncio's loops from their next one on. Idempotent; undone by `stop`.

    Args:
        all: no loop has begun one yet, as far as is known.
    """
    global _all, counting
    if counting:
        return
    counting, _all = True, all
    loop: Any = sys.modules["asyncio.base_events"].BaseEventLoop
    real = loop._run_once

    @functools.wraps(real)
    def _run_once(self: Any) -> None:
        begin(self)
        real(self)

    loop._run_once = _run_once

    def undo() -> None:
        if loop._run_once is _run_once:  # else somebody put theirs on top, which calls it
            loop._run_once = real

    _undo.append(undo)


def stop() -> None:
    global _all, counted_from, counting
    counting, _all, counted_from = False, False, None
    while _undo:
        _undo.pop()()


def since(ago: int = 0) -> int | None:
    """Turns from the last thing that reached the loop of this thread until now, at most `FAR`; None where
    none runs, or one whose turns are not counted. Where nothing has reached it yet, those from its first one
    on, if all have been counted.

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
    return FAR if last is None else min(turn - last, FAR)


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
