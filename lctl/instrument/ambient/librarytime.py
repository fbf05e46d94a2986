"""What clocks say to libraries, where a rerun has a time of its own for them.

A recording has none: there libraries read the world's clocks, and so does the program where its reads are not
recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Protocol

_WALL = "time"
_ELAPSED = ("monotonic", "perf_counter")


class LibraryTime(Protocol):
    """The time of a rerun. All in nanoseconds."""

    def elapsed(self, reader: FrameType) -> int | None:
        """None: the code of `reader` goes by the world's."""
        ...

    def wall(self, reader: FrameType) -> int | None:
        """Likewise."""
        ...

    def unrecorded(self, reader: FrameType) -> int | None:
        """As `wall`, of what the program's own code reads, too, where no recording has that."""
        ...

    def told(self, wall: int) -> None:
        """The program has read that of a clock on the wall."""
        ...


#: Of the rerun of this process.
kept: LibraryTime | None = None


def read(clock: str, reader: FrameType, real: Callable[[], int]) -> int:
    """What `clock` (a function of `time`, by the name of that which gives seconds) says to `reader`."""
    said = None
    if kept is not None:
        if clock == _WALL:
            said = kept.wall(reader)
        elif clock in _ELAPSED:
            said = kept.elapsed(reader)
    return real() if said is None else said


def wall(reader: FrameType) -> float | None:
    """Seconds on the wall's clock that `reader` goes by; None: the world's."""
    said = None if kept is None else kept.wall(reader)
    return None if said is None else said / 1e9


def tell(clock: str, value: int) -> None:
    """The program has read `value` of `clock`."""
    if kept is not None and clock == _WALL:
        kept.told(value)
