"""Speed, as ratios measured in one run (`python -m benchmarks`)."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One line of the table. `passed` None: shown for comparison, has no target of its own."""

    id: str
    what: str
    target: str
    measured: str
    ratio: float | None
    passed: bool | None
