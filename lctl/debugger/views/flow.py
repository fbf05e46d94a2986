"""Agents with what passes between them, and the steps as a flame graph."""

from __future__ import annotations

from bisect import bisect_right
from heapq import nlargest

from lctl.analysis.agentflow import AgentFlow
from lctl.debugger.asking import OfRun
from lctl.debugger.building import LONGEST
from lctl.debugger.moments import state_at
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.state import Flow, FlowEdge, FlowNode, Steps
from lctl.debugger.views.durations import worked
from lctl.debugger.views.rows import depth_in, span
from lctl.state.model import State, Tokens, Usage

_NODES = 300
_EDGES = 2000
_SEQS = 50
_NAMES = 20


class FlowAsked(OfRun, kw_only=True):
    at: int | None = None


def flow(run: Opened, asked: FlowAsked) -> Flow:
    """The run as a graph of agents, as far as it has come."""
    now, progress = state_at(run, asked.at)
    found = run.flow
    if found is None:
        found = AgentFlow()  # of a long log it comes later: agents as they are, nothing between them
    nodes = []
    for agent, part in found.parts.items():
        usage = now.agents.get(agent)
        first = min((one[0] for one in (part.steps, part.tool_calls) if one), default=0)
        if usage is None and not (agent == "" and 0 < first <= now.seq):
            continue
        counts = [bisect_right(seqs, now.seq) for seqs in (part.steps, part.llm_calls, part.tool_calls)]
        last = max(
            (seqs[n - 1] for seqs, n in ((part.steps, counts[0]), (part.tool_calls, counts[2])) if n),
            default=0,
        )
        nodes.append(
            _node(
                agent,
                usage or Usage(),
                0.0 if usage is None else worked(run, now, agent, usage),
                counts,
                first,
                last,
                _names(part.models, now),
                _names(part.tools, now),
            )
        )
    for agent, usage in now.agents.items():
        if agent not in found.parts:
            nodes.append(_node(agent, usage, worked(run, now, agent, usage), [0, 0, 0], 0, 0, [], []))
    edges = [
        FlowEdge(
            source=edge.source,
            target=edge.target,
            kind=edge.kind,
            count=count,
            first=edge.seqs[0],
            last=edge.seqs[count - 1],
            seqs=list(edge.seqs[max(0, count - _SEQS) : count]),
        )
        for edge, count in found.edges_at(now.seq)
    ]
    edges.sort(key=lambda edge: -edge.count)
    return Flow(
        nodes=_busiest(nodes),
        edges=edges[:_EDGES],
        cut=len(nodes) > _NODES or len(edges) > _EDGES,
        progress=1.0 if run.flow is not None else min(progress, 0.99),
    )


def _busiest(nodes: list[FlowNode]) -> list[FlowNode]:
    """In the order in which they began."""
    if len(nodes) <= _NODES:
        return nodes
    busy = nlargest(
        _NODES,
        nodes,
        key=lambda node: (node.running, node.errors, node.llm_calls + node.tool_calls, node.wall_ms),
    )
    kept = {node.agent for node in busy}
    return [node for node in nodes if node.agent in kept]


def _node(
    agent: str,
    usage: Usage,
    wall_ms: float,
    counts: list[int],
    first: int,
    last: int,
    models: list[str],
    tools: list[str],
) -> FlowNode:
    return FlowNode(
        agent=agent,
        steps=counts[0],
        llm_calls=counts[1],
        tool_calls=counts[2],
        errors=usage.errors,
        tokens=usage.tokens or Tokens(),
        wall_ms=wall_ms,
        first=first,
        last=last,
        running=usage.running > 0,
        models=models,
        tools=tools,
    )


def _names(firsts: dict[str, int], now: State) -> list[str]:
    return [name for name, first in firsts.items() if first <= now.seq][:_NAMES]


# -- steps ---------------------------------------------------------------------------------


class StepsAsked(OfRun, kw_only=True, rename={"first": "from", "last": "to"}):
    at: int | None = None
    first: int | None = None
    last: int | None = None
    root: int | None = None
    limit: int = 3000


def steps(run: Opened, asked: StepsAsked) -> Steps:
    """The steps of a window, or below one of them; where they are more than `limit`, the longest."""
    now, progress = state_at(run, asked.at)
    limit = max(1, min(asked.limit, LONGEST))
    first = max(asked.first or 0, run.log.first_seq)
    last = min(asked.last if asked.last is not None else now.seq, now.seq)
    if asked.root is not None:
        seqs, total = _below(now, asked.root, limit)
    else:
        seqs, total = _window(run, now, first, last, limit)
    depths: dict[int, int] = {}
    spans = [span(run, now.steps[seq], depth_in(now, now.steps[seq], depths)) for seq in seqs]
    starts = [one.start_ms for one in spans if one.start_ms is not None]
    ends = [one.end_ms for one in spans if one.end_ms is not None]
    until = run.ms(now.last_timestamp)
    if until is not None and any(one.open for one in spans):
        ends.append(until)
    return Steps(
        spans=spans,
        total=total,
        cut=total > len(spans),
        depth=max((one.depth for one in spans), default=-1) + 1,
        from_ms=min(starts, default=None),
        to_ms=max(ends, default=None),
        collapsed=total - len(spans),
        progress=min(progress, 1.0 if spans or not total or run.longest else 0.99),
    )


def _below(now: State, root: int, limit: int) -> tuple[list[int], int]:
    found: list[int] = []
    waiting = [root] if root in now.steps else []
    total = 0
    while waiting:
        seq = waiting.pop()
        total += 1
        if len(found) < limit:
            found.append(seq)
        waiting += reversed(now.steps[seq].children)
    return found, total


def _window(run: Opened, now: State, first: int, last: int, limit: int) -> tuple[list[int], int]:
    if run.is_being_built:
        found = [seq for seq in now.steps if first <= seq <= last][-limit:]
        return found, len(found)
    columns = run.columns_now(patience=5.0)
    codes = columns.codes_of("step_start")
    low, high = columns.row(first), columns.row(last + 1)
    total = sum(columns.codes.count(code, low, high) for code in codes)
    before = list(run.timeline.at(first - 1).open_steps) if first > run.log.first_seq else []
    if total <= limit:
        wanted = {*codes}
        starts = [columns.seq(row) for row in range(low, high) if columns.codes[row] in wanted]
    else:
        starts = [seq for seq in _longest(run, limit) if first <= seq <= last]
    return [seq for seq in [*before, *starts] if seq in now.steps], total + len(before)


def _longest(run: Opened, limit: int) -> list[int]:
    """Steps that took longest in the whole run, in order of seq."""
    return run.kept(("longest", limit), lambda: sorted(run.longest[:limit]))
