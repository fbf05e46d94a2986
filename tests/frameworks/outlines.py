"""A log as a tree of lines that is the same however threads race: what lies side by side is sorted."""

from __future__ import annotations

import json
from typing import Any

Nodes = dict[int | None, list[tuple[str, int | None]]]


def outline(events: list[dict[str, Any]], *, tokens: bool = True) -> list[str]:
    """Steps by kind, agent and intent; tool calls; hand-offs; errors.

    Args:
        tokens: those of model calls. Not where a model is shown tracebacks, which have the machine's paths.
    """
    nodes: Nodes = {}
    ends = {e["step"]: e["data"] for e in events if e["type"] == "step_end"}
    for event in events:
        data, step, agent = event["data"], event.get("step"), event["agent"]
        if event["type"] == "step_start":
            line = _step(agent, data, ends.get(event["seq"], {}), tokens)
            nodes.setdefault(step, []).append((line, event["seq"]))
        elif event["type"] in ("tool_call", "handoff", "error"):
            nodes.setdefault(step, []).append((_line(event["type"], agent, data), None))
    return _tree(nodes, None, 0)


def _tree(nodes: Nodes, at: int | None, depth: int) -> list[str]:
    parts = []
    for line, seq in nodes.get(at, []):
        inside = [] if seq is None else _tree(nodes, seq, depth + 1)
        parts.append(["  " * depth + line, *inside])
    return [line for part in sorted(parts) for line in part]


def _step(agent: str, data: dict[str, Any], end: dict[str, Any], tokens: bool) -> str:
    outcome = end.get("outcome", "open")
    ended = "" if outcome == "success" else f" [{outcome}]"
    if data.get("kind") == "llm":
        used = end.get("tokens") or {}
        count = f" {used.get('input')}+{used.get('output')}" if tokens else ""
        return f"llm {agent}{count}{ended}"
    return f"{data.get('kind')} {agent}: {data.get('intent')}{ended}"


def _line(type: str, agent: str, data: dict[str, Any]) -> str:
    if type == "handoff":
        return f"handoff {data['from']} -> {data['to']}: {data.get('reason')}"
    if type == "error":
        return f"error {agent}: {data['type']}: {data['message'][:80]}"
    gave = data["error"]["type"] if "error" in data else json.dumps(data.get("output"))
    if "paused" in data:
        gave = f"paused {json.dumps(data['paused'], sort_keys=True)}"
    known = " (id)" if data.get("call_id") else ""
    derived = " (from messages)" if data.get("derived") else ""
    return f"tool {agent}: {data['tool']}{json.dumps(data['input'], sort_keys=True)}{known}{derived} = {gave}"


def unnested(events: list[dict[str, Any]]) -> list[str]:
    """The steps that end after the one around them, or not at all."""
    starts = {event["seq"]: event for event in events if event["type"] == "step_start"}
    ends = {event["step"]: event["seq"] for event in events if event["type"] == "step_end"}
    never = max(ends.values(), default=0) + 1
    found = []
    for seq, start in starts.items():
        around = start.get("step")
        if seq not in ends or ends[seq] > ends.get(around, never):
            found.append(f"{seq} {start['data'].get('kind')} {start['agent']} in {around}")
    return found
