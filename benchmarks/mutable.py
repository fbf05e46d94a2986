"""A fold with nothing kept but the end: plain dicts, changed in place. What the pure one is measured by.

It keeps what `State` keeps (except diagnostics and streams, of which the trace has none), takes every
value at its word, and can neither be stopped at a seq nor continued from one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lctl.state import intake
from lctl.state.model import MODEL_KINDS


def plain_loop(events: Iterable[Any]) -> dict[str, Any]:
    facts: dict[str, dict[str, Any]] = {}
    steps: dict[int, dict[str, Any]] = {}
    messages: dict[str, tuple[int, str, str | None, bool]] = {}
    tips: dict[str, str] = {}
    agents: dict[str, dict[str, Any]] = {}
    models: dict[str, dict[str, Any]] = {}
    tools: dict[str, dict[str, Any]] = {}
    open_steps: dict[int, None] = {}
    totals = {"events": 0, "steps": 0, "llm_calls": 0, "input": 0, "output": 0}
    tool_calls: list[int] = []
    errors: list[int] = []
    checkpoints: list[int] = []
    last = None
    for event in events:
        totals["events"] += 1
        kind = type(event)
        if kind is intake.Message:
            data = event.data
            parent = data.parent_id
            if parent is not None and parent not in messages:
                raise ValueError(f"no message {parent}")
            messages[data.message_id] = (event.seq, data.role, parent, data.sampled is True)
            tips["main"] = data.message_id
            _usage(agents, event.agent)
        elif kind is intake.StepStart:
            data = event.data
            step = steps[event.seq] = {
                "agent": event.agent,
                "kind": data.kind,
                "intent": data.intent,
                "parent": event.step,
                "start": event.timestamp,
                "model": data.model,
                "tool": data.tool,
                "children": [],
                "errors": 0,
                "tool_calls": 0,
                "covered": False,
                "counted": False,
            }
            if event.step is not None:
                steps[event.step]["children"].append(event.seq)
            open_steps[event.seq] = None
            totals["steps"] += 1
            if data.kind in MODEL_KINDS:
                totals["llm_calls"] += 1
            agent = _usage(agents, event.agent)
            agent["calls"] += 1
            agent["running"] += 1
            if agent["running"] == 1:
                agent["since"] = event.timestamp
        elif kind is intake.StepEnd:
            data = event.data
            step = steps[event.step]
            step["end"] = event.timestamp
            step["end_seq"] = event.seq
            step["outcome"] = data.outcome
            step["duration_ms"] = data.duration_ms
            step["model"] = data.model or step["model"]
            step["tokens"] = tokens = data.tokens
            del open_steps[event.step]
            agent = agents[step["agent"]]
            if tokens is not None:
                if not step["covered"]:
                    step["counted"] = True
                    for sums in (totals, agent, _usage(models, step["model"])):
                        sums["input"] += tokens.input
                        sums["output"] += tokens.output
                above = step["parent"]
                while above is not None and not steps[above]["covered"]:
                    steps[above]["covered"] = True
                    above = steps[above]["parent"]
            if step["model"] is not None:
                model = models[step["model"]]
                model["calls"] += 1
                model["wall_ms"] += data.duration_ms
                if data.outcome == "error":
                    model["errors"] += 1
            agent["running"] -= 1
            if agent["running"] == 0:
                agent["wall_ms"] += data.duration_ms
                agent["since"] = None
        elif kind is intake.ToolCall:
            data = event.data
            tool_calls.append(event.seq)
            tool = _usage(tools, data.tool)
            tool["calls"] += 1
            tool["wall_ms"] += data.duration_ms
            if data.error is not None:
                tool["errors"] += 1
            steps[event.step]["tool_calls"] += 1
        elif kind is intake.FactAdded:
            data = event.data
            facts[data.id] = {
                "text": data.text,
                "confidence": data.confidence,
                "source": data.source,
                "agent": event.agent,
                "added": event.seq,
                "modified": event.seq,
                "history": [(event.seq, data.confidence, data.reason)],
            }
        elif kind is intake.FactModified:
            data = event.data
            fact = facts[data.id]
            if data.text is not None:
                fact["text"] = data.text
            if data.confidence is not None:
                fact["confidence"] = data.confidence
            fact["modified"] = event.seq
            fact["history"].append((event.seq, data.confidence, data.reason))
        elif kind is intake.Error:
            errors.append(event.seq)
            agents[event.agent]["errors"] += 1
            if event.step is not None:
                steps[event.step]["errors"] += 1
        elif kind is intake.Checkpoint:
            checkpoints.append(event.seq)
        last = event
    return {
        "facts": facts,
        "steps": steps,
        "messages": messages,
        "tips": tips,
        "agents": agents,
        "models": models,
        "tools": tools,
        "open_steps": open_steps,
        "totals": totals,
        "lists": (tool_calls, errors, checkpoints),
        "last": last,
    }


def _usage(table: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    row = table.get(name)
    if row is None:
        row = table[name] = {
            "calls": 0,
            "errors": 0,
            "wall_ms": 0.0,
            "running": 0,
            "since": None,
            "input": 0,
            "output": 0,
        }
    return row
