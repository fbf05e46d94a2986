"""What went wrong, the same failures together: errors, failed tool calls, steps that ended badly."""

from __future__ import annotations

import re

import msgspec

from lctl.analysis.log import Log, raw_events, text
from lctl.analysis.wording import compact

#: Outcomes that are no failure; others a log may use are listed as they stand.
_FAILED = frozenset({"error", "failed", "failure", "aborted", "cancelled", "timeout"})
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


def failures(log: Log) -> tuple[Failure, ...]:
    """Groups of failures, the largest first. A step is listed only where no error inside it was."""
    groups: dict[tuple[str, str, str, str], _Group] = {}
    explained: set[int] = set()
    parents: dict[int, int | None] = {}
    running: dict[str, list[int]] = {}  # steps of each agent: what names no step is in the newest of them
    structural = False
    for event in raw_events(log):
        seq, kind, data, agent = event["seq"], event["type"], event["data"], event["agent"]
        step = event.get("step")
        structural = structural or step is not None
        mine = running.setdefault(agent, [])
        if step is None and mine and (kind == "step_end" or not (structural or kind == "step_start")):
            step = mine[-1]
        if kind == "step_start":
            parents[seq] = step if step in parents else None
            mine.append(seq)
        elif kind == "error":
            _explain(explained, parents, step)
            message = text(data.get("message"))
            group = _group(groups, "error", text(data.get("category")), text(data.get("type")), message)
            group.action = text(data.get("suggested_action")) or group.action
            _count(group, seq, agent, data.get("recoverable") is True)
        elif kind == "tool_call" and data.get("error") not in (None, False):
            _explain(explained, parents, step)
            failure = data["error"]
            message = failure if isinstance(failure, str) else compact(failure)
            _count(_group(groups, "tool_call", "tool", text(data.get("tool")), message), seq, agent, False)
        elif kind == "step_end" and text(data.get("outcome")).lower() in _FAILED and step not in explained:
            _explain(explained, parents, step)
            message = text(data.get("output_summary"))
            _count(_group(groups, "step", "step", text(data.get("outcome")), message), seq, agent, False)
        if kind == "step_end" and step in mine:
            mine.remove(step)
    found = [_failure(key, group) for key, group in groups.items()]
    found.sort(key=lambda failure: (-failure.count, failure.seqs[0]))
    return tuple(found)


def outline(message: str) -> str:
    """What messages about the same thing have in common."""
    return _NUMBERS.sub("#", message)[:200]


def _group(
    groups: dict[tuple[str, str, str, str], _Group], source: str, category: str, type: str, message: str
) -> _Group:
    key = (source, category, type, outline(message))
    group = groups.get(key)
    if group is None:
        group = groups[key] = _Group(message)
    return group


def _count(group: _Group, seq: int, agent: str, recoverable: bool) -> None:
    group.seqs.append(seq)
    group.agents[agent] = None
    group.recoverable = group.recoverable and recoverable


def _explain(explained: set[int], parents: dict[int, int | None], step: int | None) -> None:
    """The failure of this step, and of those around it, is accounted for."""
    current = step
    while current is not None and current not in explained:
        explained.add(current)
        current = parents.get(current)


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
