"""Seeds of thousands of random histories. LCTL_HISTORIES="1/3" has those of a third of them, the second."""

from __future__ import annotations

import os


def seeds(start: int, stop: int) -> range:
    """As `range`; where a part is asked for, every n-th of them."""
    part = os.environ.get("LCTL_HISTORIES")
    if not part:
        return range(start, stop)
    number, parts = map(int, part.split("/"))
    return range(start + number, stop, parts)
