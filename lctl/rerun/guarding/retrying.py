"""A program that asks again and again for a place that a rerun refuses: a worker waits for its broker so.

Nothing on the tape will bring it further. That is certain enough where one place was refused several times,
over seconds, and nothing came from the tape meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from lctl.clock import monotonic

_TIMES = 3
#: Real seconds between the first of them and the last.
_LASTING = 8.0


class _First(NamedTuple):
    served: int
    at: float
    times: int


class Retrying:
    """That of one process.

    Args:
        served: how much came from the tape so far.
        act: is told the place and its host; what it returns is raised.
    """

    def __init__(self, served: Callable[[], int], act: Callable[[str, str], BaseException]) -> None:
        self._served = served
        self._act = act
        self._first: dict[str, _First] = {}
        self._lock = threading.Lock()

    def refused(self, place: str, host: str) -> BaseException | None:
        """What ends the rerun, if it is to end."""
        served, now = self._served(), monotonic()
        with self._lock:
            first = self._first.get(place)
            if first is None or first.served != served:
                first = _First(served, now, 0)
            self._first[place] = first = first._replace(times=first.times + 1)
        lasts = first.times >= _TIMES and now - first.at >= _LASTING
        return self._act(place, host) if lasts else None


def text_of(place: str, host: str) -> str:
    """What whoever started the rerun is told."""
    return (
        f"the program asks for {place} again and again, and waits for it:\n"
        "  what comes from there is not on the tape (a broker or a database: no HTTP), and a rerun connects\n"
        "  to nothing. To run a worker's job again, record a program that calls the job itself; or let it\n"
        f"  happen with --allow network:{host}"
    )
