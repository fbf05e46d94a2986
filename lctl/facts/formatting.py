"""`printf()` of queries: SQLite's own, which fills a width of any size and looks at no limit meanwhile."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from typing import Any

#: Characters that a width or precision may ask for.
WIDEST = 1000

_SIZES = re.compile(r"%[-+ 0#,!]*(\d+|\*)?(?:\.(\d+|\*))?")


def printf(refuse: Callable[[str], object]) -> Callable[..., Any]:
    """The function; `refuse` is told why, before it raises ValueError."""
    own = sqlite3.connect(":memory:", check_same_thread=False)

    def formatted(*values: Any) -> Any:
        if values and _widest(*values) > WIDEST:
            told = f"printf() makes no more than {WIDEST} characters of one value"
            refuse(told)
            raise ValueError(told)
        marks = ", ".join("?" * len(values))
        return own.execute(f"SELECT printf({marks})", values).fetchone()[0]

    return formatted


def _widest(template: Any, *values: Any) -> int:
    sizes = [size for pair in _SIZES.findall(str(template)) for size in pair if size]
    asked = [int(size[:10]) for size in sizes if size != "*"]
    if "*" in sizes:  # which of the values it is makes no difference: so large a number is not shown with it
        asked += [_size(value) for value in values]
    return max(asked, default=0)


def _size(value: Any) -> int:
    """As SQLite takes it where it wants a whole number."""
    try:
        return abs(int(float(value)))
    except (TypeError, ValueError, OverflowError):
        return 0
