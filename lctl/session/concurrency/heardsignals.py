"""Signals that come again in a rerun, and those that come beside them."""

from __future__ import annotations

from collections import Counter, defaultdict, deque

from lctl.session.concurrency import processes
from lctl.session.concurrency.lane import Lane

#: In which signals from outside are heard.
LANE = Lane("s")

#: In a rerun: so many of each number are on the tape, and whoever sent them may do so again.
recorded: Counter[int] = Counter()
#: Of those, which are about to come as they had: where that was (see `place` of `ambient` events).
coming: defaultdict[int, deque[str | None]] = defaultdict(deque)


def is_beside(number: int) -> bool:
    """Whether one that has come is none of those that come again, and is not for the program."""
    if coming[number] or not recorded[number]:
        return False
    recorded[number] -= 1
    return True


processes.renewals += (recorded.clear, coming.clear)
