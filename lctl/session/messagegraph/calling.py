"""What the capture of model calls asks of a graph that is a prompt, and tells it."""

from __future__ import annotations

from typing import Any

from lctl.session.messagegraph.differing import compare
from lctl.session.messagegraph.message import key_of
from lctl.session.messagegraph.planning import Place, Plan


class Calling:
    """Mixed into `MessageGraph`."""

    def plan_call(self: Any, first: int, place: Place) -> Plan:
        """As `plan`, before its messages are sent: what was changed inside of them is seen as well."""
        if self._behind or any(message.is_touched() for message in self.own()):
            planned: Plan = self.plan(first, place)
            return planned
        return Plan(first, place)

    def plan_lead(self: Any, plan: Plan, lead: dict[str, Any] | None) -> None:
        """Calls give this system prompt apart from the messages from now on; None: none."""
        before = self._lead
        plan.undo.append(lambda: setattr(self, "_lead", before))
        self._lead = lead
        keys = [] if lead is None else [key_of(lead)]
        change = compare(self.keys, 0, 0 if before is None else 1, keys)
        if change.pieces or change.start < self.route.length:
            messages = self._messages()
            self._apply(change, plan, messages if lead is None else [lead, *messages])

    @property
    def lead_key(self: Any) -> bytes | None:
        return None if self._lead is None else self.keys[0]

    def called(self: Any, model: str | None, tools: str | None) -> None:
        """Its path is the prompt of a model call."""
        self._breaks.called(self.route, model, tools)

    def message_at(self: Any, index: int) -> dict[str, Any]:
        """The message at a place of its path."""
        if self._lead is not None:
            if index == 0:
                lead: dict[str, Any] = self._lead
                return lead
            index -= 1
        found: dict[str, Any] = self._messages()[index] if self._loose else self[index]
        return found
