"""Reading a log into the columns of a `Trace`.

This is the dear part of a comparison, so an event is taken apart as bytes as far as possible: its line is
decoded but for the data, and the data only where ids stand amid what it says (`cutters`).
"""

from __future__ import annotations

import msgspec

from lctl.analysis.cutters import CUTTERS, Cutter, dump, load, reduced
from lctl.analysis.log import Log
from lctl.analysis.trace import EVENT, POOL, Trace
from lctl.codec.lines import decode
from lctl.state.collection import paused

#: Types whose first key says what they are about, in the order writers use.
_NAMED = frozenset({"tool_call", "fact_added", "fact_modified", "step_start", "error"})


class _Line(msgspec.Struct, gc=False):
    seq: int
    type: str
    agent: str = ""
    step: int | None = None
    data: msgspec.Raw = msgspec.Raw(b"{}")


@paused(ageing=True)
def read(log: Log) -> Trace:
    """Read a log into columns."""
    trace = Trace(log)
    decode = msgspec.json.Decoder(_Line).decode
    starts = trace.starts
    # One object for equal texts: 10 MB less to touch. With a type, what takes it apart, and if it is named.
    one = {}.setdefault  # type: ignore[var-annotated]
    kinds: dict[str, tuple[str, Cutter | None, bool]] = {}
    nested = False
    n = 0
    # One loop with everything at hand: at 100,000 events each call it makes costs what a comparison feels.
    seqs, keys, names, owners = trace.seqs, trace.keys, trace.names, trace.owners
    agents, types, classes = trace.agents, trace.types, trace.classes
    for number, line in enumerate(log.lines()):
        try:
            event = decode(line)
        except (ValueError, RecursionError):
            tolerated = _tolerate(line)
            if tolerated is None:
                trace.unread.add(number)
                continue
            event = tolerated
        agent, step = event.agent, event.step
        agent = one(agent, agent)
        kind = kinds.get(event.type)
        if kind is None:
            type = event.type
            kind = kinds[type] = (type, CUTTERS.get(type), type in _NAMED)
        type, cutter, named = kind
        raw = bytes(event.data)
        if step is None:
            owners.append(-1)
        else:
            owners.append(starts.get(step, -1))
            nested = True
        if cutter is None:
            said = raw
            where = EVENT
        else:
            said, where = cutter(trace, n, event.seq, raw)
        seqs.append(event.seq)
        types.append(type)
        agents.append(agent)
        classes.append(where)
        keys.append(hash((type, agent, said)) if where != POOL else hash((type, said)))
        names.append(hash(said[: said.find(b",")]) if named else 0)
        n += 1
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


def _tolerate(line: bytes) -> _Line | None:
    """An event with fields of the wrong type, as far as it can be told what it is."""
    try:
        raw = decode(line)
    except ValueError:
        return None
    if not isinstance(raw, dict) or type(raw.get("seq")) is not int:
        return None
    step, agent, data = raw.get("step"), raw.get("agent"), raw.get("data")
    return _Line(
        seq=raw["seq"],
        type=str(raw.get("type")),
        agent=agent if isinstance(agent, str) else "",
        step=step if type(step) is int else None,
        data=msgspec.Raw(dump(data if isinstance(data, dict) else {})),
    )


def _own_by_agent(trace: Trace) -> None:
    """Without step keys: the newest open step of the agent, which its step_end closes."""
    running: dict[str, list[int]] = {}
    for n, (kind, agent) in enumerate(zip(trace.types, trace.agents, strict=True)):
        mine = running.setdefault(agent, [])
        if kind == "step_start":
            mine.append(n)
        elif mine:
            trace.owners[n] = mine.pop() if kind == "step_end" else mine[-1]
