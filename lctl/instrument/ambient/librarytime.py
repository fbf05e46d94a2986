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

    def is_asked(self, reader: FrameType) -> bool:
        """Whether the code of `reader` goes by it; other code goes by the world's."""
        ...

    def elapsed(self) -> int: ...

    def wall(self, reader: FrameType) -> int: ...

    def told(self, wall: int) -> None:
        """The program has read that of a clock on the wall."""
        ...


#: Of the rerun of this process.
kept: LibraryTime | None = None


def read(clock: str, reader: FrameType, real: Callable[[], int]) -> int:
    """What `clock` (a function of `time`, by the name of that which gives seconds) says to `reader`."""
    if kept is not None and (clock == _WALL or clock in _ELAPSED) and kept.is_asked(reader):
        return kept.wall(reader) if clock == _WALL else kept.elapsed()
    return real()


def wall(reader: FrameType) -> float | None:
    """Seconds on the wall's clock that `reader` goes by; None: the world's."""
    if kept is None or not kept.is_asked(reader):
        return None
    return kept.wall(reader) / 1e9


def tell(clock: str, value: int) -> None:
    """The program has read `value` of `clock`."""
    if kept is not None and clock == _WALL:
        kept.told(value)
