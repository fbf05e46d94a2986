"""In which order threads act on the program's own queues (`queue.Queue` and those derived from it), and
semaphores (`lctl.session.concurrency.semaphores`) and events (`lctl.session.concurrency.eventwaits`).

Which of several workers gets which item, and whose item is put first, is a race that nothing else on the tape
decides. So of each queue that the program's own code makes, what threads do with it is noted, in the order of
its lock, and in a rerun each of them waits for its turn (`Turns`). Told when the session closes, with what is
known of pools (`lctl.session.concurrency.pooljobs`), of queues where another order could have been seen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Lock, local
from types import FrameType
from typing import Any, NamedTuple, Protocol

from lctl.session.concurrency import lanes, turns
from lctl.session.concurrency.lane import Lane
from lctl.session.ownpackages import installed_as

#: Where a queue has its `Order`.
ORDER = "_lctl_order"
#: Kind under which a lane counts the queues that it makes.
KIND = "queue"
GET, PUT, EMPTY, FULL, LOOK = "get", "put", "empty", "full", "look"
#: Of an event: it is set or cleared, it was found to be set, it was not. Those who find are in no order.
CHANGE, SET, UNSET = "change", "set", "unset"
FINDS = frozenset({SET, UNSET})
#: So much is kept of one queue, and of all of a session; what is done behind that is held to nothing.
_MANY = 20_000
ROOM = 200_000
#: So often, and more than once a millisecond, is only looked at by who asks without a pause: how often says
#: nothing then, and all that would be kept of it is much.
_LOOKS = 2_000
#: Of the standard library: act for whoever called them, or was started by them.
_BETWEEN = frozenset({"asyncio", "concurrent", "contextlib", "functools", "queue", "threading"})
_OURS = ("lctl.session.", "lctl.instrument.", "lctl.rerun.")


class Act(NamedTuple):
    """What a lane did with a queue. `ms`: from the beginning of the recording; `seq`: of the event before."""

    lane: str
    what: str
    ms: float
    seq: int


class Turns(Protocol):
    """Of one queue, in a rerun."""

    def wait(self, lane: Lane) -> None:
        """Return when it is the turn of what this lane does next."""
        ...

    def due(self, lane: Lane) -> str | None:
        """What it did then; None where nobody knows."""
        ...

    def done(self, lane: Lane, what: str) -> None: ...


class _Here(local):
    """Of each thread.

    Attributes:
        order: of the queue that it does something with.
        noted: what it does has been noted, within the queue's lock.
        at: how much had been done when it looked how much there is.
    """

    order: Order | None = None
    noted = False
    at = 0


_here = _Here()
_own: dict[str, bool] = {}  # by file
_generation = 0


class Order:
    """What is done with one queue.

    Args:
        lane: that made it, as its `number`th.
        told: gives time and seq (see `Act`).
        turns: in a rerun.
        room: how much more may be kept, of all queues together: its one item.

    Attributes:
        is_awaited: who gets or puts waits until that can be done, however long.
    """

    __slots__ = (
        "_acts",
        "_generation",
        "_is_of_threads",
        "_is_own",
        "_others",
        "_room",
        "is_awaited",
        "lane",
        "number",
        "told",
        "turns",
    )

    def __init__(
        self,
        lane: str,
        number: int,
        told: Callable[[], tuple[float, int]],
        turns: Turns | None,
        room: list[int],
    ) -> None:
        self.lane = lane
        self.number = number
        self.told = told
        self.turns = turns
        self.is_awaited = True
        self._begin_anew(room)

    def _begin_anew(self, room: list[int]) -> None:
        self._room = room
        self._acts: list[Act] = []
        self._others: list[tuple[int, Act]] = []  # that changed nothing, and how much had been done before
        self._is_of_threads = False  # else of a loop's tasks, whose order is kept
        self._is_own = True  # and it is not asked without a pause
        self._generation = _generation

    def is_present(self) -> bool:
        """Not so what a process that forks had made, in the child, until it is passed on."""
        return self._generation == _generation

    def pass_on(self, told: Callable[[], tuple[float, int]], turns: Turns | None, room: list[int]) -> None:
        """In a forked child, whose copy it is of a queue of its parent's. Arguments as of the class."""
        self.lane, self.told, self.turns = of_parent(self.lane), told, turns
        self._begin_anew(room)

    def begin(self, frame: FrameType | None) -> Lane | None:
        """Something is to be done here; in a rerun, when it is its turn. None: it is not noted.

        Args:
            frame: that does it; None: whoever it is, it is noted.
        """
        if self._generation != _generation and not inherit(self):
            return None
        if self.turns is None and (not self._is_own or len(self._acts) >= _MANY or self._room[0] <= 0):
            return None
        lane = lanes.current()
        if lane.tool is not None or lanes.is_aside(lane.path):
            return None
        if frame is not None and not is_programs(frame):
            self._is_own = False  # what a library does depends on more than the tape
            return None
        if self.turns is not None:
            self.turns.wait(lane)
        self._is_of_threads = self._is_of_threads or turns.running() is None
        _here.order, _here.noted, _here.at = self, False, len(self._acts)
        return lane

    def due(self, lane: Lane) -> str | None:
        """In a rerun, what `lane` did where it is now; None where that is not known."""
        return None if self.turns is None else self.turns.due(lane)

    def note(self, what: str) -> None:
        """With the queue's lock held."""
        if _here.order is self and not _here.noted:
            _here.noted = True
            self._keep(lanes.current(), what)

    def look(self) -> None:
        """With the queue's lock held: how much there is."""
        if _here.order is self:
            _here.at = len(self._acts)

    def end(self, lane: Lane, what: str | None) -> None:
        """None: it came to nothing, by another exception."""
        _here.order = None
        if what is None:
            return
        if what in (GET, PUT, CHANGE, SET):
            if not _here.noted:  # a class that keeps its items in its own way
                self._keep(lane, what)
        elif len(self._others) < _MANY and self._has_room():
            self._look_on(Act(lane.path, what, *self.told()))
        if self.turns is not None:
            self.turns.done(lane, what)

    def _look_on(self, act: Act) -> None:
        self._others.append((_here.at, act))
        if len(self._others) > _LOOKS and self.turns is None:
            first = self._others[-_LOOKS][1]
            # Before the recording (< 0) a moment is no time.
            if first.seq == act.seq and (first.ms < 0 or act.ms - first.ms < _LOOKS):
                self._is_own = False
                self._others.clear()

    def _keep(self, lane: Lane, what: str) -> None:
        if len(self._acts) < _MANY and self._has_room():
            self._acts.append(Act(lane.path, what, *self.told()))

    def _has_room(self) -> bool:
        self._room[0] -= 1
        return self._room[0] >= 0

    def row(self) -> list[Any] | None:
        """For the event; None where all that was done could have been seen in no other order."""
        if not (self._is_of_threads and self._is_own):
            return None
        by_kind: dict[str, set[str]] = {}
        for act in (*self._acts, *(act for _, act in self._others)):
            by_kind.setdefault(act.what, set()).add(act.lane)
        if len(set[str]().union(*by_kind.values())) < 2:
            return None
        if self.is_awaited and not self._others and all(len(by) == 1 for by in by_kind.values()):
            return None  # from one to another, who waits for it
        acts = [(at, 1, act) for at, act in enumerate(self._acts)]
        acts += [(at, 0, act) for at, act in self._others]
        acts.sort(key=lambda one: one[:2])
        return [self.lane, self.number, [list(act) for _, _, act in acts[:_MANY]]]


