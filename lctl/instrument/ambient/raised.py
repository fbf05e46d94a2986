"""Reads that may raise, as one that somebody interrupts: the error is what was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from lctl.session.faithful import Unfaithful, decode, encode

T = TypeVar("T")
_KEY = "$raised"


class Raised(NamedTuple):
    """What was raised in the place of a value, and how the log has it."""

    error: BaseException
    told: Any


def caught(real: Callable[[], T]) -> T | Raised:
    """What `real` gives or raises; an error that the log cannot have goes on."""
    try:
        return real()
    except (Exception, KeyboardInterrupt) as error:
        try:
            return Raised(error, encode(error))
        except Unfaithful:
            pass
        raise


def encoded(value: Any) -> Any:
    """For `reads.read`; `decoded` likewise."""
    return {_KEY: value.told} if isinstance(value, Raised) else value


def decoded(value: Any) -> Any:
    if isinstance(value, dict) and _KEY in value:
        return Raised(decode(value[_KEY]), value[_KEY])
    return value


def given(value: T | Raised) -> T:
    if isinstance(value, Raised):
        raise value.error
    return value
