"""Timestamps: which is earlier, and how long from one to another.

The span of a log is from its earliest timestamp to its latest, in whatever order they stand (the events'
order is by seq, and clocks are set back). Timestamps nobody can read are passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

#: (earliest, latest) timestamp; both None where there is none.
Span = tuple[str | None, str | None]

_MILLISECOND = timedelta(milliseconds=1)
_LENGTH = len("2026-01-01T00:00:00.000000Z")


def widened(span: Span, stamps: Sequence[str]) -> Span:
    """The span with some more timestamps in it.

    As the protocol writes them they order as texts, and in a log they nearly always ascend.
    """
    if not stamps:
        return span
    joined = "".join(stamps)
    if len(joined) == _LENGTH * len(stamps) and joined[_LENGTH - 1 :: _LENGTH] == "Z" * len(stamps):
        ordered = sorted(stamps)
        low, high = ordered[0], ordered[-1]
        first, last = span
        if first is not None and last is not None and _is_plain(first) and first <= low:
            if _is_plain(last) and last <= high and moment(high) is not None:
                return first, high  # as nearly always: later than what was
            low = first
        elif moment(low) is None:
            high = ""
        if moment(high) is not None:
            return _joined(span, (low, high))
    for stamp in stamps:
        if moment(stamp) is not None:
            span = _joined(span, (stamp, stamp))
    return span


def _joined(span: Span, other: Span) -> Span:
    first, last = span
    low, high = other
    if first is None or last is None:
        return other
    return (first if low is first or not _before(low, first) else low, high if _before(last, high) else last)


def _before(a: str | None, b: str | None) -> bool:
    if a is not None and b is not None and _is_plain(a) and _is_plain(b):
        return a < b
    one, other = moment(a), moment(b)
    return one is not None and other is not None and one < other


def _is_plain(stamp: str) -> bool:
    return len(stamp) == _LENGTH and stamp[-1] == "Z"


def moment(timestamp: object) -> datetime | None:
    """The time it says, in UTC where it names no zone; None if it cannot be read."""
    if not isinstance(timestamp, str):
        return None
    try:
        at = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def elapsed_ms(start: str | None, end: str | None) -> float | None:
    """Milliseconds between two timestamps, 0 if the second is earlier; None if one cannot be read."""
    one, other = moment(start), moment(end)
    if one is None or other is None:
        return None
    try:
        return max(0.0, (other - one) / _MILLISECOND)
    except OverflowError:
        return None
