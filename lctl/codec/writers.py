"""Two programs that wrote one log at once, with no lock that kept them apart: whose event is which.

Both went on after the same event, so both used the same numbers. What the first one wrote keeps its
seqs; the others' events are read after them, under seqs of their own, and what they say of each other
goes with them: both branches are in the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

#: Keys of an event's data that name messages: `m12` is the one that event 12 made.
_NAMES = frozenset(
    {
        *(
            "message_id",
            "parent_id",
            "prompt",
            "message",
            "messages",
            "alias",
            "fork_of",
            "replaces",
            "copy_of",
        ),
        *("carry", "nested", "nested_in", "about", "body", "$content"),
    }
)
_ID = re.compile(r"m(\d+)(\+\d+)?\Z")


class Entry(NamedTuple):
    """An event of another writer.

    Attributes:
        place: where it is, as whoever asked says.
        was: the seq it has there; `seq` is the one it is read as.
    """

    place: Any
    was: int
    seq: int
    value: dict[str, Any]


class _Writer:
    def __init__(self) -> None:
        self.last = 0
        self.entries: list[Entry] = []


class Writers:
    """Takes the events of a file in its order, and tells the first writer's from those of others."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}  # seq -> place of what the first writer says there
        self._last = 0
        self._time: Any = None  # of the first writer's last event
        self._others: list[_Writer] = []
        self._newest: tuple[_Writer | None, Any] = (None, None)  # whose the last event was, and its time

    def take(self, seq: int, value: dict[str, Any], place: Any, same: Callable[[Any], bool]) -> bool | None:
        """Whether the event is the first writer's. False: it is another's. None: it is there already.

        Args:
            same: whether the event at that place says the same.
        """
        time = value.get("timestamp")
        if seq in self._seen and same(self._seen[seq]):
            return None
        following = [writer for writer in self._others if writer.last == seq - 1]
        free = seq not in self._seen
        if free and following and self._last == seq - 1:
            # Either may have written it. What is written at once has one time.
            free = self._newest != (following[-1], time) or time == self._time
        if free and (not following or self._last == seq - 1):
            self._seen[seq] = place
            self._last = max(self._last, seq)
            self._time = time
            self._newest = None, time
            return True
        writer = following[-1] if following else _Writer()
        if not following:
            self._others.append(writer)
        if any(one.seq == seq and one.value == value for one in writer.entries[-1:]):
            return None
        writer.last = seq
        writer.entries.append(Entry(place, seq, seq, value))
        self._newest = writer, time
        return False

    def renumbered(self, after: int) -> list[Entry]:
        """The others' events, one writer after the other, under seqs after `after`."""
        made: list[Entry] = []
        for writer in self._others:
            first = after + len(made) + 1
            seqs = {one.was: seq for seq, one in enumerate(writer.entries, first)}
            made += [
                one._replace(seq=seqs[one.was], value=_referring(one.value, seqs)) for one in writer.entries
            ]
        return made


def branched(line: int | None, seq: int) -> str:
    """Text for the event of another writer than the one at `line`; it is read as event `seq`."""
    first = f"at line {line}" if line else "that came first"
    return f"seq is there twice, by two writers; the one {first} stands, this one is read as event {seq}"


def _referring(value: dict[str, Any], seqs: dict[int, int]) -> dict[str, Any]:
    made = {**value, "seq": seqs[value["seq"]]}
    if isinstance(made.get("step"), int):
        made["step"] = seqs.get(made["step"], made["step"])
    data = made.get("data")
    if isinstance(data, dict):
        made["data"] = _renamed(data, seqs)
        if isinstance(data.get("stream"), int) and str(made.get("type")).startswith("stream_"):
            made["data"]["stream"] = seqs.get(data["stream"], data["stream"])
    return made


def _renamed(data: dict[str, Any], seqs: dict[int, int]) -> dict[str, Any]:
    return {key: _name(value, seqs) if key in _NAMES else value for key, value in data.items()}


def _name(value: Any, seqs: dict[int, int]) -> Any:
    if isinstance(value, str):
        found = _ID.match(value)
        seq = seqs.get(int(found[1])) if found is not None else None
        return value if found is None or seq is None else f"m{seq}{found[2] or ''}"
    if isinstance(value, list):
        return [_name(one, seqs) for one in value]
    return _renamed(value, seqs) if isinstance(value, dict) else value
