"""A rerun of a server in which nothing that is on the tape happens any more: it stops, saying what was next.

Threads of the program that look around for ever (watchers of files) are no sign of life, so it is looked
whether anything recorded was asked for, or delivered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from time import (  # in real time, as this is imported before a rerun puts others in their place
    monotonic,
    process_time,
    sleep,
)

from lctl.rerun.order.unasked import is_debugged

#: Real seconds between two looks, and for which nothing recorded has happened.
_BEAT, _LASTING = 0.5, 25.0
#: The share of a processor from which on the program computes something, which may take long.
_MUCH = 0.5
_LATE = (
    "for {seconds:.0f} seconds nothing that was recorded has happened again, and the program goes on: {next}"
)


class Lateness:
    """That of one rerun, looked for by a thread.

    Args:
        progress: how far the deliveries of the tape have come.
        unused: what is on the tape, and was not asked for yet.
        gap: recorded seconds to the next delivery.
        upcoming: what is to be asked or done next, for people.
    """

    def __init__(
        self,
        progress: Callable[[], int],
        unused: Callable[[], Collection[str]],
        gap: Callable[[], float],
        upcoming: Callable[[], str],
    ) -> None:
        self._progress = progress
        self._unused = unused
        self._gap = gap
        self._upcoming = upcoming

    def watch(self, refuse: Callable[[str], object]) -> None:
        """Until it is so; `refuse` is told why the rerun is to stop."""
        seen: tuple[int, int, str] | None = None
        since, used = monotonic(), process_time()
        while True:
            sleep(_BEAT)
            now, computed = (self._progress(), len(self._unused()), self._upcoming()), process_time()
            if now != seen or computed - used > _MUCH * _BEAT:
                seen, since = now, monotonic()
            used = computed
            late = monotonic() - since
            if late > _LASTING + self._gap() and not is_debugged():
                refuse(_LATE.format(seconds=late, next=self._upcoming()))
                return
