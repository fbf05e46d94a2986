"""What is otherwise between two states of one log, field by field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lctl.analysis.modelcosts import Costing
from lctl.analysis.prices import Prices
from lctl.analysis.views import fact_row, step_row, totals_row, usage_row
from lctl.analysis.whatif import Change
from lctl.events import Event
from lctl.state.layers import at_hand
from lctl.state.model import State

#: Facts up to which their mean confidence is worked out: it looks at each of them.
_FEW = 500


class Touched:
    """Facts, steps and messages that some events are about: all that may differ before and behind them."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.facts: dict[str, None] = {}
        self.steps: dict[int, None] = {}
        self.messages: dict[str, None] = {}
        for event in events:
            self._take(event)

    def _take(self, event: Event) -> None:
        data = event.data
        if event.type in ("fact_added", "fact_modified"):
            id = data.get("id")
            if isinstance(id, str | int):
                self.facts[str(id)] = None
        elif event.type == "message":
            id = data.get("message_id")
            self.messages[str(id) if isinstance(id, str) and id else f"#{event.seq}"] = None
        if event.type == "step_start":
            self.steps[event.seq] = None
        if event.step is not None:
            self.steps[event.step] = None


def state_changes(
    before: State, after: State, between: Iterable[Event], prices: Prices, cost: Costing | None = None
) -> Iterator[Change]:
    """What is otherwise in `after`.

    Args:
        between: the events behind the one state and up to the other, whichever comes first.
        cost: as of `totals_row`.
    """
    touched = Touched(between)
    opened = {*before.open_steps} ^ {*after.open_steps}
    steps = dict.fromkeys([*touched.steps, *sorted(opened)])
    yield from _rows("facts", touched.facts, before.facts, after.facts, fact_row)
    yield from _rows("steps", steps, before.steps, after.steps, _step)
    yield from _rows("messages", touched.messages, before.messages, after.messages, _message)
    for section in ("agents", "models", "tools"):
        old, new = getattr(before, section), getattr(after, section)
        yield from _rows(section, dict.fromkeys([*old, *new]), old, new, usage_row)
    most = _FEW if touched.facts else 0  # the mean is otherwise only where a fact is
    for state in (before, after):
        if len(state.facts) <= most:
            at_hand(state.facts, list(state.facts))
    yield from _fields(
        "totals", "", *(totals_row(one, prices, most=most, cost=cost) for one in (before, after))
    )
    first, last = len(before.diagnostics), len(after.diagnostics)
    for one in after.diagnostics[first:last]:
        yield Change("problems", f"{one.seq} {one.code}", "", None, {"text": one.text})
    for one in before.diagnostics[last:first]:
        yield Change("problems", f"{one.seq} {one.code}", "", {"text": one.text}, None)


def _rows(
    section: str, keys: Iterable[Any], before: Mapping[Any, Any], after: Mapping[Any, Any], make: Any
) -> Iterator[Change]:
    for key in keys:
        old, new = before.get(key), after.get(key)
        if old is None and new is None:
            continue
        if old is None or new is None:
            row = make(new if old is None else old)
            said = {name: value for name, value in row.items() if says(name, value)}
            yield Change(section, str(key), "", None if old is None else said, None if new is None else said)
        else:
            yield from _fields(section, str(key), make(old), make(new))


def says(name: str, value: object) -> bool:
    """Worth showing of a row that came or went; a confidence of 0 is."""
    return value is not None and (name == "confidence" or value not in (0, ""))


def _fields(section: str, name: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    for field in dict.fromkeys([*before, *after]):
        old, new = before.get(field), after.get(field)
        if old != new:
            yield Change(section, name, field, old, new)


def _step(step: Any) -> dict[str, Any]:
    return step_row(step, lambda seq: None if seq is None else str(seq), {})


def _message(message: Any) -> dict[str, Any]:
    return {
        "role": message.role, "parent": message.parent, "status": message.status, "sampled": message.sampled
    }  # fmt: skip
