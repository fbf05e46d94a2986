"""Going through a run: from an event to the next of a kind, and one by one at its own speed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal

from lctl.debugger.asking import OfRun
from lctl.debugger.columns import MODEL
from lctl.debugger.failed import failed
from lctl.debugger.failing import Refused
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.events import Neighbour, Ticks
from lctl.debugger.views.rows import events_from


class NeighbourAsked(OfRun, kw_only=True):
    seq: int
    what: Literal["event", "step", "error", "checkpoint", "tool", "llm", "change", "handoff"] = "event"
    back: bool = False


_TYPES = {
    "step": ("step_start",),
    "checkpoint": ("checkpoint",),
    "tool": ("tool_call",),
    "change": ("fact_added", "fact_modified"),
    "handoff": ("handoff",),
}


def neighbour(run: Opened, asked: NeighbourAsked) -> Neighbour:
    """The next event of a kind, or the one before."""
    columns = run.columns_now(patience=5.0)
    row = columns.row(asked.seq if asked.back else asked.seq + 1)
    if asked.what == "event":
        row = row - 1 if asked.back else row
        return Neighbour(seq=columns.seq(row) if 0 <= row < len(columns) else None)
    if asked.what == "error":
        return Neighbour(seq=_failure(failed(run, columns), asked))
    if asked.what == "llm":
        codes = columns.codes_of("step_start", flavour=MODEL)
    else:
        codes = columns.codes_of(*_TYPES[asked.what])
    found = columns.next_of(codes, row, asked.back)
    return Neighbour(seq=None if found is None else columns.seq(found))


def _failure(seqs: Sequence[int], asked: NeighbourAsked) -> int | None:
    place = bisect_left(seqs, asked.seq) - 1 if asked.back else bisect_right(seqs, asked.seq)
    return seqs[place] if 0 <= place < len(seqs) else None


class TicksAsked(OfRun, kw_only=True, rename={"first": "from"}):
    first: int = 1
    limit: int = 5000


def ticks(run: Opened, asked: TicksAsked) -> Ticks:
    """Times of events one by one, to play them at their own speed."""
    if asked.limit < 1:
        raise Refused("bad_request", "limit is 1 or more")
    limit = min(asked.limit, 20_000)
    found: list[float | None] = []
    first, seq = max(asked.first, run.log.first_seq), None
    for event, _ in events_from(run, first):
        if len(found) == limit:
            seq = event.seq
            break
        found.append(run.ms(event.timestamp))
    return Ticks(first=first, ms=found, next=seq)
