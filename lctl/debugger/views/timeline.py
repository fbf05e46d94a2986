"""The time bar: lanes of agents in bins, and what is marked on it."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from typing import Any, Literal

import msgspec

from lctl.analysis.log import number, text
from lctl.debugger.asking import OfRun
from lctl.debugger.columns import Columns
from lctl.debugger.failed import failed
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.common import Span
from lctl.debugger.shapes.events import Lane, Timeline
from lctl.debugger.sketching import sketch
from lctl.debugger.views.rows import depth_in, events_from, is_error, span

_LANES = 100
_SPANS = 4000
_MARKS = 2000
_WIDEST = 8192


class TimelineAsked(OfRun, kw_only=True, rename={"first": "from", "last": "to"}):
    first: int | None = None
    last: int | None = None
    width: int = 1200
    by: Literal["seq", "time"] = "seq"


def timeline(run: Opened, asked: TimelineAsked) -> Timeline:
    """The window in at most `width` bins."""
    columns = run.columns_now(0.0) if run.is_long else run.columns_now()
    first = max(asked.first if asked.first is not None else run.log.first_seq, run.log.first_seq)
    last = min(asked.last if asked.last is not None else run.log.last_seq, run.log.last_seq)
    width = max(1, min(asked.width, _WIDEST))
    if columns.progress < 1.0 and run.is_being_built:
        return sketch(run, columns, first, last, width, asked.by)
    if columns.progress < 1.0:  # of an unfinished one there will soon be another
        return _drawn(run, columns, first, last, width, asked.by)
    name = ("timeline", first, last, width, asked.by, run.is_being_built)
    return run.kept(name, lambda: _drawn(run, columns, first, last, width, asked.by))


def _drawn(run: Opened, columns: Columns, first: int, last: int, width: int, by: str) -> Timeline:
    with columns.lock:
        rows = len(columns)
        low, high = columns.row(first), columns.row(last + 1)
    if last < first or not len(run.log):
        edges, bounds = [first, first], [low, low]
    elif by == "time":
        edges, bounds = _by_time(columns, low, high, first, last, width)
    else:
        edges, bounds = _by_seq(columns, first, last, width)
    failures = failed(run, columns)
    errors, more_errors = columns.between(failures, first, last, _MARKS)
    checkpoints, more_checkpoints = columns.between(columns.checkpoints, first, last, _MARKS)
    handoffs, more_handoffs = columns.between(columns.handoffs, first, last, _MARKS)
    lanes = _lanes(columns, failures, bounds, edges)
    spans = _spans(run, columns, first, last, low, high) if rows else None
    tools = _tools(run, columns, low, high) if rows else None
    named = {one.agent for one in lanes if not one.others}
    lanes = [
        msgspec.structs.replace(lane, spans=_mine(lane, spans, named), tools=_mine(lane, tools, named))
        for lane in lanes
    ]
    return Timeline(
        first=first,
        last=last,
        by=by,
        edges=edges,
        ms=_times(run, columns, edges, bounds),
        progress=columns.progress,
        lanes=lanes,
        errors=errors,
        checkpoints=checkpoints,
        handoffs=handoffs,
        cut={"errors": more_errors, "checkpoints": more_checkpoints, "handoffs": more_handoffs},
    )


# -- bins ----------------------------------------------------------------------------------


def _by_seq(columns: Columns, first: int, last: int, width: int) -> tuple[list[int], list[int]]:
    """Edges, and the rows that stand at them."""
    count = last - first + 1
    bins = min(width, count)
    edges = [first + count * n // bins for n in range(bins + 1)]
    return edges, [columns.row(edge) for edge in edges]


def _by_time(
    columns: Columns, low: int, high: int, first: int, last: int, width: int
) -> tuple[list[int], list[int]]:
    start, end = columns.time(low), columns.time(max(low, high - 1))
    if start is None or end is None or end <= start:
        return [first, last + 1], [low, high]
    step = (end - start) / width
    bounds = [low]
    for n in range(1, width):
        bounds.append(min(high, max(bounds[-1], columns.row_at(start + n * step))))
    bounds.append(high)
    edges = [columns.seq(bound) for bound in bounds]
    edges[0], edges[-1] = first, last + 1
    return edges, bounds


def _times(run: Opened, columns: Columns, edges: list[int], bounds: list[int]) -> list[float | None]:
    """Time of each edge since the run began; read from the log where columns keep only some times."""
    if run.origin is None:
        return [None] * len(edges)
    exact = columns.stride == 1 or not edges
    found: list[float | None] = []
    close = {} if exact or edges[-1] - edges[0] > 4 * _MARKS else _exact(run, edges[0], edges[-1])
    for edge, bound in zip(edges, bounds, strict=True):
        at = close.get(edge)
        if at is None:
            time = columns.time(bound)
            at = None if time is None else round(time - run.origin, 3)
        found.append(at)
    return found


def _exact(run: Opened, first: int, stop: int) -> dict[int, float | None]:
    return {event.seq: run.ms(event.timestamp) for event, _ in events_from(run, first, stop + 1)}


# -- lanes ---------------------------------------------------------------------------------


def _lanes(columns: Columns, failures: array[int], bounds: list[int], edges: list[int]) -> list[Lane]:
    """By agent, in order of first event in the log; those beyond the hundredth together."""
    agents = columns.agents
    bins = len(bounds) - 1
    counts = [Counter(agents[bounds[n] : bounds[n + 1]]) for n in range(bins)]
    totals: Counter[int] = Counter()
    for one in counts:
        totals.update(one)
    wrong = _errors_by_agent(columns, failures, edges)
    shown = sorted(totals)
    rest = shown[_LANES:] if len(shown) > _LANES else []
    shown = shown[: _LANES - 1] if rest else shown
    if rest:
        rest = sorted(totals)[_LANES - 1 :]
    lanes = [
        Lane(
            agent=columns.names[code],
            total=totals[code],
            counts=[one[code] for one in counts],
            errors=_histogram(wrong.get(code, ()), bins),
            spans=None,
        )
        for code in shown
    ]
    if rest:
        lanes.append(
            Lane(
                agent="",
                total=sum(totals[code] for code in rest),
                counts=[sum(one[code] for code in rest) for one in counts],
                errors=_histogram([n for code in rest for n in wrong.get(code, ())], bins),
                spans=None,
                others=len(rest),
            )
        )
    return lanes


def _errors_by_agent(columns: Columns, failures: array[int], edges: list[int]) -> dict[int, list[int]]:
    """Agent -> the bin of each of its failures."""
    found: dict[int, list[int]] = {}
    a, b = bisect_left(failures, edges[0]), bisect_left(failures, edges[-1])
    n = 0
    for seq in failures[a:b]:
        while n + 1 < len(edges) and edges[n + 1] <= seq:
            n += 1
        row = columns.row(seq)
        if row < len(columns):
            found.setdefault(columns.agents[row], []).append(n)
    return found


def _histogram(places: list[int] | tuple[int, ...], bins: int) -> list[int]:
    made = [0] * bins
    for n in places:
        if n < bins:
            made[n] += 1
    return made


# -- spans ---------------------------------------------------------------------------------


def _spans(
    run: Opened, columns: Columns, first: int, last: int, low: int, high: int
) -> dict[str, list[Span]] | None:
    """The steps of the window by agent: those that begin in it and those open when it begins; None where
    there are too many to draw."""
    codes = columns.codes_of("step_start")
    if run.is_being_built or sum(columns.codes.count(code, low, high) for code in codes) > _SPANS:
        return None
    starts = [columns.seq(n) for n in range(low, high) if columns.codes[n] in codes]
    state = run.timeline.at(last)
    before = run.timeline.at(first - 1).open_steps if first > run.log.first_seq else ()
    depths: dict[int, int] = {}
    found: dict[str, list[Span]] = {}
    for seq in [*before, *starts]:
        step = state.steps.get(seq)
        if step is not None:
            found.setdefault(step.agent, []).append(
                span(run, step, depth_in(state, step, depths), priced=False)
            )
    return found


def _tools(
    run: Opened, columns: Columns, low: int, high: int
) -> dict[str, list[tuple[int, float | None, float | None, bool, str]]] | None:
    """The tool calls of the window by agent; None where there are too many to draw."""
    codes = {*columns.codes_of("tool_call")}
    if sum(columns.codes.count(code, low, high) for code in codes) > _SPANS or high <= low:
        return None if high > low else {}
    found: dict[str, list[tuple[int, float | None, float | None, bool, str]]] = {}
    for row in (row for row in range(low, high) if columns.codes[row] in codes):
        event = next(iter(run.log.events(columns.seq(row), columns.seq(row) + 1)), None)
        if event is None:
            continue
        end = run.ms(event.timestamp)
        took = number(event.data.get("duration_ms"))
        start = None if end is None else end - (took or 0.0)
        name = text(event.data.get("tool")) or "?"
        found.setdefault(event.agent, []).append((event.seq, start, end, is_error(event), name))
    return found


def _mine(lane: Lane, by_agent: dict[str, list[Any]] | None, named: set[str]) -> list[Any] | None:
    """What is of a lane's agent; of the last one, if it stands for many, what is of none of the others."""
    if by_agent is None:
        return None
    if lane.others:
        return [one for agent, some in by_agent.items() if agent not in named for one in some]
    return by_agent.get(lane.agent, [])
