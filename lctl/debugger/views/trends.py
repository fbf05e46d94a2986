"""A value over the run: a curve of the debugger's charts."""

from __future__ import annotations

import heapq
from typing import Literal

import msgspec

from lctl.debugger.asking import OfRun
from lctl.debugger.moments import state_at
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.state import Series, Trend
from lctl.debugger.views.facts import newest_facts
from lctl.debugger.views.state import totals
from lctl.state.model import Fact, State


class TrendAsked(OfRun, kw_only=True):
    what: Literal["confidence", "tokens", "cost", "errors"] = "confidence"
    ids: list[str] = msgspec.field(default_factory=list)
    points: int = 400


def trend(run: Opened, asked: TrendAsked) -> Trend:
    """Values over the run; of confidence, each change of it (facts named, else the ten that changed most)."""
    if run.is_being_built:
        return Trend(what=asked.what, series=[])
    end, _ = state_at(run, None)
    if asked.what == "confidence":
        chosen = [end.facts[id] for id in asked.ids if id in end.facts] if asked.ids else _liveliest(end)
        series = [
            Series(name=one.id, points=[(entry[0], entry[1]) for entry in one.history]) for one in chosen
        ]
        return Trend(what=asked.what, series=series)
    count = max(2, min(asked.points, 2000))
    first, last = run.log.first_seq, end.seq
    seqs = sorted({first + (last - first) * n // (count - 1) for n in range(count)}) if last else []
    return Trend(what=asked.what, series=[_sums(run, asked.what, seqs)])


def _sums(run: Opened, what: str, seqs: list[int]) -> Series:
    points: list[tuple[int, float | None]] = []
    for seq in seqs:
        state = run.timeline.near(seq) if run.is_long and seq < seqs[-1] else run.timeline.at(seq)
        said = totals(run, state)
        value = said.cost if what == "cost" else said.errors if what == "errors" else said.tokens.total
        if not points or points[-1][1] != value:
            points.append((seq, value))
    return Series(name=what, points=points)


def _liveliest(end: State) -> list[Fact]:
    return heapq.nlargest(10, newest_facts(end, 500), key=lambda one: (len(one.history), one.modified))
