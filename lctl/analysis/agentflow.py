"""Which agent worked after which: hand-offs, steps inside steps of others, and turns of the run.

Read in one pass that decodes only the events that say so, and asked for any seq.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import msgspec

from lctl.analysis.log import Log, model_of, text
from lctl.state.model import MODEL_KINDS

Kind = Literal["handoff", "call", "next"]
_HEAD = 96
_MARKS = (b'"step_start"', b'"tool_call"', b'"handoff"')


class Edge(NamedTuple):
    """From one agent to another, as often as `seqs` says.

    Attributes:
        kind: "handoff": an event says so; "call": a step of the other inside a step of the one; "next": the
            other's step came next at the top.
    """

    source: str
    target: str
    kind: Kind
    seqs: array[int]


class Part(NamedTuple):
    """What an agent did: seqs of its steps, model calls, tool calls; names with the seq of first use."""

    steps: array[int]
    llm_calls: array[int]
    tool_calls: array[int]
    models: dict[str, int]
    tools: dict[str, int]


class AgentFlow:
    """Agents in the order of their first event here, and the edges between them."""

    def __init__(self) -> None:
        self.parts: dict[str, Part] = {}
        self.edges: dict[tuple[str, str, Kind], Edge] = {}
        self._agent_of: dict[int, str] = {}  # step -> agent
        self._previous: str | None = None

    @classmethod
    def of(cls, log: Log) -> AgentFlow:
        """Read a log once."""
        flow = cls()
        for event in _events(log):
            flow._take(event)
        return flow

    def packed(self) -> tuple[Any, ...]:
        """What is asked of it, for `unpacked`; it cannot be read on with."""
        return self.parts, self.edges

    @classmethod
    def unpacked(cls, packed: tuple[Any, ...]) -> AgentFlow:
        """As it was packed."""
        flow = cls()
        flow.parts, flow.edges = packed
        return flow

    def edges_at(self, seq: int) -> Iterator[tuple[Edge, int]]:
        """Edges there were by then, each with how many of its seqs."""
        for edge in self.edges.values():
            count = bisect_right(edge.seqs, seq)
            if count:
                yield edge, count

    def _take(self, event: dict[str, Any]) -> None:
        seq, type, agent, data = event["seq"], event.get("type"), text(event.get("agent")), event["data"]
        part = self.parts.get(agent)
        if part is None:
            part = self.parts[agent] = Part(array("q"), array("q"), array("q"), {}, {})
        if type == "step_start":
            self._step(seq, agent, event.get("step"), part)
            if text(data.get("kind")) in MODEL_KINDS:
                part.llm_calls.append(seq)
            if model := model_of(data):
                part.models.setdefault(model, seq)
        elif type == "tool_call":
            part.tool_calls.append(seq)
            part.tools.setdefault(text(data.get("tool")) or "?", seq)
        elif type == "handoff":
            self._edge(text(data.get("from")) or agent, text(data.get("to")), "handoff", seq)

    def _step(self, seq: int, agent: str, parent: Any, part: Part) -> None:
        part.steps.append(seq)
        self._agent_of[seq] = agent
        above = self._agent_of.get(parent) if type(parent) is int else None
        if above is not None:
            self._edge(above, agent, "call", seq)
        elif type(parent) is not int:
            if self._previous is not None:
                self._edge(self._previous, agent, "next", seq)
            self._previous = agent

    def _edge(self, source: str, target: str, kind: Kind, seq: int) -> None:
        if source == target and kind != "handoff":
            return
        key = (source, target, kind)
        edge = self.edges.get(key)
        if edge is None:
            edge = self.edges[key] = Edge(source, target, kind, array("q"))
        edge.seqs.append(seq)


class _Data(msgspec.Struct, gc=False):
    kind: Any = None
    model: Any = None
    agent_profile: Any = None
    tool: Any = None
    sender: Any = msgspec.field(default=None, name="from")
    to: Any = None


class _Line(msgspec.Struct, gc=False):
    seq: int
    type: str
    data: _Data
    agent: str = ""
    step: Any = None


_decode = msgspec.json.Decoder(_Line).decode


def _events(log: Log) -> Iterator[dict[str, Any]]:
    for line in log.lines():
        head = line[:_HEAD]
        if not any(mark in head for mark in _MARKS):
            continue
        try:
            one = _decode(line)
        except (ValueError, RecursionError):
            continue
        data = one.data
        said = {
            "kind": data.kind, "model": data.model, "agent_profile": data.agent_profile, "tool": data.tool,
            "from": data.sender, "to": data.to,
        }  # fmt: skip
        yield {"seq": one.seq, "type": one.type, "agent": one.agent, "step": one.step, "data": said}
