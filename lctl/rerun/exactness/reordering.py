"""Which recorded events the events of a rerun stand for that came in another order (see `window`)."""

from __future__ import annotations

import re
from typing import Any

import orjson

#: Keys of an event's data whose text is a message's name: "m12" is the one recorded at seq 12.
_MESSAGES = ("message_id", "parent_id", "prompt", "message", "alias", "fork_of", "copy_of", "about")
_LISTS = ("messages", "nested", "carry", "replaces")
_NAME = re.compile(r"m(\d+)(\+\d+)?\Z")


class Names:
    """Which recorded seq a seq of this run stands for; itself, unless its window was reordered.

    What refers to an event that is not found yet refers to none of the recorded ones. What a served tool call
    says of its body is as recorded already.
    """

    def __init__(self) -> None:
        self._seqs: dict[int, int] = {}
        self._unknown: set[int] = set()

    @property
    def are_many(self) -> bool:
        """Whether any seq stands for another, or is not found yet."""
        return bool(self._seqs or self._unknown)

    def learn(self, now: int, recorded: int) -> None:
        self.forget(now)
        if now != recorded:
            self._seqs[now] = recorded

    def forget(self, now: int) -> None:
        self._seqs.pop(now, None)
        self._unknown.discard(now)

    def doubt(self, now: int) -> None:
        """It is not found yet."""
        self._seqs.pop(now, None)
        self._unknown.add(now)

    def found(self, now: int) -> int | None:
        return None if now in self._unknown else self.seq(now)

    def seq(self, now: int) -> int:
        return self._seqs.get(now, now)

    def line(self, line: bytes, seq: int | None = None) -> bytes:
        """An event line whose references are the recorded ones, and its own seq if one is given."""
        if not self._seqs and not self._unknown and seq is None:
            return line
        event: dict[str, Any] = orjson.loads(line)
        if event["type"] == "exchange":
            own = event["seq"]
            event["data"] = self._referring(event["data"], own, (own if seq is None else seq) - own)
        if seq is not None:
            event["seq"] = seq
        if isinstance(event.get("step"), int):
            event["step"] = self._named(event["step"])
        if isinstance(event.get("data"), dict):
            self._rename(event["type"], event["data"])
        return orjson.dumps(event)

    def _rename(self, kind: str, data: dict[str, Any]) -> None:
        for key in _MESSAGES:
            if isinstance(data.get(key), str):
                data[key] = self._message(data[key])
        for key in _LISTS:
            if isinstance(data.get(key), list):
                data[key] = [self._message(one) for one in data[key]]
        if isinstance(data.get("nested_in"), dict):
            data["nested_in"] = {**data["nested_in"]}
            self._rename("", data["nested_in"])
        if isinstance(data.get("stream"), int) and kind.startswith("stream_"):
            data["stream"] = self._named(data["stream"])
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
        return f"m{seq + shift}{found[2] or ''}" if seq > own else self._message(value)

    def _message(self, name: Any) -> Any:
        found = _NAME.match(name) if isinstance(name, str) else None
        return name if found is None else f"m{self._named(int(found[1]))}{found[2] or ''}"

    def _named(self, now: int) -> int:
        return -now if now in self._unknown else self.seq(now)
