"""Agents that go round in circles: the same steps, or the same tool calls, again and again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import orjson

from lctl.codec.lines import encode_value
from lctl.events import Event
from lctl.state.times import millis

#: Rounds of the same that make a cycle, and how long one round may be.
ROUNDS = 3
_LONGEST = 5
_KEPT = 64
#: Different calls of which the end is remembered.
_CALLS = 10_000

Key = tuple[str, ...]


class Cycle(msgspec.Struct, frozen=True):
    """The same things done `rounds` times in a row.

    Attributes:
        kind: "tool_call" (same tool, same input, same result) or "step" (same agents, intents and inputs).
        names: what one round is, in order.
        seqs: the events, oldest first.
        agent: who did the last of them.
    """

    kind: str
    names: tuple[str, ...]
    rounds: int
    seqs: tuple[int, ...]
    agent: str

    @property
    def message(self) -> str:
        what = "calls" if self.kind == "tool_call" else "steps"
        return f"{' → '.join(self.names)}: the same {what} {self.rounds} times in a row"

    def error(self) -> dict[str, Any]:
        """The data of its `error` event."""
        return {
            "category": "orchestration_error",
            "type": "cycle_detected",
            "message": self.message,
            "recoverable": True,
            "suggested_action": "change_input_or_stop",
            "context": {"kind": self.kind, "round": list(self.names), "seqs": list(self.seqs)},
        }


class Cycles:
    """Looks at events as they come. A cycle is told once, when it has gone round `rounds` times."""

    def __init__(self, rounds: int = ROUNDS) -> None:
        self.rounds = rounds
        self._calls: dict[str, _Tail] = {}
        self._steps = _Tail()
        self._ended: dict[Key, float | None] = {}

    def take(
        self, seq: int, type: str, agent: str, data: Mapping[str, Any], timestamp: str = ""
    ) -> Cycle | None:
        if type == "tool_call":
            tool = str(data.get("tool"))
            key = (tool, _digest(data.get("input")), _digest([data.get("output"), data.get("error")]))
            if self._is_beside((agent, *key), timestamp, data.get("duration_ms")):
                return None
            return self._calls.setdefault(agent, _Tail()).add(self.rounds, "tool_call", key, tool, seq, agent)
        if type == "step_start" and data.get("kind") in (None, "agent", "task", "chain", "node"):
            said = data.get("input", data.get("input_summary"))
            intent = str(data.get("intent") or "")
            key = (agent, intent, _digest(said))
            name = f"{agent} ({intent})" if intent else agent
            # Steps that do not say what they work on may well work on something else each time.
            rounds = self.rounds if said is not None else 2 * self.rounds
            return self._steps.add(rounds, "step", key, name, seq, agent)
        return None

    def _is_beside(self, call: Key, timestamp: str, duration: Any) -> bool:
        """Whether it began before the same call before it had ended: side by side they go round nothing."""
        end = millis(timestamp)
        if len(self._ended) >= _CALLS:
            self._ended.clear()
        before, self._ended[call] = self._ended.get(call), end
        if end is None or before is None or not isinstance(duration, int | float):
            return False
        return end - duration < before


class _Tail:
    """The newest keys, and the period they have gone round with."""

    def __init__(self) -> None:
        self._keys: list[Key] = []
        self._names: list[str] = []
        self._seqs: list[int] = []
        self._period = 0  # of the cycle that was told and still goes on

    def add(self, rounds: int, kind: str, key: Key, name: str, seq: int, agent: str) -> Cycle | None:
        self._keys.append(key)
        self._names.append(name)
        self._seqs.append(seq)
        for kept in (self._keys, self._names, self._seqs):
            del kept[:-_KEPT]
        if self._period:
            if len(self._keys) > self._period and key == self._keys[-1 - self._period]:
                return None
            self._period = 0
        for period in range(1, _LONGEST + 1):
            size = period * rounds
            if len(self._keys) < size:
                return None
            last = self._keys[-size:]
            if all(last[n] == last[n + period] for n in range(size - period)):
                self._period = period
                return Cycle(kind, tuple(self._names[-period:]), rounds, tuple(self._seqs[-size:]), agent)
        return None


def cycles(events: Iterable[Event], rounds: int = ROUNDS) -> list[Cycle]:
    """The cycles of a log."""
    looking = Cycles(rounds)
    found = (
        looking.take(event.seq, event.type, event.agent, event.data, event.timestamp) for event in events
    )
    return [one for one in found if one is not None]


def _digest(value: Any) -> str:
    """Equal for equal values. Keys that tell runs apart in any case (ids, times) are the caller's affair."""
    text = encode_value(value, default=repr, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    return hashlib.blake2b(text, digest_size=8).hexdigest()
