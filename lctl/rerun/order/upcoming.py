"""What an event loop is to wait for in the turn that it is about to run.

How many turns lie between two things that reached a loop is recorded; a loop that has something to do runs
through its turns at once, so it stands still where the next is due. All here is called with the door shut,
or is a look that may be late by a turn.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from typing import TYPE_CHECKING, Any

from lctl.rerun.order.idleloop import idle_of
from lctl.rerun.order.moments import START, WAKES
from lctl.rerun.order.parties import Awaiting, Blocked, Ending, Held
from lctl.rerun.order.score import Score
from lctl.session.concurrency import turns
from lctl.session.concurrency.arrivals import OUTSIDE
from lctl.session.concurrency.lane import Lane
from lctl.session.concurrency.lanes import above
from lctl.session.concurrency.turnplaces import is_own, lane_of
from lctl.session.concurrency.underway import busy_lanes

if TYPE_CHECKING:
    from lctl.rerun.order.idleloop import IdleLoop

#: Places of the score looked at for what is to reach a loop in this turn.
AHEAD = 64
#: Of what reaches no loop just then: a request's leaving, the end of a job, a piece that was there.
_NO_TURN = (None, turns.AT_ONCE)
_ASKED = "sleep"  # for which those who come from outside wait


class _Busy:
    """Lanes in which calls are under way, and those with streams open of which spots do not count what is
    done between the pieces. Asked for those that are ready only: a log may have had thousands."""

    def __init__(self, busy: Container[str], score: Score) -> None:
        self._busy = busy
        self._score = score

    def __contains__(self, lane: object) -> bool:
        if not isinstance(lane, str):
            return False
        return lane in self._busy or self._score.next_at_once(lane) is not None


class Upcoming:
    """The next places of the score, as one loop sees them.

    Args:
        score: what is to come.
        waiting: who waits for what of it, by place; kept by the stage.

    Attributes:
        homes: by lanes, the event loop that each was last seen in; None for a thread.
        jobs: by lanes of pool jobs, the event loop that handed each in.
        counted: lanes of jobs from whose handing in on turns are counted.
    """

    def __init__(self, score: Score, waiting: dict[int, Blocked | Awaiting | Held]) -> None:
        self._score = score
        self._waiting = waiting
        self.homes: dict[str, Any] = {}
        self.jobs: dict[str, Any] = {}
        self.counted: Collection[str] = ()

    def note_job(self, lane: Lane) -> None:
        loop = turns.running()
        if loop is not None:
            self.jobs[lane.path] = loop
            idle = idle_of(loop) if lane.path in self.counted else None
            if idle is not None:
                idle.reached = idle.turn

    def is_due(self, loop: IdleLoop, together: bool) -> bool:
        """Whether the next that reaches this loop is to reach it in this turn, though it is not at rest: as
        many turns after the one before as in the recording. All before that are being waited for, or will be
        by threads whose jobs have been handed in.

        Args:
            together: something has reached it in this turn, which is to run before others do.
        """
        score = self._score
        threads = False
        for place in range(score.head, min(score.head + AHEAD, score.length)):
            if score.is_over(place):
                continue
            if self.is_asked(place):
                return self.is_asked_now(loop, together)  # what comes then is behind that
            if self.is_elsewhere(place, loop.loop):
                if together:
                    return False
                threads = True
                continue
            part = score.key(place)[3]
            if place not in self._waiting and not self._is_brought(place, threads):
                return False
            turn = score.turn(place)
            if together:
                return turn == 0
            if part == START:
                return True
            return turn is not None and loop.has_come(turn)
        return False

    def is_to_come(self, loop: IdleLoop) -> bool:
        """Whether the next of all is to reach this loop in a turn that it has yet to come to."""
        score = self._score
        party = self._waiting.get(score.head)
        if self.is_asked_next():
            return loop.has_files()  # which stands still then
        if not isinstance(party, Awaiting) or party.loop is not loop.loop:
            return False
        turn = score.turn(score.head)
        return turn not in (*_NO_TURN, turns.FAR) and not loop.has_come(turn or 0)

    def is_asked_now(self, loop: IdleLoop, together: bool) -> bool:
        """Whether the next of all is asked from outside, and reaches this loop, a server's, in this turn."""
        if not (self.is_asked_next() and loop.has_files()):
            return False
        turn = self._score.turn(self._score.head) or 0
        return turn == 0 if together or loop.reached == loop.turn else loop.has_come(turn)

    def is_asked_next(self) -> bool:
        """Whether that is the next of all, in a turn that is known: who asks may be getting ready to."""
        return self._score.head < self._score.length and self.is_asked_of_loop(self._score.head)

    def is_asked_of_loop(self, place: int) -> bool:
        """Whether somebody outside asks there, in a turn that is known."""
        return self.is_asked(place) and self._score.turn(place) not in (*_NO_TURN, turns.FAR)

    def is_asked(self, place: int) -> bool:
        """Whether somebody outside asks or says something there. It comes when all is at rest, and turns are
        counted from there on."""
        lane, kind, *_ = self._score.key(place)
        return kind == _ASKED and lane.endswith(OUTSIDE.path) and "." not in lane

    def _is_brought(self, place: int, threads: bool) -> bool:
        """Whether a thread brings it: that of a job that has been handed in, or (`threads`) one of those that
        come before it."""
        lane, kind, *_ = self._score.key(place)
        return kind in WAKES and (threads or lane in self.jobs)

    def is_elsewhere(self, place: int, loop: Any) -> bool:
        """Whether it is for a thread or for another loop than `loop` (asyncio's): who waits for it says so,
        whose job it is of, or where its lane was last seen."""
        party = self._waiting.get(place)
        if party is not None:
            return isinstance(party, Blocked) or party.loop is not loop
        lane, kind, *_ = self._score.key(place)
        if kind in WAKES:  # of a thread, and for the loop that handed the job in
            return self.jobs.get(lane, loop) is not loop
        while lane not in self.homes and lane not in self.jobs and "." in lane:
            lane = above(lane)
        return self.homes.get(lane, None if lane in self.jobs else loop) is not loop

    def reaches(self, place: int, loop: IdleLoop) -> bool:
        """Whether it is for this loop; also what somebody outside asks a server in it."""
        if self._score.turn(place) is not None and self.is_asked(place):
            return loop.has_files()
        return not self.is_elsewhere(place, loop.loop)

    def follows_in_turn(self, loop: IdleLoop, surely: bool) -> int | None:
        """The place of what reaches this loop next, if that is to be in this turn, when what has reached it
        has run, though others go on before; else None.

        Args:
            surely: all before it are being waited for, or will be by threads. Else they may be what is about
                to run: requests that it makes, which reach no loop, the ends of jobs that it hands in.
        """
        waiting, score = self._waiting, self._score
        threads = others = False
        for place in range(score.head, min(score.head + AHEAD, score.length)):
            if score.is_over(place):
                continue
            if self.is_asked(place):
                return place if loop.has_files() and self._is_now(loop, score.turn(place), others) else None
            if self.is_elsewhere(place, loop.loop):
                threads = True
                continue
            if place in waiting or self._is_brought(place, threads):
                return place if self._is_now(loop, score.turn(place), others) else None
            if surely:
                return None
            others = others or score.turn(place) not in _NO_TURN
        return None

    def spots(self, loop: IdleLoop, place: int) -> list[int]:
        """`place`, and what reaches this loop behind it in its turn: the first of each spot there."""
        score = self._score
        found, last = [place], score.spot(place)
        for other in range(place + 1, min(place + AHEAD, score.length)):
            turn = score.turn(other)
            if turn in _NO_TURN or score.is_over(other) or not self.reaches(other, loop):
                continue
            if turn != 0:
                break
            if score.spot(other).behind < last.behind:
                found.append(other)
                last = score.spot(other)
        return found

    def index(self, loop: IdleLoop, place: int) -> int:
        """Where among what is ready in this loop to put what comes at `place`. A spot has no count of what
        calls under way do: where they ask next for a piece that was there, or end because they have been
        cancelled, the score says who was first."""
        ready, spot = loop.loop._ready, self._score.spot(place)
        busy = _Busy(busy_lanes(), self._score)
        at = spot.place(ready, busy)
        if spot.ahead is not None or not at:
            return at
        end, ends = self._next_turn(loop, place), self._cancelled()
        for before in range(at - 1, -1, -1):
            lane = lane_of(ready[before])
            there = ends.get(lane, self._score.next_at_once(lane))
            if there is not None and place < there < end:
                at = before
            elif (there is not None and there < place) or is_own(ready[before], busy):
                break
        return at

    def _cancelled(self) -> dict[str, int]:
        """By lanes, the ends of calls that have been cancelled, and have yet to go on with that."""
        found = {}
        for place, party in self._waiting.items():
            if isinstance(party, Ending) and party.is_over():
                found[self._score.key(place)[0]] = place
        return found

    def ending(self, loop: IdleLoop, place: int) -> Ending | None:
        """Who waits at `place` to be cancelled, if that is to be in this turn and has not been yet: an answer
        had let it go on before, which is for it to find that it is cancelled, by what runs before it."""
        party, score = self._waiting.get(place), self._score
        if not isinstance(party, Ending) or party.is_over():
            return None
        due = loop.reached or 0
        for one in range(score.head, place + 1):
            if not score.is_over(one) and self.reaches(one, loop):
                due += max(score.turn(one) or 0, 0)
        return party if due == loop.turn else None

    def _next_turn(self, loop: IdleLoop, place: int) -> int:
        """The first place behind this one that reaches the loop in a later turn."""
        last = min(place + AHEAD, self._score.length)
        for other in range(place + 1, last):
            if (self._score.turn(other) or 0) > 0 and self.reaches(other, loop):
                return other
        return last

    def _is_now(self, loop: IdleLoop, turn: int | None, others: bool) -> bool:
        """Whether this turn is `turn` turns behind the one in which something last reached the loop. `others`
        may reach it before."""
        if others or loop.reached == loop.turn:
            return turn == 0
        return turn is not None and (turn == 0 or loop.has_come(turn))
