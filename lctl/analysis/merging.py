"""A run and the runs it started, on other machines or as child processes, read as one log.

Events are in the order of their chains, and of their times where chains ran beside each other; a chain
begins after the event that started it, and its steps lie in the step that event was in. Seqs are new. Of a
chain whose clock is behind, so that it would begin before that event, all times are later by the difference.
Names that each chain gives for itself (messages, facts) are told apart by the chain's number.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from lctl.codec import open_log
from lctl.codec.lines import encode_value
from lctl.codec.log import Log
from lctl.events import TAPE_TYPES, Event
from lctl.kinship import family
from lctl.state.moments import moment

if TYPE_CHECKING:
    from lctl.analysis.run import Run

#: What only a rerun needs; messages name their large content by the hash of a blob.
_LEFT_OUT = TAPE_TYPES - {"blob"}
_MESSAGES = (
    "message_id",
    "parent_id",
    "fork_of",
    "copy_of",
    "turn_id",
    "prompt",
    "message",
    "about",
    "alias",
)
_LISTS = ("carry", "replaces", "messages", "nested")


#: The next event of a chain: when it is due, the chain's number, its seq, itself, those after it.
_Head = tuple[str, int, int, Event, Iterator[Event]]


class Part(NamedTuple):
    """One chain of the tree. `parent` is the number of its parent's part, `seq` the event that started it."""

    log: Log
    parent: int
    seq: int


def merged(parts: Sequence[Part]) -> Log:
    """The chains as one log; the first part is the root, and each parent comes before its children.

    What only a rerun needs is left out: a rerun is of one process.
    """
    root = parts[0].log
    header = {**root.chain, "merged": [part.log.id for part in parts]}
    lines = [encode_value({"lctl": "4.0", "chain": header})]
    lines += [encode_value(event) for event in _Merging(parts).events()]
    log = open_log(b"\n".join(lines) + b"\n")
    log.name = f"{root.name}+"
    return log


class _Merging:
    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        self._new: list[dict[int, int]] = [{} for _ in parts]  # by part: old seq -> new
        self._inside: list[int | None] = [None] * len(parts)  # by part: the step it was started in
        self._seq = 0

    def events(self) -> Iterator[dict[str, Any]]:
        waiting: dict[int, list[int]] = {}
        for number, part in enumerate(self._parts[1:], 1):
            waiting.setdefault(part.parent, []).append(number)
        heads: list[_Head] = []
        self._begin(0, "", heads)
        while heads:
            time, number, _, event, rest = heapq.heappop(heads)
            if event.type not in _LEFT_OUT:
                yield self._event(number, event)
            due = [child for child in waiting.get(number, ()) if self._parts[child].seq <= event.seq]
            following = next(rest, None)
            if following is None:  # those linked to an event that is not there
                due = waiting.pop(number, [])
            for child in due:
                if child in waiting.get(number, ()):
                    waiting[number].remove(child)
                self._inside[child] = self._step_at(number, event)
                is_cause = self._parts[child].seq <= event.seq
                self._begin(child, time, heads, event.timestamp if is_cause else "")
            if following is not None:
                later = max(time, following.timestamp)
                heapq.heappush(heads, (later, number, following.seq, following, rest))

    def _begin(self, number: int, time: str, heads: list[_Head], cause: str = "") -> None:
        """`cause`: when the event happened that started it."""
        events = self._parts[number].log.events()
        first = next(events, None)
        if first is not None:
            behind = _behind(first.timestamp, cause)
            if behind is not None:
                first, events = _later(first, behind), (_later(event, behind) for event in events)
            heapq.heappush(heads, (max(time, first.timestamp), number, first.seq, first, events))

    def _step_at(self, number: int, event: Event) -> int | None:
        """The step, newly numbered, that a chain is in which was started at this event."""
        new = self._new[number]
        if event.type == "step_start" and event.seq in new:
            return new[event.seq]
        return new.get(event.step or 0, self._inside[number])

    def _event(self, number: int, event: Event) -> dict[str, Any]:
        self._seq += 1
        new = self._new[number]
        new[event.seq] = self._seq
        made = {**event.to_dict(), "seq": self._seq, "data": self._data(number, event)}
        step = new.get(event.step or 0, self._inside[number])
        made.pop("step", None)
        if step is not None:
            made["step"] = step
        if number and event.agent == "main":
            made["agent"] = str(self._parts[number].log.chain.get("name") or self._parts[number].log.id)
        return made

    def _data(self, number: int, event: Event) -> dict[str, Any]:
        data = dict(event.data)
        data.pop("tape", None)
        data.pop("events_hash", None)
        if isinstance(data.get("stream"), int):
            data["stream"] = self._new[number].get(data["stream"], data["stream"])
        if event.type == "message" and not data.get("message_id"):
            data["message_id"] = f"#{event.seq}"
        if not number:
            return data
        for key in _MESSAGES:
            if isinstance(data.get(key), str) and (key != "message" or event.type == "step_end"):
                data[key] = self._own(number, data[key])
        for key in _LISTS:
            if isinstance(data.get(key), list):
                data[key] = [self._own(number, one) for one in data[key]]
        if event.type in ("fact_added", "fact_modified") and "id" in data:
            data["id"] = self._own(number, data["id"])
        return data

    def _own(self, number: int, name: Any) -> Any:
        return f"{number}:{name}" if isinstance(name, str) else name


def _behind(timestamp: str, cause: str) -> timedelta | None:
    """How far something is before what caused it, if it is."""
    at, due = moment(timestamp), moment(cause)
    return due - at if at is not None and due is not None and at < due else None


def _later(event: Event, by: timedelta) -> Event:
    at = moment(event.timestamp)
    try:
        moved = None if at is None else (at + by).astimezone(UTC)
    except OverflowError:  # a time beyond the year 9999
        return event
    return event if moved is None else replace(event, timestamp=f"{moved:%Y-%m-%dT%H:%M:%S.%f}Z")


def parts_of(root: Log, found: Iterable[tuple[Log, int]]) -> list[Part]:
    """The root with the runs it started, parents first. `found`: as `family` has it."""
    parts = [Part(root, 0, 0)]
    for log, parent in found:
        seq = log.chain["parent"].get("seq")
        parts.append(Part(log, parent, seq if isinstance(seq, int) else 0))
    return parts


def with_all(root: Log, run: Run, known: Sequence[Run]) -> Log:
    """The run with all that it started.

    Args:
        root: its log.
        run: the same run as the ends of its file tell it.
        known: the runs beside it.
    """
    readable = [one for one in known if not one.problem]
    found = family(run.born, [one.born for one in readable])
    return merged(parts_of(root, [(readable[at].log(), parent) for at, parent in found]))
