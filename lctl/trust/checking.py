"""Contracts held against events: a fold, the same while a session records and over a log.

Inputs are what comes to an agent: facts it reads or is handed, hand-offs, the messages of its prompts, the
input of its step. Outputs are what it gives: facts it states, hand-offs, tool calls, sampled messages, the
output of its step. Inputs are judged when they come (those of a hand-off when the agent begins), outputs when
the agent's outermost step ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from lctl.events import Event
from lctl.trust.contracts import Contract, Shape
from lctl.trust.saying import facts_carried, facts_read
from lctl.trust.schemas import ABSENT
from lctl.trust.schemas import breaches as schema_breaches

Data = Mapping[str, Any]
#: An agent, and the outermost of its steps.
Run = tuple[str, int]


class Violation(msgspec.Struct, frozen=True):
    """One field that is not as the contract says.

    Attributes:
        seq: of the event the item comes from.
        item: what it is: `fact F1`, `tool_call grep`, `output`.
        field: "" where the item itself is missing.
    """

    seq: int
    agent: str
    contract: str
    direction: str
    item: str
    field: str
    value: Any
    expected: str

    @property
    def text(self) -> str:
        if self.value is None and (not self.field or self.expected == ABSENT):
            return f"{self.item}: {self.field or 'it'} is missing"
        named = f"{self.field} {_short(self.value)}" if self.field else _short(self.value)
        return f"{self.item}: {named}, expected {self.expected}"

    def document(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("seq", "agent", "item", "field", "value", "expected")}


class Validation(msgspec.Struct, frozen=True):
    """One agent's inputs or outputs, judged.

    Attributes:
        direction: "inputs" or "outputs".
        seq: of the event that made it be judged.
        checked: items held against the contract.
    """

    contract: str
    direction: str
    agent: str
    seq: int
    step: int | None
    checked: int
    violations: tuple[Violation, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.violations


class Checker:
    """Judges events as they come. `take` gives what is judged with that event, `finish` the rest."""

    def __init__(self, contracts: Iterable[Contract]) -> None:
        self.contracts = {one.name: one for one in contracts}
        self._facts: dict[str, dict[str, Any]] = {}
        self._profiles: dict[str, str] = {}
        self._structural = False  # the log says which step an event is in
        self._runs: dict[
            int, Run
        ] = {}  # open step -> its agent, and the outermost step of that agent around it
        self._open: dict[str, list[int]] = {}  # agent -> its open steps
        self._given: dict[tuple[str, int | None], _Items] = {}  # agent and run -> outputs since it began
        self._coming: dict[str, _Items] = {}  # agent -> inputs handed to it, to be judged when it begins
        self._handlers: dict[str, Callable[[int, str, int | None, Data], Iterable[Validation]]] = {
            "step_start": self._begin,
            "step_end": self._end,
            "fact_added": self._fact,
            "fact_modified": self._fact,
            "fact_read": self._read,
            "handoff": self._handoff,
            "tool_call": self._tool,
            "message": self._message,
        }

    def take(self, seq: int, type: str, agent: str, step: int | None, data: Data) -> list[Validation]:
        self._structural = self._structural or step is not None
        handler = self._handlers.get(type)
        return [] if handler is None else list(handler(seq, agent, step, data))

    def finish(self) -> list[Validation]:
        """What is left of agents that did not end, or worked outside any step."""
        left = [
            one for (agent, _), items in self._given.items() for one in self._judge(agent, "outputs", items)
        ]
        for agent, items in self._coming.items():
            left += self._judge(agent, "inputs", items)
        self._given, self._coming = {}, {}
        return left

    # -- events ------------------------------------------------------------------------------------

    def _begin(self, seq: int, agent: str, step: int | None, data: Data) -> Iterable[Validation]:
        profile = data.get("agent_profile")
        if isinstance(profile, Mapping) and isinstance(profile.get("type"), str):
            self._profiles[agent] = profile["type"]
        run = self._run_of(agent, step)
        self._runs[seq] = (agent, seq if run is None else run)
        self._open.setdefault(agent, []).append(seq)
        if run is not None:
            return []
        coming = self._coming.pop(agent, None) or _Items()
        coming.seq, coming.step = seq, seq
        coming.add(seq, "input", "input", data.get("input"))
        return self._judge(agent, "inputs", coming)

    def _end(self, seq: int, agent: str, step: int | None, data: Data) -> Iterable[Validation]:
        mine = self._open.get(agent, [])
        ended = step if step in mine else mine[-1] if mine and step is None else None
        if ended is None:
            return []
        mine.remove(ended)
        _, run = self._runs.pop(ended)
        if run != ended:
            return []
        given = self._given.pop((agent, run), None) or _Items()
        given.seq, given.step = seq, ended
        given.add(seq, "output", "output", data.get("output"))
        return self._judge(agent, "outputs", given)

    def _run_of(self, agent: str, step: int | None) -> int | None:
        """The outermost step of the agent that an event in `step` belongs to."""
        if step is None:
            mine = self._open.get(agent)
            return self._runs[mine[-1]][1] if mine and not self._structural else None
        known = self._runs.get(step)
        return known[1] if known is not None and known[0] == agent else None

    def _fact(self, seq: int, agent: str, step: int | None, data: Data) -> Iterable[Validation]:
        id = data.get("id")
        if id is not None:
            known = self._facts.setdefault(str(id), {})
            known |= {key: value for key, value in data.items() if value is not None}
            self._gave(agent, step).add(seq, "fact", f"fact {id}", dict(known))
        return []

    def _read(self, seq: int, agent: str, step: int | None, data: Data) -> Iterable[Validation]:
        items = _Items(seq, step)
        for id in facts_read(data):
            if id in self._facts:
                items.add(seq, "fact", f"fact {id}", dict(self._facts[id]))
        return self._judge(agent, "inputs", items)

    def _handoff(self, seq: int, agent: str, step: int | None, data: Data) -> Iterable[Validation]:
        giver, to = str(data.get("from") or agent), str(data.get("to") or "")
        self._gave(giver, step).add(seq, "handoff", f"handoff to {to}", dict(data))
        if to:
            coming = self._coming.setdefault(to, _Items(seq, step))
            coming.add(seq, "handoff", f"handoff from {giver}", dict(data))
            for id in facts_carried(data):
                if id in self._facts:
                    coming.add(seq, "fact", f"fact {id}", dict(self._facts[id]))
        return []

    def _tool(self, seq: int, agent: str, step: int | None, data: Data) -> Iterable[Validation]:
        self._gave(agent, step).add(seq, "tool_call", f"tool_call {data.get('tool')}", dict(data))
        return []

    def _message(self, seq: int, agent: str, step: int | None, data: Data) -> Iterable[Validation]:
        name = f"message {data.get('message_id') or f'#{seq}'}"
        if data.get("sampled") is True:
            self._gave(agent, step).add(seq, "message", name, dict(data))
            return []
        items = _Items(seq, step)
        items.add(seq, "message", name, dict(data))
        return self._judge(agent, "inputs", items)

    # -- judging -----------------------------------------------------------------------------------

    def _gave(self, agent: str, step: int | None) -> _Items:
        return self._given.setdefault((agent, self._run_of(agent, step)), _Items())

    def _judge(self, agent: str, direction: str, items: _Items) -> Iterable[Validation]:
        for contract in self.contracts.values():
            if not contract.is_for(agent, self._profiles.get(agent)):
                continue
            checked = 0
            found: list[Violation] = []
            for shape in contract.shapes(direction):
                for seq, name, value in items.of(shape.type):
                    if value is None and shape.type in ("input", "output") and items.step is None:
                        continue
                    checked += 1
                    for field, got, expected in breaches(shape, value):
                        found.append(
                            Violation(seq, agent, contract.name, direction, name, field, got, expected)
                        )
            if checked:
                yield Validation(
                    contract.name, direction, agent, items.seq, items.step, checked, tuple(found)
                )


class _Items:
    """What came or went, by type."""

    def __init__(self, seq: int = 0, step: int | None = None) -> None:
        self.seq = seq
        self.step = step
        self._by_type: dict[str, list[tuple[int, str, Any]]] = {}

    def add(self, seq: int, type: str, name: str, value: Any) -> None:
        self.seq = max(self.seq, seq)
        self._by_type.setdefault(type, []).append((seq, name, value))

    def of(self, type: str) -> Sequence[tuple[int, str, Any]]:
        return self._by_type.get(type, ())


def breaches(shape: Shape, item: Any) -> list[tuple[str, Any, str]]:
    """Where an item is not as its shape says: (field, value, what was expected)."""
    if item is None:
        return [("", None, f"an {shape.type}")]
    fields = item if isinstance(item, Mapping) else {"value": item}
    found: list[tuple[str, Any, str]] = []
    for field in shape.required_fields:
        if fields.get(field) is None:
            found.append((field, None, ABSENT))
    for field, bound in shape.minimums.items():
        if (value := fields.get(field)) is not None and not (_is_number(value) and value >= bound):
            found.append((field, value, f"at least {bound:g}"))
    for field, bound in shape.maximums.items():
        if (value := fields.get(field)) is not None and not (_is_number(value) and value <= bound):
            found.append((field, value, f"at most {bound:g}"))
    for field, allowed in shape.values.items():
        if (value := fields.get(field)) is not None and value not in allowed:
            found.append((field, value, "one of " + ", ".join(map(str, allowed))))
    if shape.schema is not None:
        found += schema_breaches(shape.schema, item)
    return found


def check(contracts: Iterable[Contract], events: Iterable[Event]) -> list[Validation]:
    """All that a log's events say of the contracts."""
    checker = Checker(contracts)
    found: list[Validation] = []
    for event in events:
        found += checker.take(event.seq, event.type, event.agent, event.step, event.data)
    return found + checker.finish()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
