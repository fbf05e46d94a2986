"""What an import could not take over, counted and listed."""

from __future__ import annotations

from typing import Any, NamedTuple

#: Places that are named of each kind of loss.
_NAMED = 5


class Loss(NamedTuple):
    """One kind of loss.

    Attributes:
        what: what is not in the log, or not as it was.
        times: how often.
        where: places of the first ones in the source.
    """

    what: str
    times: int
    where: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"what": self.what, "count": self.times, "where": list(self.where)}


class Losses:
    """Losses by kind, in the order they were met."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._places: dict[str, list[str]] = {}

    def note(self, what: str, where: str = "", count: int = 1) -> None:
        self._counts[what] = self._counts.get(what, 0) + count
        places = self._places.setdefault(what, [])
        if where and len(places) < _NAMED and where not in places:
            places.append(where)

    def all(self) -> list[Loss]:
        return [Loss(what, count, tuple(self._places[what])) for what, count in self._counts.items()]
