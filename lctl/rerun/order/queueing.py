"""Threads do with the program's queues what they did, in order (`lctl.session.concurrency.queueorder`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lctl.rerun.order.parties import Blocked, Queued
from lctl.rerun.order.score import Violation
from lctl.session.concurrency import collector
from lctl.session.concurrency.queueorder import FINDS, KIND, Act

if TYPE_CHECKING:
    from lctl.rerun.order.livelanes import LiveLanes
    from lctl.rerun.order.stage import Stage
    from lctl.rerun.order.waiting import Key
    from lctl.session.concurrency.lane import Lane

#: Virtual milliseconds behind its recorded moment after which an act no longer waits for those before it.
_SLACK = 1000.0


class Line:
    """Those who act on one queue. Each waits until what was done before has been done: whoever does that lets
    the next go on. Where nobody does it and nothing else can happen (`Stage`), who waits goes on all the
    same; what was due before it is then out of order if it is done yet.

    A lane that did nothing more with the queue waits until all is done that was.

    Args:
        acts: in their order.
        mark: of the tape's lanes.
        since: virtual milliseconds before which nothing more is done, of a fork; it is held to no order then.
    """

    def __init__(
        self, stage: Stage, acts: Sequence[Act], mark: str, live: LiveLanes, since: float | None
    ) -> None:
        self._since = since
        self._stage = stage
        self._acts = acts
        self._mark = mark
        self._live = live
        self._head = 0
        self._gates = _gates(acts)
        self._over = bytearray(len(acts))
        self._left: dict[str, deque[int]] = {}
        for place, act in enumerate(acts):
            self._left.setdefault(act.lane, deque()).append(place)
        self._waiting: dict[int, list[Queued]] = {}
        self._late: dict[int, int] = {}  # place -> that which was passed over for

    def wait(self, lane: Lane) -> None:
        """Return when it is the turn of what `lane` does next."""
        end = len(self._acts)
        if lane in self._live or collector.runs_here():
            return
        if self._since is not None and not self._left.get(lane.path):
            self._stand_until(self._since)
        with self._stage.door:
            left = self._left.get(lane.path)
            at = left[0] if left else end
            place = self._gates[at]
            if place <= self._head or self._stage.over:
                return
            due = self._acts[min(at, end - 1)].ms if end else 0.0
            party = Queued(None, max(due, self._stage.pace.present()) + _SLACK)
            self._waiting.setdefault(place, []).append(party)
            self._stage.block(party)
        try:
            self._stage.stand(party)
        finally:
            with self._stage.door:
                waiting = self._waiting.get(place, [])
                if party in waiting:  # not let go on by those before it
                    waiting.remove(party)
                    if party.released and not self._stage.over:
                        self._pass_over(place)

    def _stand_until(self, ms: float) -> None:
        with self._stage.door:
            if self._stage.over or self._stage.pace.present() >= ms:
                return
            party = Blocked(None, ms)
            self._stage.block(party)
        self._stage.stand(party)

    def due(self, lane: Lane) -> str | None:
        """What it did here; None where it did nothing more, or is held to nothing."""
        with self._stage.door:
            left = None if lane in self._live else self._left.get(lane.path)
            return self._acts[left[0]].what if left else None

    def done(self, lane: Lane, what: str) -> None:
        """`lane` has done that."""
        with self._stage.door:
            left = self._left.get(lane.path)
            if not left:
                return
            place = left[0]
            if self._acts[place].what != what:
                self._give_up()
                return
            left.popleft()
            self._over[place] = 1
            passed = self._late.pop(place, None)
            if passed is not None:
                self._stage.violations.append(Violation(self._key(place), self._key(passed)))
            self._go_on()

    def _go_on(self) -> None:
        while self._head < len(self._acts) and self._over[self._head]:
            self._head += 1
        self._free(self._head)

    def _pass_over(self, place: int) -> None:
        for earlier in range(self._head, place):
            if not self._over[earlier]:
                self._over[earlier] = 1
                if place < len(self._acts):
                    self._late[earlier] = place
        self._go_on()

    def _give_up(self) -> None:
        """The program does something else: it is held to nothing any more."""
        self._left.clear()
        self._over = bytearray(b"\1" * len(self._acts))
        self._go_on()
        for place in list(self._waiting):
            self._free(place)

    def _free(self, place: int) -> None:
        for party in self._waiting.pop(place, ()):
            self._stage.blocked.pop(party.tid, None)
            if not party.released:
                party.release()

    def _key(self, place: int) -> Key:
        lane = self._acts[place].lane
        number = sum(act.lane == lane for act in self._acts[: place + 1])
        return (self._mark + lane, KIND, number, 0)


def _gates(acts: Sequence[Act]) -> list[int]:
    """Of each act, and of what comes behind all: all before this place are to be over. Those who find an
    event to be set, or not, wait for nobody who does so too."""
    gates, changed = [], 0
    for place, act in enumerate(acts):
        gates.append(changed if act.what in FINDS else place)
        if act.what not in FINDS:
            changed = place + 1
    return [*gates, len(acts)]
