"""Lanes: where in the program's own structure a call is made (RERUN section 1).

A lane is a path of spawn indices: the main flow is `0`; the third task, thread or pool job that lane `0`
starts is `0.3`. It is given when work is spawned, so it is the same in every run, whoever is scheduled
first. A call's identity is its lane, its kind and how many of that kind the lane made before it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from itertools import count
from threading import RLock, local
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

    from lctl.session.tooling.beneath import Beneath
    from lctl.session.tooling.signalling import Signals
    from lctl.session.tooling.wrote import Sink


class Lane:
    """One strand of the program. Counting is safe from several threads.

    Attributes:
        path: its name.
        parent: what started it; None of a main flow, and now and then in an endless line of lanes that
            each start the next.
        index: the last number of `path`; 0 of what libraries start for themselves.
        spawned: how many lanes it has started.
        is_live: for a fork: it does not follow the tape any more. What it starts from then on is live too.
        is_reserved: it was given in advance, to the next task started in it.
        inside: (first, last) seqs of what is recorded in it, where it is the body of a tool; the lanes it
            starts share the list.
        tool: the tool whose body it is, or is part of; and the `input` of that call.
        beneath: that call as it is seen a layer below, where it is one of an MCP server's tool.
        is_decorated: `@lctl.tool` reported that call, and no framework.
        signals: is told what is done in it that others wait for, where it is a tool's body.
        wrote: is told what is written to standard output and error in it, where it is a tool's body.
        chance: of what libraries draw in it: the run's seed and the generator, once one has drawn.
    """

    __slots__ = (
        "_aside",
        "_calls",
        "_children",
        "beneath",
        "chance",
        "index",
        "input",
        "inside",
        "is_decorated",
        "is_live",
        "is_reserved",
        "parent",
        "path",
        "signals",
        "tool",
        "wrote",
    )

    def __init__(self, path: str, parent: Lane | None = None, index: int = 0) -> None:
        self.path = path
        self.parent = parent
        self.index = index
        self.is_live = False
        self.is_reserved = False
        self._aside: Lane | None = None
        self.inside: list[tuple[int, int]] | None = None if parent is None else parent.inside
        self.tool: str | None = None if parent is None else parent.tool
        self.input: Mapping[str, Any] | None = None if parent is None else parent.input
        self.beneath: Beneath | None = None if parent is None else parent.beneath
        self.is_decorated: bool = parent is not None and parent.is_decorated
        self.wrote: Sink | None = None if parent is None else parent.wrote
        self.signals: Signals | None = None if parent is None else parent.signals
        self.chance: tuple[str | None, Random] | None = None
        # Most lanes start nothing and call little: their counters are made when one counts.
        self._children: Callable[[], int] | None = None
        self._calls: dict[str, Callable[[], int]] | None = None

    def spawn(self) -> Lane:
        """The lane of the next thing this one starts."""
        index = (self._children or self._counting())()
        if len(self.path) > _LONGEST:
            path, parent = f"{_shortened(self.path)}.{index}", None
        else:
            path, parent = f"{self.path}.{index}", self
        lane = Lane(path, parent, index)
        lane.is_live = self.is_live
        lane.inside, lane.tool, lane.input, lane.wrote = self.inside, self.tool, self.input, self.wrote
        lane.beneath, lane.signals = self.beneath, self.signals
        return lane

    def _counting(self) -> Callable[[], int]:
        with _counters:
            if self._children is None:
                self._children = count(1).__next__
            return self._children

    def aside(self) -> Lane:
        """Where what a library starts for itself runs. It is not counted: `0.0`."""
        if self.parent is not None and not self.index:
            return self
        lane = self._aside
        if lane is None:
            lane = self._aside = Lane(f"{self.path}.0", self)
        lane.is_live = self.is_live
        return lane

    def apart(self) -> Lane:
        """As `aside`, of what no two runs have in common: all that is started there stays there."""
        lane = _Apart(f"{self.path}.0", self)
        lane.is_live = self.is_live
        return lane

    def telling(self) -> Lane:
        """Where tools of observability send what they gathered: apart, and counted with what is aside."""
        lane = _Telling(f"{self.path}.0", self.aside())
        lane.is_live = self.is_live
        return lane

    def body(self, number: int, tool: str, input: Mapping[str, Any] | None = None) -> Lane:
        """The lane of the body of this one's `number`th tool call: a rerun that serves the call has no
        such lane, and its going missing moves nothing in this one."""
        lane = Lane(f"{self.path}/t{number}", self)
        lane.inside = []
        lane.tool, lane.input, lane.beneath, lane.is_decorated = tool, input, None, False
        return lane

    def number(self, kind: str) -> int:
        """Count one more call of that kind in this lane: 1, 2, ..."""
        calls = self._calls
        counter = None if calls is None else calls.get(kind)
        if counter is None:
            with _counters:
                if self._calls is None:
                    self._calls = {}
                counter = self._calls.setdefault(kind, count(1).__next__)
        return counter()

    @property
    def spawned(self) -> int:
        counter = getattr(self._children, "__self__", None)
        return 0 if counter is None else int(repr(counter)[6:-1]) - 1  # count(3)


class _Apart(Lane):
    __slots__ = ()

    def spawn(self) -> Lane:
        return self

    def aside(self) -> Lane:
        return self


class _Telling(_Apart):
    __slots__ = ()

    def number(self, kind: str) -> int:
        assert self.parent is not None
        return self.parent.number(kind)


def is_telling() -> bool:
    """Whether a tool of observability runs here, in a thread of its own."""
    return type(current()) is _Telling


#: Of what a library does for the whole process, in whichever lane it comes to it first.
LIBRARIES = Lane("0.0")

#: Of what it asks for the whole process, and keeps: in whichever lanes come to it before it has the answer.
SHARED = Lane("0.0.0")

_counters = RLock()  # held while a counter is made

#: Characters of a path beyond which it is replaced by its digest.
_LONGEST = 160


def _shortened(path: str) -> str:
    from hashlib import blake2b

    return f"0.~{blake2b(path.encode(), digest_size=10).hexdigest()}"


MAIN = Lane("0")


def is_aside(path: str) -> bool:
    """Whether the lane of that path is of what libraries start for themselves: several of those share it."""
    return ".0." in f"{path}."


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
    global _counters
    _counters = RLock()
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
