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
        self._open = _OpenSteps()

    def take(
        self,
        seq: int,
        type: str,
        agent: str,
        data: Mapping[str, Any],
        timestamp: str = "",
        step: int | None = None,
    ) -> Cycle | None:
        if type == "step_end":
            self._open.end(agent, step)
        if type == "tool_call":
            tool = str(data.get("tool"))
            key = (tool, _digest(data.get("input")), _digest([data.get("output"), data.get("error")]))
            if self._is_beside((agent, *key), timestamp, data.get("duration_ms")):
                return None
            return self._calls.setdefault(agent, _Tail()).add(self.rounds, "tool_call", key, tool, seq, agent)
        if type == "step_start":
            self._open.begin(seq, agent, step)
        if type == "step_start" and data.get("kind") in (None, "agent", "task", "chain", "node"):
            said = data.get("input", data.get("input_summary"))
            intent = str(data.get("intent") or "")
            key = (agent, intent, _digest(said))
            name = f"{agent} ({intent})" if intent else agent
            # Steps that do not say what they work on may well work on something else each time.
            rounds = self.rounds if said is not None else 2 * self.rounds
            if self._open.is_beside(seq, key):
                return None
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


class _OpenSteps:
    """Steps under way, and which of them do the same."""

    def __init__(self) -> None:
        self._around: dict[int, int | None] = {}
        self._of_agent: dict[str, list[int]] = {}
        self._keys: dict[int, Key] = {}
        self._same: dict[Key, set[int]] = {}

    def begin(self, seq: int, agent: str, parent: int | None) -> None:
        self._around[seq] = parent
        self._of_agent.setdefault(agent, []).append(seq)

    def is_beside(self, seq: int, key: Key) -> bool:
        """Whether another does the same meanwhile, as where the best of several answers is taken: they go
        round nothing. One that this one is within is no other."""
        self._keys[seq] = key
        same = self._same.setdefault(key, set())
        others = same - self._outer(seq) if same else same
        same.add(seq)
        return bool(others - {seq})

    def end(self, agent: str, step: int | None) -> None:
        mine = self._of_agent.get(agent, [])
        ended = step if step is not None else mine[-1] if mine else None
        if ended is None or ended not in self._around:
            return
        del self._around[ended]
        if ended in mine:
            mine.remove(ended)
        key = self._keys.pop(ended, None)
        if key is not None:
            self._same[key].discard(ended)

    def _outer(self, seq: int) -> set[int]:
        found: set[int] = set()
        at: int | None = seq
        while at is not None and at not in found:
            found.add(at)
            at = self._around.get(at)
        return found


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
            del kept[: -max(_KEPT, _LONGEST * rounds)]
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
        looking.take(event.seq, event.type, event.agent, event.data, event.timestamp, event.step)
        for event in events
    )
    return [one for one in found if one is not None]


def _digest(value: Any) -> str:
    """Equal for equal values. Keys that tell runs apart in any case (ids, times) are the caller's affair."""
    text = encode_value(value, default=repr, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    return hashlib.blake2b(text, digest_size=8).hexdigest()
