"""Lanes: where in the program's own structure a call is made (RERUN section 1).

A lane is a path of spawn indices: the main flow is `0`; the third task, thread or pool job that lane `0`
starts is `0.3`. It is given when work is spawned, so it is the same in every run, whoever is scheduled
first. A call's identity is its lane, its kind and how many of that kind the lane made before it.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar, Token
from threading import local

from lctl.session.concurrency import lane as a_lane
from lctl.session.concurrency.lane import Apart, Lane, Telling

#: Of what a library does for the whole process, in whichever lane it comes to it first.
LIBRARIES = Lane("0.0")

#: Of what it asks for the whole process, and keeps: in whichever lanes come to it before it has the answer.
SHARED = Lane("0.0.0")

#: The main flow of the program.
MAIN = Lane("0")

#: Of what is read once a run, whoever comes to it first.
RUN = Lane("0")

_of_cells: Lane | None = None


def of_cells() -> Lane:
    """The main flow of a program whose code comes in cells: all of them are in this lane. What runs around
    them is no program's, but a notebook's kernel or a shell, which starts other tasks and threads in each
    run: it is apart from now on."""
    global _of_cells
    if _of_cells is None:
        set_apart()
        _of_cells = Lane("0", MAIN, 1)
    return _of_cells


def set_apart() -> None:
    """What is in the main flow, or will be, is no program's."""
    # The default of a context variable stays the same object.
    MAIN.__class__ = Apart
    MAIN.path = "0.0"


def are_cells() -> bool:
    """Whether the program's code comes in cells."""
    return type(MAIN) is Apart


def is_aside(path: str) -> bool:
    """Whether the lane of that path is of what libraries start for themselves: several of those share it."""
    return ".0." in f"{path}."


def above(path: str) -> str:
    """The lane that started the one of that path, and in whose loop or thread it may run: "" of a main flow,
    and of a request, which a server answers."""
    before = path.rpartition(".")[0]
    last = before.rpartition("/")[2]
    return "" if last.startswith("s") and "." not in last else before


def in_body(at: str | None) -> bool:
    """Whether the running code is of a tool's body. A library's worker thread that was started in one takes
    up others' jobs, too: `at` is the lane of its job, or of its last call, if it has any."""
    here = current()
    return here.tool is not None and (at is None or here.path.startswith((at + "/", at + ".")))


#: Holds the current lane, where `thread.lane` is None.
variable: ContextVar[Lane] = ContextVar("lctl_lane", default=MAIN)
raw = variable.get


#: Whether a thread has ever had a lane of its own; until then `raw` says it all.
owning = False


class _Thread(local):
    """Of each thread: its own lane, if it has one."""

    lane: Lane | None = None  # found faster than a missing attribute


thread = _Thread()


def current() -> Lane:
    """The lane the running code is in.

    A thread, or a job of a pool, may run its function in a context that was copied where it was started,
    which names the lane of whoever started it: it is in its own all the same.
    """
    lane = raw()
    if not owning:
        return lane
    own = thread.lane
    if own is None or own is lane or not _is_above(lane, own) or _in_loop():
        return lane
    return own


def is_telling() -> bool:
    """Whether a tool of observability runs here, in a thread of its own."""
    return type(current()) is Telling


def own(lane: Lane | None) -> Lane | None:
    """Give this thread a lane of its own until it gets the one returned here back.

    None, and what libraries start for themselves, is none: what such a thread does is others' work.
    """
    global owning
    before = thread.lane
    if lane is not None and lane.index:
        owning = True
        thread.lane = lane
    else:
        thread.lane = None
    return before


def after_fork() -> None:
    """In the child: its main flow is `0` again, whatever another thread of the parent held."""
    a_lane.after_fork()
    enter(Lane("0"))
    own(None)


def _is_above(lane: Lane, below: Lane) -> bool:
    at = below.parent
    while at is not None:
        if at is lane:
            return True
        at = at.parent
    return False


def _in_loop() -> bool:
    """Whether an event loop runs in this thread: it runs what others hand to it, in their contexts."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None


#: Put the running code into a lane; a token for `leave`.
enter = variable.set


def leave(token: Token[Lane]) -> None:
    """Undo `enter`; harmless in another context than the one entered."""
    try:
        variable.reset(token)
    except ValueError:
        pass
