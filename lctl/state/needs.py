"""What folding some events looks up in the state before them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lctl.state import intake
from lctl.state.tolerant import Odd, Taken


class Needs(NamedTuple):
    """Keys, each once. More than these may be looked up, one by one."""

    steps: dict[int, None]
    facts: dict[str, None]
    messages: dict[str, None]

    @classmethod
    def of(cls, events: Iterable[Taken]) -> Needs:
        needs = cls({}, {}, {})
        for one in events:
            needs._take(one.event if isinstance(one, Odd) else one)
        return needs

    def _take(self, event: object) -> None:
        if isinstance(event, intake.Message):
            data = event.data
            self.messages[data.message_id or f"#{event.seq}"] = None
            if isinstance(data.parent_id, str):
                self.messages[data.parent_id] = None
        elif isinstance(event, intake.FactAdded | intake.FactModified):
            if event.data.id is not None:
                self.facts[str(event.data.id)] = None
        elif isinstance(event, intake.Intake) and event.step is not None:
            self.steps[event.step] = None
