"""Where time and ids come from. Everything that records takes them as arguments; the defaults are here.

What lctl itself reads of clocks it reads by functions of its own: a program that replaces `time.time` (or a
rerun that serves recorded clocks) does not change it, nor does what looks for `time`'s in every module, as
freezegun does.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from os import urandom as _urandom
from typing import Any, Protocol

_UTC = timezone.utc  # noqa: UP017  (one attribute fewer on the recording path)
_from_timestamp = datetime.fromtimestamp


def _second_time() -> Any:
    """Another `time`, with other functions that do the same."""
    import time

    try:
        loader: Any = time.__loader__
        made = loader.create_module(time.__spec__)
        loader.exec_module(made)
        return made
    except Exception:  # an interpreter that has only one
        return time


_time = _second_time()
time_ns: Callable[[], int] = _time.time_ns
monotonic_ns: Callable[[], int] = _time.monotonic_ns
monotonic: Callable[[], float] = _time.monotonic
sleep: Callable[[float], None] = _time.sleep
urandom: Callable[[int], bytes] = _urandom

#: Clocks without a date, by the names that programs read them by, in nanoseconds.
STEADY_NS: dict[str, Callable[[], int]] = {
    "time.monotonic": _time.monotonic_ns,
    "time.perf_counter": _time.perf_counter_ns,
    "time.process_time": _time.process_time_ns,
}


class Clock(Protocol):
    """Two readings: when something happened, and how long it took."""

    @property
    def now(self) -> Callable[[], str]:
        """UTC wall time as the protocol writes it: `2024-01-15T10:30:00.123456Z`. A plain method will do."""
        ...

    def monotonic_ns(self) -> int:
        """Nanoseconds of a clock that never goes back; only differences mean anything."""
        ...


#: "000Z" to "999Z": the last digits of a timestamp, ready made.
_MICROSECONDS = tuple(f"{n:03d}Z" for n in range(1000))


class SystemClock:
    """The real clocks."""

    __slots__ = ("_read",)

    def __init__(self) -> None:
        self._read = _wall_time()

    @property
    def now(self) -> Callable[[], str]:
        return self._read

    #: The function itself: a method around it would be a call more in every event's life.
    monotonic_ns = staticmethod(monotonic_ns)


def _wall_time() -> Callable[[], str]:
    """A `Clock.now`. It keeps the text of the current millisecond: a reading inside it adds three digits.

    A closure, as every event is stamped by it: 110 ns against 150 as a method, 400 formatting it all.
    """
    second_ns = millisecond_ns = 0
    second = millisecond = ""

    def now() -> str:
        try:
            return millisecond + _MICROSECONDS[(time_ns() - millisecond_ns) // 1000]
        except IndexError:  # the millisecond is over
            return turn()

    def turn() -> str:
        nonlocal second, second_ns, millisecond, millisecond_ns
        ns = time_ns()
        if not 0 <= ns - second_ns < 1_000_000_000:
            whole = ns // 1_000_000_000
            text = _from_timestamp(whole, _UTC).strftime("%Y-%m-%dT%H:%M:%S.")
            second, second_ns = text, whole * 1_000_000_000
        passed, rest = divmod(ns - second_ns, 1_000_000)
        text = f"{second}{passed:03d}"
        # Nothing can come between these two stores: threads switch at calls and jumps only.
        millisecond, millisecond_ns = text, ns - rest
        return text + _MICROSECONDS[rest // 1000]

    return now


class IdSource(Protocol):
    """Makes identifiers that are unique enough for one chain among all chains of a user."""

    def chain_id(self, name: str) -> str: ...


class SystemIds:
    """`<name>-<UTC time to the second>-<6 hex digits>`: sorts by time, says what it is."""

    def chain_id(self, name: str) -> str:
        stamp = _from_timestamp(time_ns() // 1_000_000_000, _UTC).strftime("%Y%m%d-%H%M%S")
        return f"{name}-{stamp}-{_urandom(3).hex()}"


system_clock = SystemClock()
system_ids = SystemIds()
