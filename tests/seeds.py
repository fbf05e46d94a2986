"""Seeds of thousands of random histories, and other things that are many and much alike. LCTL_HISTORIES="1/3"
has those of a third of them, the second. What is asked for is read as the tests are loaded: many of them run
without variables of lctl."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")
_ASKED = dict(os.environ)
#: Which examples each property is tried with; None: always the same. (LCTL_EXAMPLES: 0, 1, 2, ...)
CHOSEN = int(_ASKED["LCTL_EXAMPLES"]) if _ASKED.get("LCTL_EXAMPLES") else None


def seeds(start: int, stop: int) -> range:
    """As `range`; where a part is asked for, every n-th of them."""
    number, parts = _part("LCTL_HISTORIES")
    return range(start + number, stop, parts)


def examples(most: int) -> int:
    """How many examples hypothesis draws: where a part of the histories is asked for, so many fewer."""
    return most // _part("LCTL_HISTORIES")[1]


def tries(most: int) -> int:
    """How many examples each run has of those for which a property is written: two fifths, of which CI has
    others for another commit (LCTL_EXAMPLES); all of them with HYPOTHESIS_PROFILE=explore."""
    return most if _ASKED.get("HYPOTHESIS_PROFILE") == "explore" else most * 2 // 5


def some(all_there_are: Sequence[T], variable: str) -> Sequence[T]:
    """Those of the part that `variable` asks for, as LCTL_HISTORIES does; the last one, if that has none."""
    number, parts = _part(variable)
    return all_there_are[number::parts] or all_there_are[-1:]


def variants(keys: Iterable[object]) -> list[bool]:
    """Of tests by what each is a variant of, in their order: whether it is of the part that LCTL_SAMPLE asks
    for, as LCTL_HISTORIES does. Tests of few variants are, all of them."""
    number, parts = _part("LCTL_SAMPLE")
    seen: Counter[object] = Counter()
    keys = list(keys)
    many = {key for key, count in Counter(keys).items() if count >= 2 * parts}
    taken = []
    for key in keys:
        taken.append(parts == 1 or key not in many or seen[key] % parts == number)
        seen[key] += 1
    return taken


def each(names: Iterable[str]) -> list[bool]:
    """Of tests by their names: whether it is of the part that LCTL_EACH asks for, as LCTL_HISTORIES does. It
    is however many others there are: one that failed is tried again alone."""
    number, parts = _part("LCTL_EACH")
    return [crc32(name.encode()) % parts == number for name in names]


def _part(variable: str) -> tuple[int, int]:
    number, _, parts = _ASKED.get(variable, "").partition("/")
    return (int(number), int(parts)) if parts else (0, 1)
