"""What facts say about messages, sessions and conversations: ratings and rewards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Data = Mapping[str, Any]


class Rating(NamedTuple):
    """The value of a fact about something, since event `seq`."""

    seq: int
    fact: str
    value: Any


class Ratings:
    """Facts with `about`, and `value` or `rating`, by what they are about. A fact that is modified has its
    new value."""

    def __init__(self) -> None:
        self._of: dict[str, list[Rating]] = {}
        self._about: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._of)

    def added(self, seq: int, data: Data) -> None:
        about, fact = data.get("about"), str(data.get("id") or "")
        if about is None or not _rates(data):
            return
        self._about[fact] = str(about)
        self._of.setdefault(str(about), []).append(Rating(seq, fact, _value(data)))

    def modified(self, seq: int, data: Data) -> None:
        about = self._about.get(str(data.get("id") or ""))
        if about is not None and _rates(data):
            self._of[about].append(Rating(seq, str(data["id"]), _value(data)))

    def of(self, about: str, seq: int) -> list[Rating]:
        """The facts about it after event `seq`, each with its newest value, oldest first."""
        found: dict[str, Rating] = {}
        for rating in self._of.get(about, ()):
            if rating.seq <= seq:
                found.pop(rating.fact, None)
                found[rating.fact] = rating
        return list(found.values())


def _rates(data: Data) -> bool:
    return "value" in data or "rating" in data


def _value(data: Data) -> Any:
    """A fact's number, else its word; None where it has neither."""
    value = data.get("value")
    return data.get("rating") if value is None else value
