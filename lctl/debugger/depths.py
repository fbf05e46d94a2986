"""What steps are around an event, found by going up from it."""

from __future__ import annotations

from typing import NamedTuple

from lctl.codec import Log
from lctl.values import text

_MOST = 100_000  # steps remembered


class Begun(NamedTuple):
    """What the start of a step says: `parent` is the step around it, if that began before."""

    name: str
    kind: str
    parent: int | None


class Depths:
    """Of the steps of one log, as far as they were asked for."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}
        self._begun: dict[int, Begun | None] = {}

    def begun(self, log: Log, step: int) -> Begun | None:
        """The start of a step; None where no step begins at that seq."""
        if step in self._begun:
            return self._begun[step]
        if len(self._begun) > _MOST:
            self._begun.clear()
        found = None
        start = next(iter(log.events(step, step + 1)), None)
        if start is not None and start.type == "step_start":
            data = start.data
            kind = text(data.get("kind"))
            name = text(data.get("tool")) or text(data.get("intent")) or kind or start.agent
            above = start.step if start.step is not None and start.step < step else None
            found = Begun(name, kind or "agent", above)
        if start is not None:  # else it may yet come: the log grows
            self._begun[step] = found
        return found

    def of(self, log: Log, step: int | None) -> int:
        """How many steps are around what happens in `step`, that one counted."""
        way: list[int] = []
        found = 0
        while step is not None:
            known = self._known.get(step)
            if known is not None:
                found = known
                break
            if len(way) > 1000:
                break
            way.append(step)
            start = self.begun(log, step)
            step = start.parent if start is not None else None
        if len(self._known) > _MOST:
            self._known.clear()
        for one in reversed(way):
            found += 1
            self._known[one] = found
        return found
