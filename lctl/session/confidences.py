"""Confidences as programs state them: numbers from 0 to 1.

Anything else is recorded as it was given, since a log says what happened, and gates and consensus pass it
over. Models say "85" or "high": that is worth a word, and no reason to fail.
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

from lctl import notices
from lctl.guard import guard

#: What has been said on standard error, once for each verb.
_told: set[str] = set()


def stated(value: Any, verb: str, fact: object) -> Any:
    """The number that it is, or `value` itself, of which a line on standard error tells.

    Args:
        verb: of the session's, for that line.
    """
    if value is None or (type(value) in (float, int) and 0 <= value <= 1):
        return value
    with guard("a confidence"):
        number = _number(value)
        if number is not None:
            return number
        if verb not in _told:
            _told.add(verb)
            what = f"{verb}({fact!r:.40}): confidence={value!r:.40}"
            notices.tell(f"lctl: {what} is no number from 0 to 1: gates and consensus pass it over\n")
    return value


def _number(value: Any) -> float | None:
    """Of a decimal, a fraction, a number of numpy's."""
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    try:
        number = float(value)
    except ArithmeticError:  # too large a number
        return None
    return number if 0 <= number <= 1 else None
