"""Where among the callbacks of its turn something reaches an event loop."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, NamedTuple

from lctl.session.concurrency import turnplaces


class Spot(NamedTuple):
    """One such place.

    Attributes:
        ahead: how many callbacks run before it; None if unknown. Of older logs.
        behind: how many of the program's own run behind it (see `lctl.session.concurrency.turnplaces`).
        exact: of what comes of a stream: what is done between its pieces is among what others have `behind`.
        again: of a sleep: its thread sleeps again, as long and there, before anything else reaches it.
    """

    ahead: int | None = None
    behind: int = 0
    exact: bool = False
    again: bool = False

    def place(self, ready: Any, busy: Container[str]) -> int:
        """Where to put it among what is there. `busy`: lanes in which calls are under way."""
        if self.ahead is not None:
            return self.ahead
        return turnplaces.index(ready, self.behind, busy) if self.behind else len(ready)


#: Behind all that is there.
LAST = Spot()
