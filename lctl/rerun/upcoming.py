"""What an event loop is to wait for in the turn that it is about to run.

How many turns lie between two things that reached a loop is recorded; a loop that has something to do runs
through its turns at once, so it stands still where the next is due. All here is called with the door shut,
or is a look that may be late by a turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lctl.rerun.ordering import START
from lctl.rerun.parties import Awaiting, Blocked, Held
from lctl.rerun.score import Score
from lctl.session import turns
from lctl.session.lanes import Lane
from lctl.session.turns import FAR

if TYPE_CHECKING:
    from lctl.rerun.virtualtime import IdleLoop

#: Places of the score looked at for what is to reach a loop in this turn.
AHEAD = 16


class Upcoming:
    """The next places of the score, as one loop sees them.

    Args:
        score: what is to come.
        waiting: who waits for what of it, by place; kept by the stage.

    Attributes:
        homes: by lanes, the event loop that each was last seen in; None for a thread.
        jobs: by lanes of pool jobs, the event loop that handed each in.
    """

    def __init__(self, score: Score, waiting: dict[int, Blocked | Awaiting | Held]) -> None:
        self._score = score
        self._waiting = waiting
        self.homes: dict[str, Any] = {}
        self.jobs: dict[str, Any] = {}

    def note_job(self, lane: Lane) -> None:
        loop = turns.running()
        if loop is not None:
            self.jobs[lane.path] = loop

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
            if self.is_elsewhere(place, loop.loop):
                if together:
                    return False
                threads = True
                continue
            _, kind, _, part = score.key(place)
            if place not in self._waiting and not (kind == "wake" and threads):
                return False  # else one of the threads brings it
            turn = score.turn(place)
            if together:
                return turn == 0
            if part == START:
                return True
            if turn is None or turn >= FAR or loop.reached is None:
                return False
            return loop.turn >= loop.reached + turn
        return False

    def is_elsewhere(self, place: int, loop: Any) -> bool:
        """Whether it is for a thread or for another loop than `loop` (asyncio's): who waits for it says so,
        whose job it is of, or where its lane was last seen."""
        party = self._waiting.get(place)
        if party is not None:
            return isinstance(party, Blocked) or party.loop is not loop
        lane, kind, *_ = self._score.key(place)
        if kind == "wake":  # of a thread, and for the loop that handed the job in
            return self.jobs.get(lane, loop) is not loop
        while lane not in self.homes and lane not in self.jobs and "." in lane:
            lane = lane.rpartition(".")[0]
        return self.homes.get(lane, None if lane in self.jobs else loop) is not loop

    def follows_in_turn(self, loop: IdleLoop, surely: bool) -> int | None:
        """The place of what reaches this loop next, if that is to be in this turn, when what has reached it
        has run, though others go on before; else None.

        Args:
            surely: all before it are being waited for, or will be by threads. Else they may be what is about
                to run.
        """
        waiting, score = self._waiting, self._score
        threads = False
        for place in range(score.head, min(score.head + AHEAD, score.length)):
            if score.is_over(place):
                continue
            if self.is_elsewhere(place, loop.loop):
                threads = True
                continue
            if place in waiting or (threads and score.key(place)[1] == "wake"):
                return place if score.turn(place) == 0 else None
            if surely:
                return None
        return None
