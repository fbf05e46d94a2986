"""Seeds of thousands of random histories, and other things that are many and much alike. LCTL_HISTORIES="1/3"
has those of a third of them, the second."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def seeds(start: int, stop: int) -> range:
    """As `range`; where a part is asked for, every n-th of them."""
    number, parts = _part("LCTL_HISTORIES")
    return range(start + number, stop, parts)


def examples(most: int) -> int:
    """How many examples hypothesis draws: where a part of the histories is asked for, so many fewer."""
    return most // _part("LCTL_HISTORIES")[1]


def some(all_there_are: Sequence[T], variable: str) -> Sequence[T]:
    """Those of the part that `variable` asks for, as LCTL_HISTORIES does."""
    number, parts = _part(variable)
    return all_there_are[number::parts]


def _part(variable: str) -> tuple[int, int]:
    number, _, parts = os.environ.get(variable, "").partition("/")
    return (int(number), int(parts)) if parts else (0, 1)
