"""Where the lanes of a program run, in which event loop or thread, and who of one loop goes on first.

Called with the door shut, as all of the `Stage` is.
"""

from __future__ import annotations

from typing import Any

from lctl.rerun.order.idleloop import idle_of
from lctl.rerun.order.moments import END, RESUMED, START
from lctl.rerun.order.parties import Awaiting
from lctl.rerun.order.stage import Stage
from lctl.rerun.order.upcoming import AHEAD
from lctl.rerun.order.waiting import Key
from lctl.session.concurrency.lanes import above
from lctl.session.concurrency.turns import FAR


class Homes:
    """What is known of where each lane runs.

    Attributes:
        suspended: places of coroutines that wait or have not gone on yet, and their loops.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._score = stage.score
        self._upcoming = stage.upcoming
        self._homes = stage.upcoming.homes
        self.suspended: dict[int, Any] = {}

    def settle(self, lane: str, loop: Any) -> None:
        """Note where a lane runs; and what it came of, if that was not heard of yet: a pool's job of where it
        was handed in."""
        self._homes[lane] = loop
        below, up = lane, above(lane)
        while "." in up and up not in self._homes:
            loop = self._homes[up] = self._upcoming.jobs.get(below, loop)
            below, up = up, above(up)

    def goes_on(self, key: Key, place: int, loop: Any) -> bool:
        """Whether the running task makes this call, the next of its loop, without giving that a turn: it did
        so in the recording, though other tasks were ready. Not while one that was let go on has yet to."""
        score, waiting = self._score, self._stage.waiting
        if key[3] != START or place - score.head > AHEAD:
            return False
        if not all(one in waiting for one, its in self.suspended.items() if its is loop):
            return False
        before = [one for one in range(score.head, place) if not score.is_over(one)]
        return all(
            (score.key(one)[0] == key[0] and one not in waiting) or self._upcoming.is_elsewhere(one, loop)
            for one in before
        )

    def turns_until_end(self, place: int, loop: Any, first: bool) -> int | None:
        """In how many turns a call of this loop that has been cancelled is to end: by the turns of what is to
        reach the loop before it. None if that is not known.

        Args:
            first: it goes before other such ends; else their order counts, too.
        """
        score, idle = self._score, idle_of(loop)
        if idle is None:
            return None
        turns = 0
        for one in range(score.head, place + 1):
            if score.is_over(one) or not self._upcoming.reaches(one, idle):
                continue
            turn, part = score.turn(one), score.key(one)[3]
            if turn == FAR or (turn is None and part not in (START, RESUMED)):
                return None
            if part == END and one < place and not first:
                return None
            turns += max(turn or 0, 0)
        return max(0, (idle.reached or 0) + turns - idle.turn)

    def keeps_own(self, place: int, loop: Any) -> bool:
        """Whether something before it is for a coroutine of this loop, which cannot hear of it while its
        thread stands here. By the clocks that came before, but nobody had looked."""
        score, waiting = self._score, self._stage.waiting
        for one in range(score.head, place):
            party = None if score.is_over(one) else waiting.get(one)
            if isinstance(party, Awaiting) and party.loop is loop:
                return True
        return False

    def follows_threads(self, place: int, loop: Any) -> bool:
        """Whether all that comes first is for other threads, and something is."""
        score = self._score
        before = [one for one in range(score.head, place) if not score.is_over(one)]
        return bool(before) and all(self._upcoming.is_elsewhere(one, loop) for one in before)

    def is_behind_own(self, place: int, lane: str, loop: Any) -> bool:
        """Whether something of another lane of this loop comes first."""
        score = self._score
        before = (one for one in range(score.head, place) if not score.is_over(one))
        return any(score.key(one)[0] != lane and not self._upcoming.is_elsewhere(one, loop) for one in before)
