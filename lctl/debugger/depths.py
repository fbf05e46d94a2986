"""How deep in steps an event is, found by going up from it."""

from __future__ import annotations

from lctl.codec import Log

_MOST = 100_000  # steps remembered


class Depths:
    """Of the steps of one log, as far as they were asked for."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}

    def of(self, log: Log, step: int | None) -> int:
        """How many steps are around what happens in `step`, that one counted."""
        way: list[int] = []
        found = 0
        while step is not None:
            known = self._known.get(step)
            if known is not None:
                found = known
                break
            if step in way or len(way) > 1000:
                break
            way.append(step)
            start = next(iter(log.events(step, step + 1)), None)
            parent = start.step if start is not None and start.type == "step_start" else None
            step = parent if parent is not None and parent < way[-1] else None
        if len(self._known) > _MOST:
            self._known.clear()
        for one in reversed(way):
            found += 1
            self._known[one] = found
        return found
