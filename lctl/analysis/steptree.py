"""One side of a comparison: a trace as the tree of its steps, with what is in each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress

from lctl.analysis.log import millis, number
from lctl.analysis.trace import EVENT, POOLED, STEP, Trace

_MASK = (1 << 61) - 1
#: For `bytes.translate`: 1 for the classes that are wanted.
_POOLED = bytes(where in POOLED for where in range(256))
_HELD = bytes(where not in POOLED for where in range(256))
#: What is in a step in which nothing is; never written to.
_NOTHING: list[int] = []


@dataclass(slots=True)
class Body:
    """What happened directly in one step, by index."""

    lanes: dict[str, list[int]] = field(default_factory=dict)  # events by agent (and stream)
    steps: list[int] = field(default_factory=list)
    loose: list[int] = field(default_factory=list)


class Side:
    """A trace as a tree, with what has been matched so far. `pairs` holds the other side's index or -1.

    What is read all the time is in lists by index, with a place more at the end for -1, the top: of an array,
    or a dict, each look makes an object or a call.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.pairs = [-1] * len(trace)
        self.pool = list(compress(range(len(trace)), trace.classes.translate(_POOLED)))
        self.keys = trace.keys.tolist()
        #: Of messages and blobs the hash of the path to them, of model steps that of their prompt.
        self.chains: list[int | None] = [None] * (len(trace) + 1)
        #: Of model steps the key of the last message of their prompt.
        self.prompts: dict[int, int] = {}
        _follow_chains(self)
        held = list(compress(range(len(trace)), trace.classes.translate(_HELD)))
        self.items = _items(trace, held)
        self.steps = [_NOTHING] * (len(trace) + 1)
        self.inside = [0] * (len(trace) + 1)
        self.deep = self.keys[:]
        _grow(self, held)
        self._streams = _streams(trace) if "stream_chunk" in trace.types else {}
        self._ends: dict[int, int] | None = None

    def body(self, step: int) -> Body:
        body = Body()
        agents, classes, streams = self.trace.agents, self.trace.classes, self._streams
        last, add = "", body.loose.append  # events of one lane mostly stand together
        for n in self.items[step]:
            where = classes[n]
            if where == EVENT:
                lane = agents[n] if not streams else streams.get(n) or agents[n]
                if lane != last or not body.lanes:
                    last, add = lane, body.lanes.setdefault(lane, []).append
                add(n)
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
        pairs = self.pairs
        return [n for n in indices if pairs[n] < 0]


def _follow_chains(side: Side) -> None:
    keys, messages, types = side.keys, side.trace.messages, side.trace.types
    chains, prompts = side.chains, side.prompts
    for n, id in side.trace.named.items():
        at = -1 if id is None else messages.get(id, -1)
        kind = types[n]
        if kind == "message":
            chains[n] = hash((keys[n], chains[at] or 0))
        elif kind == "step_start" and at >= 0:
            chains[n] = chains[at] or 0
            prompts[n] = keys[at]
    for n in side.pool:
        if chains[n] is None:
            chains[n] = keys[n]


def _items(trace: Trace, held: list[int]) -> list[list[int]]:
    """What is in each step, but for messages and blobs."""
    owners = trace.owners
    last = len(owners)  # no owner has this number
    items = [_NOTHING] * (last + 1)
    inner = _NOTHING
    for n in held:
        owner = owners[n]
        if owner != last:  # what is in one step mostly stands together
            last = owner
            inner = items[owner]
            if inner is _NOTHING:
                inner = items[owner] = []
        inner.append(n)
    return items


def _grow(side: Side, held: list[int]) -> None:
    """Child steps of each step, and of each the hash of everything in it, in any order."""
    deep, inside, steps, chains = side.deep, side.inside, side.steps, side.chains
    keys, classes, owners = side.keys, side.trace.classes, side.trace.owners
    # From the last to the first: what is in a step comes after it, and is whole when its turn is.
    for n in reversed(held):
        key, owner = keys[n], owners[n]
        if classes[n] == STEP:
            inner = inside[n] = inside[n] & _MASK
            deep[n] = hash((key, inner, chains[n]))
            key = hash((key, inner))
            if steps[owner] is _NOTHING:
                steps[owner] = []
            steps[owner].append(n)
        inside[owner] += key  # keys are hashes: their sum is one of all of them, in any order
    inside[-1] &= _MASK


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
