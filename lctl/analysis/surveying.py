"""Making a survey of a log: one pass, then what can be said only when all of it has been seen."""

from __future__ import annotations

from operator import sub

import msgspec

from lctl.analysis.intervals import clip, length
from lctl.analysis.log import Log, raw_events, text
from lctl.analysis.pauses import inherited_until
from lctl.analysis.prices import Prices
from lctl.analysis.spans import exclusive
from lctl.analysis.survey import NAMELESS, Survey
from lctl.analysis.surveypass import SurveyPass
from lctl.state.model import Tokens
from lctl.state.reducer import fold


def survey(log: Log, prices: Prices | None = None) -> Survey:
    """Read a log once. Costs are filled in with `prices`; without, they stay None."""
    is_again = "fork" in log.chain or "rerun" in log.chain
    shared = inherited_until(log) if is_again else float("inf")
    reading = SurveyPass(Survey(text(log.chain.get("id"))), shared)
    for event in raw_events(log):
        reading.take(event)
    found = reading.found
    found.failures = reading.failed.count
    _close_open(found)
    _measure(found)
    _count_tokens(found)
    if is_again:
        for span in found.model_calls:
            span.inherited = reading.paid.get(span.seq, 0) <= shared
    if found.streams:
        _count_streams(found, log)
    if prices is not None:
        _price(found, prices)
    return found


def _close_open(found: Survey) -> None:
    for span in found.steps.values():
        if span.open:
            span.end = max(span.start, found.last or span.start)


def _measure(found: Survey) -> None:
    for span, share in zip(found.steps.values(), exclusive(found.steps), strict=True):
        span.exclusive_ms = share
        if span.children:
            inside = clip((found.steps[child].interval for child in span.children), span.interval)
            span.self_ms = span.wall_ms - length(inside)
        else:
            span.self_ms = span.wall_ms


def _count_tokens(found: Survey) -> None:
    """A step that reports tokens above steps that report theirs is their sum, not more tokens."""
    reporting: set[int] = set()
    for span in reversed(found.steps.values()):
        if span.seq in reporting:
            span.counted = False
        if span.parent is not None and (span.tokens is not None or span.seq in reporting):
            reporting.add(span.parent)


def _count_streams(found: Survey, log: Log) -> None:
    """Tokens of streams, where no step has reported them: the fold knows which those are."""
    state = fold(log.events())
    left = {agent: usage.tokens for agent, usage in state.agents.items()}
    nobodys = state.totals.tokens
    for seq, step in state.steps.items():
        if not step.counted or step.tokens is None:
            continue
        if step.streamed and seq in found.steps:
            found.steps[seq].tokens, found.steps[seq].counted = step.tokens, True
        nobodys = _less(nobodys, step.tokens)
        if step.agent in left:
            left[step.agent] = _less(left[step.agent], step.tokens)
    for tokens in left.values():
        nobodys = _less(nobodys, tokens)
    found.streamed = {agent: rest for agent, rest in {**left, "": nobodys}.items() if rest != Tokens()}


def _less(tokens: Tokens, other: Tokens) -> Tokens:
    return Tokens(*map(sub, msgspec.structs.astuple(tokens), msgspec.structs.astuple(other)))


def _price(found: Survey, prices: Prices) -> None:
    if found.streamed:
        found.unpriced[NAMELESS] = len(found.streamed)
    for span in found.steps.values():
        if span.tokens is None or not span.counted:
            continue
        span.cost = prices.cost(
            span.model, span.tokens, provider=span.provider, at=span.timestamp, url=span.url
        )
        if span.cost is None:
            name = span.model or NAMELESS
            found.unpriced[name] = found.unpriced.get(name, 0) + 1
