"""Times as other programs write them, as the log has them."""

from __future__ import annotations

from datetime import UTC, datetime

from lctl.state.moments import moment
from lctl.values import real

#: Numbers from here on are milliseconds, microseconds, nanoseconds since the epoch; below, seconds.
_SCALES = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))


def stamp(value: object) -> str:
    """`2026-01-31T12:00:00.000000Z` of an ISO text or a number since the epoch; "" where it is neither."""
    at = _moment(value)
    if at is None:
        return ""
    try:
        return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ") if at.year >= 1000 else ""
    except (OverflowError, ValueError):
        return ""


def _moment(value: object) -> datetime | None:
    if isinstance(value, str):
        text = value.strip()
        return moment(text) or (_of_number(float(text)) if _is_number(text) else None)
    number = real(value)
    return None if number is None else _of_number(number)


def _of_number(number: float) -> datetime | None:
    if not number > 0:
        return None
    scale = next((divisor for least, divisor in _SCALES if number >= least), 1.0)
    try:
        return datetime.fromtimestamp(number / scale, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _is_number(text: str) -> bool:
    return text.isascii() and text.replace(".", "", 1).isdigit() and 9 <= len(text) <= 40
