"""What went wrong, the same failures together: errors, failed tool calls, steps that ended badly."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

import msgspec

from lctl.analysis.log import Log, raw_events, text
from lctl.analysis.wording import compact

#: Outcomes of steps that failed, or were stopped before they came to their end.
FAILED = frozenset({"error", "failed", "failure", "aborted", "cancelled", "timeout"})
#: Errors of one kind, in the steps inside one, of which one may be what leaves that.
_NEWEST = 64
#: Types of events that tell of a failure, or of the step that one is in.
_TELLING = frozenset({"step_start", "step_end", "error", "tool_call"})
#: What differs between two messages about the same thing.
_NUMBERS = re.compile(r"\b(?:0x)?[0-9a-fA-F]{8,}\b|\d+(?:\.\d+)?")


class Failure(msgspec.Struct, frozen=True):
    """Failures of one kind.

    Attributes:
        source: "error" (an error event), "tool_call" or "step".
        message: of the first of them.
        seqs: the events, oldest first.
        recoverable: every one of them was marked so.
        suggested_action: of the newest that names one.
    """

    source: str
    category: str
    type: str
    message: str
    agents: tuple[str, ...]
    seqs: tuple[int, ...]
    recoverable: bool
    suggested_action: str | None = None

    @property
    def count(self) -> int:
        return len(self.seqs)


class _Group:
    def __init__(self, message: str) -> None:
        self.message = message
        self.agents: dict[str, None] = {}
        self.seqs: list[int] = []
        self.recoverable = True
        self.action: str | None = None

    def count(self, event: dict[str, Any], recoverable: bool) -> None:
        self.seqs.append(event["seq"])
        self.agents[event["agent"]] = None
        self.recoverable = self.recoverable and recoverable


class _Inside:
    """Errors of the steps inside one, the newest of each kind."""

    def __init__(self) -> None:
        self._messages: dict[tuple[str, str], deque[str]] = {}

    def note(self, kind: tuple[str, str], message: str) -> None:
        self._messages.setdefault(kind, deque(maxlen=_NEWEST)).append(message)

    def left(self, kind: tuple[str, str], message: str) -> bool:
        """Whether one of them is this one, which has left its step: an SDK puts more words around what a
        server said. It is that one's only."""
        there = self._messages.get(kind, ())
        found = next((one for one in reversed(there) if one and one in message), None)
        if found is not None:
            self._messages[kind].remove(found)
        return found is not None


def failures(log: Log) -> tuple[Failure, ...]:
    """Groups of failures, the largest first. A step is listed only where no error inside it was; an error
    that leaves the tool or the model call that it came of, and the steps around that, once: as theirs."""
    reading = FailureReading()
    for event in raw_events(log):
        reading.take(event)
    found = [_failure(key, group) for key, group in reading.groups.items()]
    found.sort(key=lambda failure: (-failure.count, failure.seqs[0]))
    return tuple(found)


class FailureReading:
    """What has failed in a log up to some event."""

    def __init__(self) -> None:
        self.groups: dict[tuple[str, str, str, str], _Group] = {}
        self._explained: set[int] = set()  # steps of whose failure something has told
        self._parents: dict[int, int | None] = {}
        self._raised: dict[int | None, set[tuple[str, str]]] = {}  # what tools in a step failed by
        self._inside: dict[int | None, _Inside] = {}  # errors in the steps of a step; None: of the run
        self._running: dict[str, list[int]] = {}  # steps of each agent
        self._structural = False

    @property
    def count(self) -> int:
        """Failures of all kinds."""
        return sum(len(group.seqs) for group in self.groups.values())

    def take(self, event: dict[str, Any]) -> None:
        kind, data, step = event["type"], event["data"], event.get("step")
        self._structural = self._structural or step is not None
        if kind not in _TELLING:
            return
        mine = self._running.setdefault(event["agent"], [])
        if step is None and mine and (kind == "step_end" or not (self._structural or kind == "step_start")):
            step = mine[-1]  # what names no step is in the newest of its agent
        if kind == "step_start":
            seq = event["seq"]
            known = step in self._parents and step < seq  # no circle, though a seq may come twice
            self._parents[seq] = step if known else None
            mine.append(seq)
        elif kind == "error":
            self._error(event, step, data)
        elif kind == "tool_call" and data.get("error") not in (None, False):
            self._tool(event, step, data)
        elif kind == "step_end" and text(data.get("outcome")).lower() in FAILED:
            self._end(event, step, data)
        if kind == "step_end" and step in mine:
            mine.remove(step)

    def _error(self, event: dict[str, Any], step: int | None, data: dict[str, Any]) -> None:
        self._explain(step)
        kind = text(data.get("category")), text(data.get("type"))
        message = text(data.get("message"))
        is_left = step is not None or _ends(data)  # it has left where it was raised
        is_told = is_left and step in self._inside and self._inside[step].left(kind, message)
        if step is not None:
            for around in (*self._around(self._parents.get(step)), None):
                self._inside.setdefault(around, _Inside()).note(kind, message)
        if is_told or (is_left and _raised(data) in self._raised.get(step, ())):
            return
        group = self._group("error", *kind, message)
        group.action = text(data.get("suggested_action")) or group.action
        group.count(event, data.get("recoverable") is True)

    def _tool(self, event: dict[str, Any], step: int | None, data: dict[str, Any]) -> None:
        self._explain(step)
        failure = data["error"]
        message = failure if isinstance(failure, str) else compact(failure)
        if isinstance(failure, dict) and (error := _raised(failure)) != ("", ""):
            message = ": ".join(filter(None, error))
            for around in (*self._around(step), None):
                self._raised.setdefault(around, set()).add(error)
        self._group("tool_call", "tool", text(data.get("tool")), message).count(event, False)

    def _end(self, event: dict[str, Any], step: int | None, data: dict[str, Any]) -> None:
        if step in self._explained:
            return
        self._explain(step)
        message = text(data.get("output_summary"))
        self._group("step", "step", text(data.get("outcome")), message).count(event, False)

    def _group(self, source: str, category: str, type: str, message: str) -> _Group:
        key = (source, category, type, outline(message))
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = _Group(message)
        return group

    def _around(self, step: int | None) -> Iterator[int]:
        """That step, and those that it is in."""
        while step is not None:
            yield step
            step = self._parents.get(step)

    def _explain(self, step: int | None) -> None:
        """The failure of this step, and of those around it, is accounted for."""
        for one in self._around(step):
            if one in self._explained:
                return
            self._explained.add(one)


def outline(message: str) -> str:
    """What messages about the same thing have in common."""
    return _NUMBERS.sub("#", message)[:200]


def _raised(error: dict[str, Any]) -> tuple[str, str]:
    """Its exception, by the name of its class, and what it said."""
    context = error.get("context")
    name = context.get("exception") if isinstance(context, dict) else None
    return text(name) or text(error.get("type")), text(error.get("message"))


def _ends(data: dict[str, Any]) -> bool:
    """Whether an error says what it has ended, which nobody caught."""
    context = data.get("context")
    return isinstance(context, dict) and "ends" in context


def _failure(key: tuple[str, str, str, str], group: _Group) -> Failure:
    return Failure(
        source=key[0],
        category=key[1],
        type=key[2],
        message=group.message,
        agents=tuple(group.agents),
        seqs=tuple(group.seqs),
        recoverable=group.recoverable,
        suggested_action=group.action,
    )
