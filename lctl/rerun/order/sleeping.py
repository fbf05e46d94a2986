"""Who sleeps again and again, and looks each time what others have made of something meanwhile."""

from __future__ import annotations

from time import process_time

from lctl.rerun.order.score import Score

#: What others have to compute meanwhile, of what they had time for: a machine may be faster than that of the
#: recording, and who sleeps is let go on late where they hold the interpreter.
_PART = 0.2


class Sleeping:
    """How long others compute while somebody sleeps, in one rerun.

    What they do is not recorded: a flag is set, or a thread ends. Sleeps take no time, and would each last
    until all is done. So a sleep that another one follows is over when its time has been computed, as in the
    recording it went on beside. The last one lasts until all are at rest: what it waited for is done.
    """

    def __init__(self, score: Score) -> None:
        self._score = score
        self._next = -1
        self._used = self._at = 0.0

    def is_over(self, place: int, now: float) -> bool:
        """Whether the sleep that ends at this place is, though others compute.

        Args:
            now: ms from the recording's origin.
        """
        if not self._goes_on(place):
            return False
        used = process_time() * 1000
        if place != self._next:
            self._used, self._at = used, now
        is_over = used - self._used >= _PART * (self._score.at(place) - self._at)
        self._next = place + is_over
        return is_over

    def _goes_on(self, place: int) -> bool:
        """Whether it is one of several, and nothing else comes in between: nor before, of what another thread
        may yet have to record."""
        score = self._score
        if not score.spot(place).again or place + 1 >= score.length:
            return False
        lane, kind, number, _ = score.key(place)
        is_after_own = place == 0 or score.key(place - 1)[0] == lane
        return is_after_own and score.key(place + 1)[:3] == (lane, kind, number + 1)
