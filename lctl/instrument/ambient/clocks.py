"""The clocks: those of `time` here, and with them those of `datetime` (see `dates`)."""

from __future__ import annotations

import sys
import time as _time
from collections.abc import Callable
from types import FrameType
from typing import Any

from lctl.instrument.ambient import dates, librarytime, logged, slots, stamps
from lctl.instrument.ambient.callers import own
from lctl.instrument.ambient.reads import read
from lctl.instrument.ambient.setclocks import GivingWay
from lctl.interrupts import step_out

_getframe = sys._getframe

#: Functions of `time` that give seconds, with their twins that give nanoseconds.
_SECONDS = {
    "time": "time_ns",
    "monotonic": "monotonic_ns",
    "perf_counter": "perf_counter_ns",
    "process_time": "process_time_ns",
    "thread_time": "thread_time_ns",
}
_installed = False


def install() -> None:
    """Idempotent."""
    global _installed
    if not _installed:
        _installed = True
        slots.on_undo(_uninstalled)
        GivingWay(_replace).install()


def _uninstalled() -> None:
    global _installed
    _installed = False


def _replace() -> None:
    for seconds, nanoseconds in _SECONDS.items():
        ns = getattr(_time, nanoseconds, None)
        if ns is not None:
            slots.replace_builtin(_time, seconds, _seconds(ns))
            slots.replace_builtin(_time, nanoseconds, _nanoseconds(ns))
    ns = getattr(_time, "clock_gettime_ns", None)  # not on Windows
    if ns is not None:
        slots.replace_builtin(_time, "clock_gettime", _named_seconds(ns))
        slots.replace_builtin(_time, "clock_gettime_ns", _named_nanoseconds)
    for name in ("localtime", "gmtime"):
        slots.replace_builtin(_time, name, _broken_down)
    slots.replace_builtin(_time, "ctime", _ctime)
    slots.replace_builtin(_time, "asctime", _asctime)
    slots.replace_builtin(_time, "strftime", _strftime)
    dates.replace()


def _seconds(ns: Callable[[], int]) -> Callable[[Any], Callable[..., Any]]:
    """`time.time`, from the nanoseconds: as CPython does, and integers are recorded in a loop's batches."""

    def make(original: Any) -> Callable[..., Any]:
        name = original.__name__
        key = f"time.{name}"

        def seconds(_: Any) -> float:
            reader = _getframe(1)
            frame = own(reader)
            if frame is None:
                seen = _seen(reader, name)
                if seen is not None:
                    return stamps.read_steady(seen, name, reader, _reading(name, reader, ns)) / 1e9
                return original() if librarytime.kept is None else librarytime.read(name, reader, ns) / 1e9
            if librarytime.kept is None:
                return read("clock", key, frame, ns) / 1e9
            return _in_rerun(name, key, frame, ns) / 1e9

        return seconds

    return make


def _reading(clock: str, reader: FrameType, ns: Callable[[], int]) -> Callable[[], int]:
    return ns if librarytime.kept is None else lambda: librarytime.read(clock, reader, ns)


def _in_rerun(clock: str, key: str, frame: FrameType, ns: Callable[[], int]) -> int:
    """What the program reads, by which libraries go too."""
    value = read("clock", key, frame, _reading(clock, frame, ns))
    librarytime.tell(clock, value)
    return value


def _seen(reader: FrameType, clock: str) -> str | None:
    """Who says the time that a library reads here, if it comes to be seen: a logger, a module."""
    return stamps.stamped(reader, clock) or logged.shown(reader)


def _nanoseconds(ns: Callable[[], int]) -> Callable[[Any], Callable[..., Any]]:
    def make(original: Any) -> Callable[..., Any]:
        name = original.__name__.removesuffix("_ns")
        key = f"time.{original.__name__}"

        def nanoseconds(_: Any) -> int:
            reader = _getframe(1)
            frame = own(reader)
            if frame is None:
                seen = _seen(reader, name)
                if seen is not None:
                    return stamps.read_steady(seen, name, reader, _reading(name, reader, ns))
                return ns() if librarytime.kept is None else librarytime.read(name, reader, ns)
            if librarytime.kept is None:
                return read("clock", key, frame, ns)
            return _in_rerun(name, key, frame, ns)

        return nanoseconds

    return make


def _named_seconds(ns: Callable[[int], int]) -> Callable[[Any], Callable[..., Any]]:
    def make(original: Any) -> Callable[..., Any]:
        def clock_gettime(_: Any, clk_id: int, /) -> float:
            frame = own(_getframe(1))
            if frame is None or type(clk_id) is not int:
                return original(clk_id)  # type: ignore[no-any-return]
            key = f"time.clock_gettime({clk_id})"
            return read("clock", key, frame, lambda: ns(clk_id)) / 1e9

        return clock_gettime

    return make


def _named_nanoseconds(original: Any) -> Callable[..., Any]:
    def clock_gettime_ns(_: Any, clk_id: int, /) -> int:
        frame = own(_getframe(1))
        if frame is None or type(clk_id) is not int:
            return original(clk_id)  # type: ignore[no-any-return]
        key = f"time.clock_gettime_ns({clk_id})"
        return read("clock", key, frame, lambda: original(clk_id))  # type: ignore[no-any-return]

    return clock_gettime_ns


def _broken_down(original: Any) -> Callable[..., Any]:
    key = f"time.{original.__name__}"

    def broken_down(_: Any, seconds: float | None = None, /) -> _time.struct_time:
        reader = _getframe(1)
        frame = own(reader) if seconds is None else None
        if frame is None:
            at = librarytime.wall(reader) if seconds is None else seconds
            return original(at)  # type: ignore[no-any-return]
        return read(  # type: ignore[no-any-return]
            "clock", key, frame, lambda: original(librarytime.wall(frame)), _fields, _struct
        )

    return broken_down


def _fields(value: _time.struct_time) -> list[Any]:
    return [*value, value.tm_zone, value.tm_gmtoff]


def _struct(value: list[Any]) -> _time.struct_time:
    return _time.struct_time(tuple(value))


def _ctime(original: Any) -> Callable[..., Any]:
    def ctime(_: Any, seconds: float | None = None, /) -> str:
        frame = own(_getframe(1)) if seconds is None else None
        if frame is None:
            return original(seconds)  # type: ignore[no-any-return]
        return str(read("clock", "time.ctime", frame, original))

    return ctime


def _asctime(original: Any) -> Callable[..., Any]:
    def asctime(_: Any, *when: Any) -> str:
        frame = None if when else own(_getframe(1))
        if frame is None:
            return original(*when)  # type: ignore[no-any-return]
        return str(read("clock", "time.asctime", frame, original))

    return asctime


def _strftime(original: Any) -> Callable[..., Any]:
    def strftime(_: Any, format: str, *when: Any) -> str:
        frame = None if when else own(_getframe(1))
        try:
            if frame is None:
                return original(format, *when)  # type: ignore[no-any-return]
            return read("clock", "time.strftime", frame, lambda: original(format))  # type: ignore[no-any-return]
        except BaseException as error:
            step_out(error)
            raise

    return strftime
