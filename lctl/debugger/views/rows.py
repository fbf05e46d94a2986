"""An event as a row of a list, a step as a span."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lctl.analysis import modelcosts
from lctl.analysis.describe import summary
from lctl.analysis.log import model_of, number, text
from lctl.analysis.modelcosts import Calls
from lctl.analysis.prices import Prices
from lctl.codec.lines import decode
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.common import Row, Span
from lctl.events import Event
from lctl.state.messages import tool_results_of
from lctl.state.model import State, Step, Tokens, Usage

FAILURES = frozenset({"error", "failed", "failure", "aborted", "cancelled"})


def events_from(run: Opened, start: int, stop: int | None = None) -> Iterator[tuple[Event, int]]:
    """Events with start <= seq < stop, each with the size of its line."""
    for line in run.log.lines(start, stop):
        try:
            raw = decode(line)
            if not isinstance(raw, dict) or type(raw.get("seq")) is not int:
                continue
            event = Event.from_dict(raw if "type" in raw else {**raw, "type": ""})
        except (ValueError, TypeError, AttributeError, KeyError):
            continue  # no event, as `Log.events` says, too
        yield event, len(line)


def row(run: Opened, event: Event, size: int) -> Row:
    data = event.data
    return Row(
        seq=event.seq,
        type=event.type,
        agent=event.agent,
        step=event.step,
        depth=run.depth(event.step),
        ms=run.ms(event.timestamp),
        timestamp=text(event.timestamp),
        summary=summary(event),
        error=is_error(event),
        kind=text(data.get(_KINDS[event.type])) or None if event.type in _KINDS else None,
        name=_name(event.type, data),
        duration_ms=number(data.get("duration_ms")),
        size=size,
    )


def is_error(event: Event) -> bool:
    """It tells of a failure."""
    data = event.data
    if event.type == "error":
        return True
    if event.type == "step_end":
        return text(data.get("outcome")) in FAILURES
    if event.type == "exchange":
        status = data.get("status")
        return bool(data.get("error")) or (type(status) is int and status >= 400)
    return event.type == "tool_call" and data.get("error") not in (None, False)


def _name(type: str, data: Mapping[str, Any]) -> str | None:
    if type == "step_start":
        return text(data.get("tool")) or model_of(data) or text(data.get("intent")) or None
    if type == "message":
        results = tool_results_of(data)
        return text(results[0].get("call_id")) or None if results else text(data.get("role")) or None
    if type in ("fact_added", "fact_modified"):
        id = data.get("id")
        return str(id) if isinstance(id, str | int) else None
    keys = _NAMES.get(type, ())
    return next((found for key in keys if (found := text(data.get(key)))), None)


_KINDS = {"step_start": "kind", "ambient": "source"}
_NAMES: dict[str, tuple[str, ...]] = {
    "tool_call": ("tool",),
    "error": ("type", "category"),
    "step_end": ("model", "outcome"),
    "exchange": ("url",),
    "handoff": ("to",),
    "stream_start": ("message_id",),
    "ambient": ("key", "source"),
    "output": ("stream",),
    "blob": ("media_type",),
}


def span(run: Opened, step: Step, depth: int, *, priced: bool = True) -> Span:
    """A step as it stands in a state."""
    start = run.ms(step.start)
    end = run.ms(step.end)
    if start is not None and step.end_seq is not None and step.duration_ms is not None:
        end = start + step.duration_ms
    return Span(
        seq=step.seq,
        end_seq=step.end_seq,
        agent=step.agent,
        kind=step.kind,
        name=step.tool or step.model or step.intent or step.kind,
        intent=step.intent,
        parent=step.parent,
        depth=depth,
        start_ms=start,
        end_ms=end,
        open=step.end_seq is None,
        error=text(step.outcome) in FAILURES or step.errors > 0,
        tokens=step.tokens,
        cost=cost(run, step.model, step.tokens, step.start) if priced else None,
        model=step.model,
        tool=step.tool,
        outcome=step.outcome,
    )


def depth_in(state: State, step: Step, known: dict[int, int]) -> int:
    """How many steps are around a step, by its parents."""
    way: list[int] = []
    at: Step | None = step
    while at is not None and at.seq not in known and len(way) < 1000:
        way.append(at.seq)
        at = state.steps.get(at.parent) if at.parent is not None else None
    depth = known[at.seq] + 1 if at is not None and at.seq in known else 0
    for seq in reversed(way):
        known[seq] = depth
        depth += 1
    return known[step.seq]


def cost(run: Opened, model: str | None, tokens: Tokens | None, at: str | None) -> float | None:
    """US dollars; None where no price is known or nothing was counted."""
    if not model or tokens is None or not tokens.total:
        return None
    return run.prices.cost(model, tokens, at=at or "")


def cost_of(run: Opened, model: str, used: Usage, now: State) -> float | None:
    """US dollars of all calls of a model together."""
    if not used.tokens.total:
        return None
    prices = run.prices
    even = run.is_long or prices.is_even(model, used.tokens, used.calls, at=now.last_timestamp or "")
    calls = None if even else _calls(run, model, prices)
    if calls is None:
        cost = prices.of_calls(model, used.tokens, used.calls, at=now.last_timestamp or "")
    else:
        cost = modelcosts.cost_of(now, model, used, prices, calls)
    return None if cost is None else rounded(cost)


def rounded(dollars: float) -> float:
    """Without the traces of the order in which it was added up."""
    return round(dollars, 10)


def _calls(run: Opened, model: str, prices: Prices) -> Calls | None:
    """Of the whole run, once for all its moments."""
    end = run.timeline.at(run.log.last_seq)
    if len(end.steps) > modelcosts.MOST:
        return None
    return run.kept(("calls", model), lambda: Calls(model, end.steps.values(), prices))
