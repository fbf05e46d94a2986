"""Events of concurrent tasks that a rerun records in another order than the recording did.

What reaches a program comes in the recorded order; what its tasks report of themselves in between (a step
that ends while another's answer is read) may fall on either side of it, by a turn of the event loop. The
program sees nothing of that order. So a rerun that comes to say other than what was recorded holds its
events back until they are the recorded ones again, each of them, in whatever order; then the recorded
lines stand, and the seqs by which later events refer to them are the recorded ones.

What one step says stays in its order, and so does everything that crossed the border.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Any

import orjson

#: Ambient events that wait for their turn in a rerun.
_RELEASED = frozenset({"sleep", "wake"})
#: Events that are held back at most; then they are another history.
_MANY = 64
#: What enters the program from outside or leaves it.
_BORDER = frozenset({"exchange", "tool_call", "ambient"})
#: Keys of an event's data whose text is a message's name: "m12" is the one recorded at seq 12.
_MESSAGES = ("message_id", "parent_id", "prompt", "message", "alias")
_NAME = re.compile(r"m(\d+)\Z")

#: Whether two lines say the same.
Same = Callable[[bytes, bytes], bool]


class Names:
    """Which recorded seq a seq of this run stands for; itself, unless its window was reordered.

    What a served tool call says of its body is as recorded already.
    """

    def __init__(self) -> None:
        self._seqs: dict[int, int] = {}

    def learn(self, now: int, recorded: int) -> None:
        if now != recorded:
            self._seqs[now] = recorded

    def forget(self, now: int) -> None:
        self._seqs.pop(now, None)

    def seq(self, now: int) -> int:
        return self._seqs.get(now, now)

    def line(self, line: bytes, seq: int | None = None) -> bytes:
        """An event line whose references are the recorded ones, and its own seq if one is given."""
        if not self._seqs and seq is None:
            return line
        event: dict[str, Any] = orjson.loads(line)
        if event["type"] == "exchange":
            own = event["seq"]
            event["data"] = self._referring(event["data"], own, (own if seq is None else seq) - own)
        if seq is not None:
            event["seq"] = seq
        if isinstance(event.get("step"), int):
            event["step"] = self.seq(event["step"])
        if isinstance(event.get("data"), dict):
            self._rename(event["type"], event["data"])
        return orjson.dumps(event)

    def _rename(self, kind: str, data: dict[str, Any]) -> None:
        for key in _MESSAGES:
            if isinstance(data.get(key), str):
                data[key] = self._message(data[key])
        for key in ("messages", "nested"):
            if isinstance(data.get(key), list):
                data[key] = [self._message(one) for one in data[key]]
        if isinstance(data.get("stream"), int) and kind.startswith("stream_"):
            data["stream"] = self.seq(data["stream"])
        if kind == "ambient" and data.get("source") == "resumed":
            data["value"] = [[self.seq(seq), at] for seq, at in data["value"]]

    def _referring(self, value: Any, own: int, shift: int) -> Any:
        """An exchange's data, whose body refers to messages: `{"$content": "m12"}`. Those it brought are
        recorded after it, in the same breath, so they are as far behind it in both runs."""
        if isinstance(value, list):
            return [self._referring(one, own, shift) for one in value]
        if not isinstance(value, dict):
            return value
        return {key: self._referred(key, one, own, shift) for key, one in value.items()}

    def _referred(self, key: str, value: Any, own: int, shift: int) -> Any:
        found = _NAME.match(value) if key[:1] == "$" and isinstance(value, str) else None
        if found is None:
            return self._referring(value, own, shift)
        seq = int(found[1])
        return f"m{seq + shift}" if seq > own else f"m{self.seq(seq)}"

    def _message(self, name: Any) -> Any:
        found = _NAME.match(name) if isinstance(name, str) else None
        return name if found is None else f"m{self.seq(int(found[1]))}"


class Window:
    """Lines held back from the first that is not the recorded one, until all are among those recorded."""

    def __init__(self, names: Names, same: Same) -> None:
        self.recorded: list[bytes] = []
        self.held: list[bytes] = []
        self._names = names
        self._same = same
        self._open: list[int] = []  # of `held`: not found yet
        self._left: list[int] = []  # of `recorded`: not found yet
        self._owed: deque[int] = deque()  # of `recorded`: to be served, and not held yet
        self._served: set[int] = set()  # of `held`
        self._found: list[tuple[int, int]] = []

    def add(self, recorded: bytes, now: bytes) -> bool:
        """One more of each; whether the window is whole."""
        self._open.append(len(self.held))
        self._left.append(len(self.recorded))
        self.held.append(now)
        self.recorded.append(recorded)
        while self._match():
            pass
        return self._is_whole()

    def owe(self, recorded: bytes) -> None:
        """A recorded event that comes of the tape itself, for which there is no number yet."""
        self._owed.append(len(self.recorded))
        self.recorded.append(recorded)

    @property
    def owed(self) -> int:
        return len(self._owed)

    def serve(self, seq: int) -> bool:
        """The first of those has the number `seq` in this run; whether the window is whole."""
        place = self._owed.popleft()
        self._served.add(len(self.held))
        self._found.append((len(self.held), place))
        self.held.append(orjson.dumps(orjson.loads(self.recorded[place]) | {"seq": seq}))
        return self._is_whole()

    @property
    def is_lost(self) -> bool:
        """Whether this is another history, and no other order."""
        found = not self._open and not self._owed
        return len(self.held) >= _MANY or (found and not self._is_in_order())

    def _is_whole(self) -> bool:
        return not self._open and not self._owed and self._is_in_order()

    def _match(self) -> bool:
        """Find one more; an event may refer only to what was found before it."""
        for n in self._open:
            event = orjson.loads(self.held[n])
            for m in self._left:
                old = orjson.loads(self.recorded[m])
                if old["type"] != event["type"] or old.get("agent") != event.get("agent"):
                    continue
                self._names.learn(event["seq"], old["seq"])
                if self._same(self.recorded[m], self._names.line(self.held[n], old["seq"])):
                    self._open.remove(n)
                    self._left.remove(m)
                    self._found.append((n, m))
                    return True
                self._names.forget(event["seq"])
        return False

    def _is_in_order(self) -> bool:
        """Whether each step, and the border, have their own events in the recorded order; and a step that
        was over before another in the same one began, was so now."""
        last: dict[Any, int] = {}
        parents: dict[Any, Any] = {}
        ended: dict[Any, list[int]] = {}  # by the step around them: places of ends in the recording
        for n, m in sorted(self._found):
            line = self.recorded[m] if n in self._served else self._names.line(self.held[n])
            event = orjson.loads(line)
            kind, step = event["type"], event.get("step")
            if kind == "step_start":
                parents[self._names.seq(event["seq"])] = step
                before = sum(1 for place in self._ends_in(step) if place < m)
                if before > sum(1 for place in ended.get(step, ()) if place < m):
                    return False
                continue
            if kind == "step_end" and step in parents:
                ended.setdefault(parents[step], []).append(m)
            key = _border_of(event) if _crosses(event) else step
            if last.get(key, -1) > m:
                return False
            last[key] = m
        return True

    def _ends_in(self, around: Any) -> list[int]:
        """Where the recording ends the steps that it begins here in the step `around`."""
        begun: set[Any] = set()
        places = []
        for m, line in enumerate(self.recorded):
            event = orjson.loads(line)
            if event["type"] == "step_start" and event.get("step") == around:
                begun.add(event["seq"])
            elif event["type"] == "step_end" and event.get("step") in begun:
                places.append(m)
        return places


def _crosses(event: dict[str, Any]) -> bool:
    """Not so an agent used as a tool, nor a call made of messages: what they did is told when they end, as a
    step is. Their own model calls cross the border."""
    data = event["data"]
    return event["type"] in _BORDER and not (data.get("subagent") or data.get("derived"))


def _border_of(event: dict[str, Any]) -> Any:
    """What keeps its order with this crossing: all others, but for a read of the surroundings only its own
    lane, whose it is, and in a tool's body too, as it is recorded again together with the call."""
    lane = event["data"].get("lane")
    if event["type"] == "ambient" and event["data"].get("source") not in _RELEASED:
        return "reads", lane
    return lane if isinstance(lane, str) and "/" in lane else "border"
