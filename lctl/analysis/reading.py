"""Reading a log into the columns of a `Trace`.

This is the dear part of a comparison, so an event is taken apart as bytes as far as possible: its line is
decoded but for the data, and the data only where ids stand amid what it says (`cutters`).
"""

from __future__ import annotations

from lctl.analysis.cutters import CUTTERS, Cutter, load, reduced
from lctl.analysis.envelopes import envelopes
from lctl.analysis.log import Log
from lctl.analysis.trace import EVENT, POOLED, Trace
from lctl.state.collection import paused

#: Types whose first key says what they are about, in the order writers use.
_NAMED = frozenset({"tool_call", "fact_added", "fact_modified", "step_start", "error"})


@paused(ageing=True)
def read(log: Log) -> Trace:
    """Read a log into columns."""
    trace = Trace(log)
    starts = trace.starts
    # One object for equal texts: 10 MB less to touch. With a type, what takes it apart, and if it is named.
    one: dict[str, str] = {}
    kinds: dict[str, tuple[str, Cutter | None, bool]] = {}
    nested = False
    n = 0
    # One loop with everything at hand: at 100,000 events each call it makes costs what a comparison feels.
    agents, types, classes = trace.agents, trace.types, trace.classes
    for events in envelopes(log, trace.unread):
        # Appending to a list is no call, and an array takes a list over in one.
        keys: list[int] = []
        names: list[int] = []
        owners: list[int] = []
        for event in events:
            try:
                type, cutter, named = kinds[event.type]
            except KeyError:
                type = event.type
                cutter, named = CUTTERS.get(type), type in _NAMED
                kinds[type] = (type, cutter, named)
            try:
                agent = one[event.agent]
            except KeyError:
                agent = one[event.agent] = event.agent
            step = event.step
            if step is None:
                owners.append(-1)
            else:
                owners.append(starts.get(step, -1))
                nested = True
            if cutter is None:
                said = bytes(event.data)
                where = EVENT
            else:
                said, where = cutter(trace, n, event.seq, bytes(event.data))
            types.append(type)
            agents.append(agent)
            classes.append(where)
            keys.append(hash((type, agent, said)) if where not in POOLED else hash((type, said)))
            names.append(hash(said[: said.find(b",")]) if named else 0)
            n += 1
        trace.seqs.fromlist([event.seq for event in events])
        trace.keys.fromlist(keys)
        trace.names.fromlist(names)
        trace.owners.fromlist(owners)
    if not nested:
        _own_by_agent(trace)
    return trace


def essences(trace: Trace, wanted: set[int]) -> dict[int, bytes]:
    """Type and essence of some events, in one pass over the log. (Its `event(seq)` seeks, which is dearer
    than decoding from a few events in a hundred on.)"""
    found: dict[int, bytes] = {}
    n = -1
    for number, line in enumerate(trace.log.lines()):
        if number in trace.unread:
            continue
        n += 1
        if n in wanted:
            data = load(line).get("data")
            kind = trace.types[n]
            found[n] = kind.encode("utf-8", "surrogatepass") + reduced(
                kind, data if isinstance(data, dict) else {}, trace.calls
            )
    return found


def _own_by_agent(trace: Trace) -> None:
    """Without step keys: the newest open step of the agent, which its step_end closes."""
    running: dict[str, list[int]] = {}
    for n, (kind, agent) in enumerate(zip(trace.types, trace.agents, strict=True)):
        mine = running.setdefault(agent, [])
        if kind == "step_start":
            mine.append(n)
        elif mine:
            trace.owners[n] = mine.pop() if kind == "step_end" else mine[-1]
