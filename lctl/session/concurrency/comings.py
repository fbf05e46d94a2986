"""When the items of an async generator tool came: in a rerun each comes in its turn among the other tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lctl.session.concurrency import turnplaces, turns
from lctl.session.concurrency.underway import busy_lanes


class Coming(NamedTuple):
    """Of one item, as the `tape` of its call has it.

    Attributes:
        ms: since the call's start.
        turn: as that of a chunk of a stream; None if unknown.
        behind: its place there: see `lctl.session.concurrency.turnplaces.behind`.
    """

    ms: float
    turn: int | None
    behind: int | None

    @classmethod
    def now(cls, ms: float, at_once: bool) -> Coming:
        """Of one that comes now. `at_once`: in the turn in which it was asked for."""
        turn = turns.AT_ONCE if at_once else turns.since()
        return cls(ms, turn, None if at_once or turn is None else turnplaces.behind(busy_lanes))


def comings(tape: Mapping[str, Any]) -> Sequence[Coming]:
    """Of a `tool_call`'s `tape`, one for each item."""
    found = tape.get("items")
    if not isinstance(found, list) or not all(_is_coming(one) for one in found):
        return ()
    return [Coming(*one) for one in found]


def _is_coming(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != len(Coming._fields):
        return False
    ms, *places = value
    return isinstance(ms, int | float) and all(isinstance(place, int | None) for place in places)
