"""One side of a comparison: a trace as the tree of its steps, with what is in each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lctl.analysis.log import millis, number
from lctl.analysis.trace import EVENT, POOL, STEP, Trace

_MASK = (1 << 61) - 1


@dataclass(slots=True)
class Body:
    """What happened directly in one step, by index."""

    lanes: dict[str, list[int]] = field(default_factory=dict)  # events by agent (and stream)
    steps: list[int] = field(default_factory=list)
    loose: list[int] = field(default_factory=list)


class Side:
    """A trace as a tree, with what has been matched so far. `pairs` holds the other side's index or -1."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.pairs = [-1] * len(trace)
        self.pool = [n for n, where in enumerate(trace.classes) if where == POOL]
        self.chains = _chains(trace, self.pool)
        self.items: dict[int, list[int]] = {}
        self.steps: dict[int, list[int]] = {}
        self.inside = [0] * (len(trace) + 1)  # by step; of the top last, which is at -1
        self.deep: list[int] = list(trace.keys)
        _grow(self)
        self._streams = _streams(trace) if "stream_chunk" in trace.types else {}
        self._ends: dict[int, int] | None = None

    def body(self, step: int) -> Body:
        body = Body()
        agents, classes, streams = self.trace.agents, self.trace.classes, self._streams
        for n in self.items.get(step, ()):
            where = classes[n]
            if where == EVENT:
                body.lanes.setdefault(streams.get(n) or agents[n], []).append(n)
            elif where == STEP:
                body.steps.append(n)
            else:
                body.loose.append(n)
        return body

    def is_parallel(self, body: Body, lane: Sequence[int]) -> bool:
        """Child steps, or tool calls of the lane, ran at once: then the order of the rest is luck."""
        return self._steps_overlap(body.steps) or self._tools_overlap(lane)

    def _steps_overlap(self, steps: Sequence[int]) -> bool:
        if self._ends is None:
            owners, types = self.trace.owners, self.trace.types
            self._ends = {owners[n]: n for n, kind in enumerate(types) if kind == "step_end"}
        latest = -1
        for n in steps:
            if n < latest:
                return True
            latest = max(latest, self._ends.get(n, len(self.trace)))
        return False

    def _tools_overlap(self, lane: Sequence[int]) -> bool:
        """By the times they say: a tool call is recorded when it ends, in the order of the ends."""
        latest = -math.inf
        for n in lane:
            if self.trace.types[n] != "tool_call":
                continue
            event = self.trace.log.event(self.trace.seqs[n])
            end, duration = millis(event.timestamp), number(event.data.get("duration_ms"))
            if end is None or duration is None:
                continue
            if end - duration < latest:
                return True
            latest = max(latest, end)
        return False

    def free(self, indices: Iterable[int]) -> list[int]:
        return [n for n in indices if self.pairs[n] < 0]


def _chains(trace: Trace, pool: Sequence[int]) -> dict[int, int]:
    """Of messages and blobs: the hash of the path to them. Of model steps: that of their prompt, and under
    `~n` the key of its last message alone."""
    keys, messages, types = trace.keys, trace.messages, trace.types
    chains: dict[int, int] = {}
    for n, id in trace.named.items():
        at = -1 if id is None else messages.get(id, -1)
        kind = types[n]
        if kind == "message":
            chains[n] = hash((keys[n], chains.get(at, 0)))
        elif kind == "step_start" and at >= 0:
            chains[n] = chains.get(at, 0)
            chains[~n] = keys[at]
    for n in pool:
        if n not in chains:
            chains[n] = keys[n]
    return chains


def _grow(side: Side) -> None:
    """Items and child steps of each step, and of each the hash of everything in it, in any order."""
    trace, deep, inside, chains = side.trace, side.deep, side.inside, side.chains
    items, steps = side.items, side.steps
    keys, owners, classes = trace.keys, trace.owners, trace.classes
    of_items, of_steps, of_chains = items.get, steps.get, chains.get
    last = n = len(keys)  # no owner has this number
    mine: list[int] = []  # items of the last owner: what is in one step mostly stands together
    for key, owner, where in zip(reversed(keys), reversed(owners), reversed(classes), strict=True):
        n -= 1
        if where == POOL:
            continue
        if where == STEP:
            inner = inside[n]
            deep[n] = hash((key, inner, of_chains(n)))
            key = hash((key, inner))
            known = of_steps(owner)
            if known is None:
                steps[owner] = [n]
            else:
                known.append(n)
        # Keys are hashes: their sum is one of all of them, in any order.
        inside[owner] = (inside[owner] + key) & _MASK
        if owner != last:
            last = owner
            mine = of_items(owner)  # type: ignore[assignment]
            if mine is None:
                mine = items[owner] = []
        mine.append(n)
    for one in items.values():
        one.reverse()


def _streams(trace: Trace) -> dict[int, str]:
    """Events of a stream -> its lane: the n-th stream of the agent in the step."""
    lanes: dict[tuple[int, str, bytes], str] = {}
    counts: dict[tuple[int, str], int] = {}
    of_event: dict[int, str] = {}
    for n, id in trace.named.items():
        if id is not None and trace.types[n].startswith("stream_"):
            where = (trace.owners[n], trace.agents[n])
            lane = lanes.get((*where, id))
            if lane is None:
                counts[where] = counts.get(where, 0) + 1
                lane = lanes[(*where, id)] = f"{where[1]}\0stream {counts[where]}"
            of_event[n] = lane
    return of_event
