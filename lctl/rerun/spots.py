"""Where among the callbacks of its turn something reaches an event loop."""

from __future__ import annotations

from typing import Any, NamedTuple

from lctl.session import turnplaces
from lctl.session.underway import busy_lanes


class Spot(NamedTuple):
    """One such place.

    Attributes:
        ahead: how many callbacks run before it; None if unknown. Of older logs.
        behind: how many of the program's own run behind it (see `lctl.session.turnplaces`).
    """

    ahead: int | None = None
    behind: int = 0

    def place(self, ready: Any) -> int:
        """Where to put it among what is there."""
        if self.ahead is not None:
            return self.ahead
        return turnplaces.index(ready, self.behind, busy_lanes()) if self.behind else len(ready)


#: Behind all that is there.
LAST = Spot()
