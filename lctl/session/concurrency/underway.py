"""Which calls of a session are under way, and where and when each was made."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable
from math import inf
from typing import TYPE_CHECKING, Any
from weakref import ref

from lctl.clock import monotonic_ns
from lctl.session.concurrency import lanes, turnplaces, turns
from lctl.session.concurrency.lanes import SHARED

if TYPE_CHECKING:
    from lctl.clock import Clock


class Moment:
    """When and where one call was made.

    Attributes:
        ns: the reading of the session's clock.
        alone: nothing else was under way from its start on.
        first: turns of its loop are counted from its start on.
        turn: of its end: see `lctl.session.concurrency.turns.since`.
        behind: its place there: see `lctl.session.concurrency.turnplaces.behind`.
        rests: of a stream: the program has what came last, and has not asked for more.
    """

    lane: str
    ns: int
    alone = True
    first = False
    turn: int | None = None
    behind: int | None = None
    rests = False

    @classmethod
    def of(cls, lane: str, ns: int) -> Moment:
        made = cls()
        made.lane, made.ns = lane, ns
        return made

    def arrive(self) -> None:
        """What it brought reaches the loop of this thread now, if one runs and its turns are counted."""
        self.turn = turns.since()
        if self.turn is not None:
            self.behind = turnplaces.behind(busy_lanes)


#: When the recordings of this process began, by their chains' ids: the newest ones'. One that goes on in its
#: log counts from its first beginning.
_began: dict[str, int] = {}
_MANY = 1024


class UnderWay:
    """The calls of one session that have begun and not ended, and the moment its recording began.

    Attributes:
        is_real: its moments are readings of `time.monotonic_ns`.
        aside: how many events it was told of, by lane, of those of what libraries do for themselves.
    """

    __slots__ = ("__weakref__", "_followed", "_leads", "_now", "_open", "aside", "is_real", "origin_ns")

    def __init__(self, clock: Clock) -> None:
        self._now = clock.monotonic_ns
        self.is_real = self._now is monotonic_ns
        self.origin_ns = clock.monotonic_ns()
        self._open: dict[Moment, None] = {}
        self.aside: dict[str, int] = {}
        self._followed: Callable[[], float] | None = None
        # (reading, ns): from it on what is followed was so far ahead of the clock. No lock: the handler of a
        # signal may come to `reading` while its thread is in it.
        self._leads: list[tuple[int, int]] = []
        _known.append(ref(self, _known.remove))

    def go_on(self, chain_id: str, found: bool) -> None:
        """The log is of that chain. `found`: it has events already."""
        if not self.is_real:
            return
        if found:
            self.origin_ns = _began.get(chain_id, self.origin_ns)
        elif len(_began) >= _MANY:
            del _began[next(iter(_began))]
        _began[chain_id] = self.origin_ns

    def begin(self) -> Moment:
        """A call begins, in the current lane. Tell `end` of it."""
        lane = lanes.current() if lanes.owning else lanes.raw()
        moment = Moment()  # made without a call of ours: every model call has one
        moment.lane = lane.path
        moment.ns = self._now() if self._followed is None else self.reading()
        if turns.active and lane is not SHARED:  # which others may have asked instead
            turns.crossing(lane)
        calls = self._open
        calls[moment] = None  # before looking: of two that begin at once, one sees both
        if len(calls) > 1:
            for other in list(calls):
                other.alone = False
        if lane.tool is None and lane is not SHARED and turns.is_first():
            moment.first = True
        return moment

    def end(self, moment: Moment, delivers: bool = True, at_once: bool = False) -> None:
        """It has ended. Not `delivers`: nothing reached the program then (a stream's pieces had before);
        `at_once`: what did was there when it was asked for."""
        if turns.counting and delivers and moment in self._open:
            if at_once:
                moment.turn = turns.AT_ONCE
            else:
                moment.arrive()
        self._open.pop(moment, None)

    def now(self) -> float:
        """Milliseconds from the beginning of the recording."""
        return self.ms(self.reading())

    def ms(self, ns: int) -> float:
        """A reading of the clock, in milliseconds from the beginning of the recording."""
        return (self._counted(ns) - self.origin_ns) // 1000 / 1000

    def between(self, began_ns: int, ended_ns: int) -> float:
        """Milliseconds from one reading of the clock to a later one."""
        return (self._counted(ended_ns) - self._counted(began_ns)) // 1000 / 1000

    def times(self, began_ns: int, readings: Iterable[int]) -> list[float]:
        """As `between`, of many."""
        if not self._leads:
            return [(ns - began_ns) // 1000 / 1000 for ns in readings]
        began = self._counted(began_ns)
        return [(self._counted(ns) - began) // 1000 / 1000 for ns in readings]

    def _counted(self, ns: int) -> int:
        leads = self._leads
        known = bisect_right(leads, (ns, inf)) if leads else 0
        return ns + leads[known - 1][1] if known else ns

    def reading(self) -> int:
        """The clock, for something that begins or ends now."""
        ns = self._now()
        if self._followed is not None:
            self.keep_behind(ns)
        return ns

    def keep_behind(self, ns: int) -> None:
        """What was read off the clock just now is behind what is followed, if anything is."""
        if self._followed is None:
            return
        # also where both are rounded to microseconds later
        ahead = self.origin_ns + round(self._followed() * 1e6) + 1000 - ns
        if ahead > (self._leads[-1][1] if self._leads else 0):
            insort(self._leads, (ns, ahead))

    def follow(self, moment: Callable[[], float]) -> None:
        """What happens from now on is behind `moment` (ms from the beginning): so long the recording had
        taken to come there, and a tape goes by faster. What has happened stays where it was."""
        self._followed = moment
        self.reading()

    def since(self, moment: Moment) -> float:
        """Milliseconds from the beginning of a call until now."""
        return self.between(moment.ns, self.reading())

    def fields(self, moment: Moment, always: bool) -> dict[str, Any]:
        """`lane` and `at` of its event; none where file order says it all, unless `always`."""
        made: dict[str, Any] = {}
        if moment.lane != "0":
            made["lane"] = moment.lane
            if moment.lane.endswith(".0"):
                self.aside[moment.lane] = self.aside.get(moment.lane, 0) + 1
        elif moment.alone and not always:
            return made
        made["at"] = self.ms(moment.ns)
        if moment.first:
            made["counted"] = True
        if moment.turn is not None:
            made["turn"] = moment.turn
        if moment.behind is not None:
            made["behind"] = moment.behind
        return made

    def lanes(self) -> set[str]:
        """In which a call is under way; not a stream that rests, where what the program does is its own."""
        return {moment.lane for moment in list(self._open) if not moment.rests}


#: Those of all sessions; appended to, copied and taken from in one step each, whatever other threads do.
_known: list[ref[UnderWay]] = []


def busy_lanes() -> set[str]:
    """In which a call is under way, in whichever session."""
    alive = (one() for one in list(_known))
    return set().union(*(one.lanes() for one in alive if one is not None))
