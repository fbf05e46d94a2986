"""A log as a tree of lines, the same in every run: steps by kind, agent and intent, what happened in them,
how they ended; without ids, times, messages and the tape.

What ran side by side stands in the order of its text, as which came first is chance.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

_CALL_ID = re.compile(r"\b(call|toolu)_\w+")


@dataclass
class _Line:
    text: str
    kind: str
    start: int
    end: int
    inside: list[_Line] = field(default_factory=list)

    def lines(self, indent: str = "") -> list[str]:
        found = [indent + self.text]
        for line in _settled(self.inside):
            found += line.lines(indent + "  ")
        return found


def outline(events: list[dict[str, Any]]) -> list[str]:
    """The lines of a log's events (as `Event.to_dict` gives them)."""
    top: list[_Line] = []
    steps: dict[int | None, _Line] = {}
    for event in events:
        seq, step, kind = event["seq"], event.get("step"), event["type"]
        if kind == "step_end" and step in steps:
            steps[step].end = seq
        text = _told(event)
        if text is None:
            continue
        line = _Line(_CALL_ID.sub(r"\1_", text), kind, seq, seq)
        (steps[step].inside if step in steps else top).append(line)
        if kind == "step_start":
            line.end = events[-1]["seq"]
            steps[seq] = line
    return [text for line in _settled(top) for text in line.lines()]


def _settled(lines: list[_Line]) -> list[_Line]:
    """Those that ran side by side in the order of their text."""
    groups: list[list[_Line]] = []
    reach = -1
    for line in lines:
        tools = line.kind == "tool_call" and bool(groups) and groups[-1][-1].kind == "tool_call"
        beside = line.kind == "step_start" and bool(groups) and line.start < reach
        # An agent's node that is run for each tool: one may be over before the next begins.
        again = line.text.endswith(": tools") and bool(groups) and groups[-1][-1].text == line.text
        if tools or beside or again:
            groups[-1].append(line)
        else:
            groups.append([line])
            reach = -1
        reach = max(reach, line.end if line.kind == "step_start" else -1)
    return [line for group in groups for line in sorted(group, key=_Line.lines)]


def _told(event: dict[str, Any]) -> str | None:
    data, kind = event["data"], event["type"]
    if kind == "step_start":
        return f"{data.get('kind')} {event['agent']}: {data.get('intent')}"
    if kind == "step_end" and data.get("outcome") != "success":
        waits = f" {json.dumps(data['interrupts'])}" if data.get("interrupts") else ""
        return f"ended: {data.get('outcome')}{waits}"
    if kind == "tool_call":
        gave = next((name for name in ("error", "paused") if name in data), "output")
        told = f"tool {data['tool']}({_text(data.get('input'))}) {gave} {_text(data.get(gave))}"
        return told + (" (from messages)" if data.get("derived") else "")
    if kind == "handoff":
        return f"handoff {data.get('from', event['agent'])} -> {data['to']}"
    if kind == "checkpoint":
        return f"checkpoint {data.get('source')}"
    if kind == "error":
        return f"error {data.get('type')}: {data.get('message')}"
    return None


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
