"""The clocks of `datetime` and `date`.

`datetime.now` and its like are replaced in the type's own dict, so the types stay what they are:
`isinstance`, pickling, pydantic, subclasses and `from datetime import datetime` before or after see no
difference.
"""

from __future__ import annotations

import datetime as _datetime
import sys
import warnings
from collections.abc import Callable
from datetime import date, datetime, timezone
from types import FrameType
from typing import Any

from lctl.instrument.ambient import librarytime, slots, stamps
from lctl.instrument.ambient.callers import own
from lctl.instrument.ambient.reads import read
from lctl.interrupts import step_out

_getframe = sys._getframe
_fromtimestamp = vars(datetime)["fromtimestamp"]
_UTC = timezone.utc  # noqa: UP017
_UTCNOW = (
    "datetime.datetime.utcnow() is deprecated and scheduled for removal in a future version. "
    "Use timezone-aware objects to represent datetimes in UTC: datetime.datetime.now(datetime.UTC)."
)


def replace() -> None:
    """Where the interpreter lets a type's dict be written."""
    if slots.can_replace_in_types():
        slots.replace_in_type(datetime, "now", _now())
        slots.replace_in_type(datetime, "utcnow", _utcnow())
        slots.replace_in_type(date, "today", _today())


def _now() -> Any:
    original = vars(datetime)["now"]

    def real(cls: Any, tz: _datetime.tzinfo | None, reader: FrameType) -> Any:
        at = librarytime.wall(reader)
        return original.__get__(None, cls)(tz) if at is None else _fromtimestamp.__get__(None, cls)(at, tz)

    def now(cls: type[datetime], tz: _datetime.tzinfo | None = None) -> datetime:
        try:
            return moment(cls, tz, _getframe(1))  # type: ignore[no-any-return]
        except BaseException as error:  # a time zone that is none, or that raises
            step_out(error)
            raise

    def moment(cls: type[datetime], tz: _datetime.tzinfo | None, reader: FrameType) -> Any:
        frame = own(reader)
        if frame is not None:
            return _tell(
                read("clock", "datetime.now", frame, lambda: real(cls, tz, frame), _wall, _moment(cls, tz))
            )
        seen = stamps.stamped(reader)
        if seen is None:
            return real(cls, tz, reader)
        return stamps.read(seen, reader, lambda: real(cls, tz, reader), _wall, _moment(cls, tz))

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
