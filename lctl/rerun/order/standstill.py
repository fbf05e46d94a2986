"""A rerun in which nothing can happen any more, and where its program waits then.

What it waits for was brought about by what a rerun does not do: the body of a tool, or another program. That
is certain where for seconds no thread has run; nobody waits for a delivery, a timer or a real call; no other
process, file or socket is there to come with anything; and each thread waits in a lock, or for an item of a
queue of multiprocessing's, without a limit of time, that no other process has. Only Linux tells the last;
elsewhere nobody is told.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from time import process_time, thread_time
from types import FrameType
from typing import TYPE_CHECKING, Any

from lctl.clock import monotonic
from lctl.rerun.order.quiescence import number_of
from lctl.rerun.order.watching import shares
from lctl.rerun.places import Line, is_users, stack

if TYPE_CHECKING:
    from lctl.rerun.order.stage import Stage

#: Real seconds between two looks, and for which nothing has happened.
BEAT = 0.5
_LASTING = 3.0
#: Seconds of processor time that the program uses at most between two looks while nothing happens.
_STILL = 0.005
#: Signals by which somebody outside may be waited for, where the program handles them.
_CALLS = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
#: Places that are told.
_TOLD = 10


class Standstill:
    """That of one rerun, looked for by the thread that watches it.

    Args:
        act: is told, once, where the program waits.
    """

    def __init__(self, stage: Stage, act: Callable[[list[str]], None]) -> None:
        self._stage = stage
        self._act: Callable[[list[str]], None] | None = act
        self._since: float | None = None
        self._used = 0.0

    def look(self) -> None:
        """With the door shut."""
        stage, now = self._stage, monotonic()
        used = process_time() - thread_time()
        moved, self._used = used - self._used, used
        if moved > _STILL or self._act is None or not self._is_one():
            self._since = None
        elif self._since is None:
            self._since = now
        elif now - self._since < _LASTING:
            return
        elif stage.standstill is not None:  # somebody had pressed Ctrl-C here
            press, stage.standstill, self._since = stage.standstill, None, None
            press()
        else:
            act, self._act = self._act, None
            act(list(_places(stage))[:_TOLD])

    def _is_one(self) -> bool:
        stage = self._stage
        if stage.over or stage.pace.realtime or stage.never or stage.hanging or stage.is_going_on():
            return False
        if stage.is_outside() or _is_called():
            return False
        parked = {*stage.blocked, *stage.loops, stage.watch.tid, threading.get_native_id()}
        return stage.threads.are_locked(parked, not shares())


def _is_called() -> bool:
    """Whether somebody may call by a signal, or by typing."""
    numbers = (getattr(signal, name, None) for name in _CALLS)
    return any(number is not None and callable(signal.getsignal(number)) for number in numbers)


def _places(stage: Stage) -> Iterator[str]:
    """Where threads of the program wait, and tasks of event loops that have nothing to do."""
    frames = sys._current_frames()
    loops = {idle.tid: idle.loop for idle in stage.loops.values()}
    for thread in threading.enumerate():
        number = number_of(thread)
        if thread.ident is None or number in stage.threads.strangers:
            continue
        tasks = _tasks(loops.get(number)) if number is not None else []
        lines = stack(frames.get(thread.ident)) if thread.ident in frames else []
        if tasks:
            yield from (_said(f"task {task.get_name()}", line) for task, line in tasks)
        elif lines:
            yield _said(f"thread {thread.name}", lines[-1])


def _tasks(loop: Any) -> list[tuple[Any, Line]]:
    asyncio = sys.modules.get("asyncio")
    if loop is None or asyncio is None:
        return []
    found = ((task, _line_of(task.get_coro())) for task in asyncio.all_tasks(loop) if not task.done())
    return [(task, line) for task, line in found if line is not None]


def _line_of(coroutine: Any) -> Line | None:
    """The innermost line of the program's own in which a coroutine waits."""
    line = None
    while coroutine is not None:
        frame: FrameType | None = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
        if frame is not None and is_users(frame.f_code.co_filename):
            line = next(reversed(stack(frame)), line)
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "gi_yieldfrom", None)
    return line


def _said(who: str, line: Line) -> str:
    return f"{who} waits at {line}: {line.text}"


def text_of(places: list[str]) -> str:
    """What whoever started the rerun is told."""
    lines = [
        "nothing can happen any more, and the program waits",
        *(places or ["(in no line of its own)"]),
        "for what a rerun does not do again: a tool's body, which is served and not run, brought it about,",
        "or a process that has stopped, or somebody outside; have it done outside the tool, or wait for the",
        "tool's result",
    ]
    return "\n  ".join(lines)


__all__ = ["BEAT", "Standstill", "text_of"]