def after_fork() -> None:
    """In the child: queues that it has are copies, whose other threads are the parent's."""
    global _generation, inheriting
    _generation += 1
    inheriting = Lock()


def of_parent(lane: str) -> str:
    """How a child calls the lane of its parent's that made a queue."""
    return f"../{lane}"


#: Held by who has one noted as the child's own.
inheriting = Lock()
#: Have a queue of the parent's noted as the child's own (`Order.pass_on`); False: it is not noted.
inherit: Callable[[Order], bool] = lambda order: False  # noqa: E731


def is_programs(frame: FrameType | None) -> bool:
    """Whether the program's own code calls, by whatever acts for it."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if not name.startswith(_OURS) and name.partition(".")[0] not in _BETWEEN:
            file = frame.f_code.co_filename
            known = _own.get(file)
            if known is None:
                known = _is_own(file, name)
                if file[:1] != "<" and len(_own) < 5000:
                    _own[file] = known
            return known
        frame = frame.f_back
    return True  # a thread whose function is the queue's own


def is_made_by_program(frame: FrameType) -> bool:
    """Whether the program's own code, and nothing that acts for it (an executor), makes a queue here."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] not in _BETWEEN and is_programs(frame)


def _is_own(file: str, name: str) -> bool:
    top = name.partition(".")[0]
    if top == "lctl" or (top in sys.stdlib_module_names and top != "__main__"):
        return False
    if file[:1] == "<":  # made of text, as a dataclass's `__init__`
        file = getattr(sys.modules.get(name), "__file__", None) or file
    return installed_as(file) is None
