"""Clocks that have no date, where a program leaves the tape: they go on from what it last read there.

Their zero is another one in each process (that of the machine's start, or of the program's own). Durations
and limits that the program began on the tape would be hours long behind it, or negative.
"""

from __future__ import annotations

from lctl.clock import STEADY_NS

_SUFFIX = "_ns"


class SteadyClocks:
    """`time.monotonic`, `perf_counter` and `process_time`, and their twins that give nanoseconds."""

    def __init__(self) -> None:
        #: By clock: the latest that the tape gave, and when it did.
        self._last: dict[str, tuple[int, int]] = {}

    def told(self, key: str, value: object) -> None:
        """The tape gave this for a clock."""
        name = key.removesuffix(_SUFFIX)
        real = STEADY_NS.get(name)
        if real is not None and type(value) is int and value >= self._last.get(name, (value, 0))[0]:
            self._last[name] = value, real()

    def on(self, key: str) -> int | None:
        """Nanoseconds, so far behind the tape's as the program came since; None: as the clock says."""
        name = key.removesuffix(_SUFFIX)
        if name not in self._last:
            return None
        value, then = self._last[name]
        return value + STEADY_NS[name]() - then
