"""The clocks: `time`, `datetime`, `date`.

`datetime.now` and its like are replaced in the type's own dict, so the types stay what they are:
`isinstance`, pickling, pydantic, subclasses and `from datetime import datetime` before or after see no
difference.
"""

from __future__ import annotations

import datetime as _datetime
import sys
import time as _time
import warnings
from collections.abc import Callable
from datetime import date, datetime, timezone
from types import FrameType
from typing import Any

from lctl.instrument.ambient import librarytime, logged, slots, stamps
from lctl.instrument.ambient.callers import own
from lctl.instrument.ambient.reads import read
from lctl.instrument.ambient.setclocks import GivingWay

_getframe = sys._getframe
_fromtimestamp = vars(datetime)["fromtimestamp"]
_UTC = timezone.utc  # noqa: UP017
_UTCNOW = (
    "datetime.datetime.utcnow() is deprecated and scheduled for removal in a future version. "
    "Use timezone-aware objects to represent datetimes in UTC: datetime.datetime.now(datetime.UTC)."
)

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
    if slots.can_replace_in_types():
        slots.replace_in_type(datetime, "now", _now())
        slots.replace_in_type(datetime, "utcnow", _utcnow())
        slots.replace_in_type(date, "today", _today())


def _seconds(ns: Callable[[], int]) -> Callable[[Any], Callable[..., Any]]:
    """`time.time`, from the nanoseconds: as CPython does, and integers are recorded in a loop's batches."""

    def make(original: Any) -> Callable[..., Any]:
        name = original.__name__
        key = f"time.{name}"

        def seconds(_: Any) -> float:
            reader = _getframe(1)
            frame = own(reader)
            if frame is None:
                seen = _seen(reader)
                if seen is not None:
                    return stamps.read(seen, reader, _reading(name, reader, ns)) / 1e9
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


def _seen(reader: FrameType) -> str | None:
    """Who says the time that a library reads here, if it comes to be seen: a logger, a module."""
    return stamps.stamped(reader) or logged.shown(reader)


def _nanoseconds(ns: Callable[[], int]) -> Callable[[Any], Callable[..., Any]]:
    def make(original: Any) -> Callable[..., Any]:
        name = original.__name__.removesuffix("_ns")
        key = f"time.{original.__name__}"

        def nanoseconds(_: Any) -> int:
            reader = _getframe(1)
            frame = own(reader)
            if frame is None:
                seen = _seen(reader)
                if seen is not None:
                    return stamps.read(seen, reader, _reading(name, reader, ns))
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
        if frame is None:
            return original(format, *when)  # type: ignore[no-any-return]
        return read("clock", "time.strftime", frame, lambda: original(format))  # type: ignore[no-any-return]

    return strftime


# -- datetime and date --------------------------------------------------------------------------


def _now() -> Any:
    original = vars(datetime)["now"]

    def real(cls: Any, tz: _datetime.tzinfo | None, reader: FrameType) -> Any:
        at = librarytime.wall(reader)
        return original.__get__(None, cls)(tz) if at is None else _fromtimestamp.__get__(None, cls)(at, tz)

    def now(cls: type[datetime], tz: _datetime.tzinfo | None = None) -> datetime:
        reader = _getframe(1)
        frame = own(reader)
        if frame is not None:
            return _tell(
                read("clock", "datetime.now", frame, lambda: real(cls, tz, frame), _wall, _moment(cls, tz))
            )
        seen = stamps.stamped(reader)
        if seen is None:
            return real(cls, tz, reader)  # type: ignore[no-any-return]
        return stamps.read(  # type: ignore[no-any-return]
            seen, reader, lambda: real(cls, tz, reader), _wall, _moment(cls, tz)
        )

    return classmethod(slots.like(now, original))


def _utcnow() -> Any:
    # Without the original, whose warning would name our line; the warning is given for the caller's.
    original, utcnow_ = vars(datetime)["now"], vars(datetime)["utcnow"]

    def utcnow(cls: type[datetime]) -> datetime:
        if sys.version_info >= (3, 12):
            warnings.warn(_UTCNOW, DeprecationWarning, stacklevel=2)

        def real() -> datetime:
            at = librarytime.wall(reader if frame is None else frame)
            if at is not None:
                return _utc(_fromtimestamp.__get__(None, cls)(at, _UTC))
            return _utc(original.__get__(None, cls)(_UTC))

        reader = _getframe(1)
        frame = own(reader)
        if frame is not None:
            value = read("clock", "datetime.utcnow", frame, real, _wall, _moment(cls, None))
            _tell(value.replace(tzinfo=_UTC))
            return value
        seen = stamps.stamped(reader)
        return real() if seen is None else stamps.read(seen, reader, real, _wall, _moment(cls, None))

    return classmethod(slots.like(utcnow, utcnow_))


def _today() -> Any:
    original = vars(date)["today"]

    def today(cls: type[date]) -> date:
        def real() -> Any:
            at = librarytime.wall(reader if frame is None else frame)
            return original.__get__(None, cls)() if at is None else cls.fromtimestamp(at)

        reader = _getframe(1)
        frame = own(reader)
        if frame is None:
            return real()  # type: ignore[no-any-return]
        if issubclass(cls, datetime):
            return read(  # type: ignore[no-any-return]
                "clock",
                "datetime.today",
                frame,
                real,
                _wall,
                _moment(cls, None),
            )
        return read("clock", "date.today", frame, real, _day, _date(cls))  # type: ignore[no-any-return]

    return classmethod(slots.like(today, original))


def _utc(value: datetime) -> datetime:
    return value.replace(tzinfo=None)


def _tell(value: datetime) -> datetime:
    if librarytime.kept is not None and type(value) is datetime:
        librarytime.tell("time", int(value.timestamp() * 1e9))
    return value


def _wall(value: datetime) -> str:
    """As the clock on the wall shows it: the time zone is the caller's."""
    text = value.replace(tzinfo=None).isoformat(timespec="microseconds")
    return text + "/1" if value.fold else text


def _moment(cls: type[datetime], tz: _datetime.tzinfo | None) -> Callable[[Any], datetime]:
    def made(value: Any) -> datetime:
        text, _, fold = str(value).partition("/")
        wall = datetime.fromisoformat(text).replace(fold=1 if fold else 0)
        if cls is datetime:
            return wall.replace(tzinfo=tz)
        fields = (wall.year, wall.month, wall.day, wall.hour, wall.minute, wall.second, wall.microsecond, tz)
        return cls(*fields, fold=1) if fold else cls(*fields)

    return made


def _day(value: date) -> str:
    return f"{value.year:04}-{value.month:02}-{value.day:02}"


def _date(cls: type[date]) -> Callable[[Any], date]:
    def made(value: Any) -> date:
        year, month, day = (int(part) for part in str(value).split("-"))
        return cls(year, month, day)

    return made
