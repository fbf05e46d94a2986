"""One pass over a log that collects what statistics and bottlenecks are worked out from.

Times are milliseconds since the epoch. A log without `step` keys is read as the protocol's plain
examples are meant: an event belongs to the newest open step of its agent, which a step_end closes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import sub
from typing import Any

import msgspec

from lctl.analysis.intervals import Interval, clip, length, shares
from lctl.analysis.log import Log, millis, model_of, number, raw_events, role_of, text, tokens_of
from lctl.analysis.prices import Prices
from lctl.analysis.spans import ErrorSpan, MessageSpan, StepSpan, ToolSpan
from lctl.state.model import Tokens
from lctl.state.moments import Span, elapsed_ms
from lctl.state.reducer import fold

#: Stands for the model of calls that name none.
NAMELESS = "(no model named)"


@dataclass(slots=True)
class Survey:
    """What one pass found. Mappings are by seq (or id) in the order of the log."""

    chain_id: str
    events: int = 0
    first: float | None = None  # earliest and latest timestamp
    last: float | None = None
    stamps: Span = (None, None)  # the same as they are written
    steps: dict[int, StepSpan] = field(default_factory=dict)
    tools: list[ToolSpan] = field(default_factory=list)
    errors: list[ErrorSpan] = field(default_factory=list)
    messages: dict[str, MessageSpan] = field(default_factory=dict)
    facts: dict[str, float | None] = field(default_factory=dict)  # confidence as it stands
    fact_steps: dict[str, int | None] = field(default_factory=dict)  # step that added the fact
    handoffs: list[tuple[int, str, str]] = field(default_factory=list)  # seq, from, to
    agents: dict[str, int] = field(default_factory=dict)  # events that are work, by agent
    unpriced: dict[str, int] = field(default_factory=dict)  # model -> calls without a price
    streamed: dict[str, Tokens] = field(default_factory=dict)  # of streams outside any step, by agent
    streams: bool = False  # there are any
    routings: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)  # choice, what else there was

    @property
    def duration_ms(self) -> float:
        """Of the log: from its earliest timestamp to its latest."""
        return elapsed_ms(*self.stamps) or 0.0

    @property
    def span(self) -> Interval:
        """From the first moment the log knows of to the last, steps' stated durations included."""
        starts = [s.start for s in self.steps.values()] + ([self.first] if self.first is not None else [])
        ends = [s.end for s in self.steps.values()] + ([self.last] if self.last is not None else [])
        return (min(starts), max(ends)) if starts and ends else (0.0, 0.0)

    @property
    def model_calls(self) -> list[StepSpan]:
        return [step for step in self.steps.values() if step.is_model_call]


def survey(log: Log, prices: Prices | None = None) -> Survey:
    """Read a log once. Costs are filled in with `prices`; without, they stay None."""
    reading = _Reading(Survey(text(log.chain.get("id"))))
    for event in raw_events(log):
        reading.take(event)
    found = reading.found
    _close_open(found)
    _measure(found)
    _count_tokens(found)
    if "fork" in log.chain or "rerun" in log.chain:
        shared = _shared(log)
        for span in found.model_calls:
            span.inherited = reading.paid.get(span.seq, 0) <= shared
    if found.streams:
        _count_streams(found, log)
    if prices is not None:
        _price(found, prices)
    return found


def _shared(log: Log) -> float:
    """Up to this event a rerun or fork has the lines of the recording it was made of."""
    parent = log.chain.get("parent")
    if "fork" in log.chain and isinstance(parent, dict) and type(parent.get("seq")) is int:
        return float(parent["seq"])
    tail = getattr(log, "tail", None)
    ending = tail.get("rerun") if isinstance(tail, dict) else None
    first = ending.get("first_difference") if isinstance(ending, dict) else None
    seq = first.get("seq") if isinstance(first, dict) else None
    return float(seq) - 1 if type(seq) is int else float("inf")


class _Reading:
    """Where the pass is: the time so far, and the open steps of each agent."""

    def __init__(self, found: Survey) -> None:
        self.found = found
        self._now = 0.0
        self._structural = False  # the log says which step an event is in
        self._open: dict[str, list[int]] = {}
        self.paid: dict[int, int] = {}  # model call of which something was sent -> that exchange
        self._handlers = {
            "step_start": self._step_start,
            "step_end": self._step_end,
            "tool_call": self._tool_call,
            "error": self._error,
            "message": self._message,
            "fact_added": self._fact,
            "fact_modified": self._fact,
            "exchange": self._exchange,
            "handoff": self._handoff,
            "model_routing": self._routing,
        }

    def take(self, event: dict[str, Any]) -> None:
        found = self.found
        found.events += 1
        at = millis(event.get("timestamp"))
        if at is not None:
            self._now = at
            if found.first is None or found.last is None:
                found.first = found.last = at
                found.stamps = (event["timestamp"], event["timestamp"])
            elif at > found.last:
                found.last = at
                found.stamps = (found.stamps[0], event["timestamp"])
            elif at < found.first:
                found.first = at
                found.stamps = (event["timestamp"], found.stamps[1])
        kind = event.get("type")
        agent = text(event.get("agent"))
        if agent and kind not in ("checkpoint", "contract_validation", "gate"):
            found.agents[agent] = found.agents.get(agent, 0) + 1
        if kind == "stream_end":
            found.streams = True
        handler = self._handlers.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            handler(event["seq"], agent, self._step_of(event, agent), event["data"], event)

    def _step_of(self, event: dict[str, Any], agent: str) -> int | None:
        step = event.get("step")
        if type(step) is int:
            self._structural = True
            return step if step in self.found.steps else None
        if event.get("type") == "step_start" or (self._structural and event.get("type") != "step_end"):
            return None
        mine = self._open.get(agent)
        return mine[-1] if mine else None

    def _step_start(
        self, seq: int, agent: str, step: int | None, data: dict[str, Any], event: dict[str, Any]
    ) -> None:
        found = self.found
        if seq in found.steps:  # a log that repeats a seq: the first stands
            return
        found.steps[seq] = StepSpan(
            seq=seq,
            agent=agent,
            kind=text(data.get("kind")) or "agent",
            intent=text(data.get("intent")),
            parent=step,
            start=self._now,
            end=self._now,
            timestamp=text(event.get("timestamp")),
            model=model_of(data),
            role=role_of(data),
            provider=text(data.get("provider")) or None,
            tool=text(data.get("tool")) or None,
            input_summary=text(data.get("input_summary")),
            prompt=text(data.get("prompt")) or None,
        )
        if step is not None:
            found.steps[step].children.append(seq)
        self._open.setdefault(agent, []).append(seq)

    def _step_end(
        self, seq: int, agent: str, step: int | None, data: dict[str, Any], event: dict[str, Any]
    ) -> None:
        span = self.found.steps.get(step) if step is not None else None
        if span is None or not span.open:
            return
        span.open = False
        mine = self._open.get(span.agent)
        if mine and span.seq in mine:
            mine.remove(span.seq)
        duration = number(data.get("duration_ms"))
        span.end = span.start + duration if duration is not None else max(span.start, self._now)
        span.outcome = text(data.get("outcome"))
        span.output_summary = text(data.get("output_summary"))
        span.model = model_of(data) or span.model
        span.message = text(data.get("message")) or None
        span.first_chunk_ms = number(data.get("first_chunk_ms"))
        span.tokens = tokens_of(data)

    def _tool_call(
        self, seq: int, agent: str, step: int | None, data: dict[str, Any], event: dict[str, Any]
    ) -> None:
        error = data.get("error")
        self.found.tools.append(
            ToolSpan(
                seq=seq,
                agent=agent,
                step=step,
                tool=text(data.get("tool")) or "?",
                call_id=text(data.get("call_id")) or None,
                end=self._now,
                duration_ms=number(data.get("duration_ms")),
                failed=error is not None and error is not False,
                asked=hash((text(data.get("tool")), repr(data.get("input")))),
                got=hash((repr(data.get("output")), repr(error))),
            )
        )

    def _error(
        self, seq: int, agent: str, step: int | None, data: dict[str, Any], event: dict[str, Any]
    ) -> None:
        self.found.errors.append(
            ErrorSpan(
                seq=seq,
                agent=agent,
                step=step,
                category=text(data.get("category")) or "unknown",
                type=text(data.get("type")) or "unknown",
                recoverable=data.get("recoverable") is True,
            )
        )
        if step is not None:
            self.found.steps[step].errors.append(seq)

    def _message(
        self, seq: int, agent: str, step: int | None, data: dict[str, Any], event: dict[str, Any]
    ) -> None:
        id = text(data.get("message_id")) or f"#{seq}"
        content = data.get("content")
        self.found.messages[id] = MessageSpan(
            id=id,
            seq=seq,
            step=step,
            role=text(data.get("role")),
            parent=text(data.get("parent_id")) or None,
            sampled=data.get("sampled") is True,
            size=len(content)
            if isinstance(content, str)
            else len(repr(content))
            if content is not None
            else 0,
        )

    def _fact(
        self, seq: int, agent: str, step: int | None, data: dict[str, Any], event: dict[str, Any]
    ) -> None:
        id = data.get("id")
        if not isinstance(id, str | int):
            return
        confidence = number(data.get("confidence"))
        known = self.found.facts.get(str(id))
        self.found.facts[str(id)] = confidence if confidence is not None else known
        self.found.fact_steps.setdefault(str(id), step)

    def _routing(
        self, seq: int, agent: str, step: int | None, data: dict[str, Any], event: dict[str, Any]
    ) -> None:
        others = data.get("alternatives_considered")
        named = tuple(filter(None, map(text, others))) if isinstance(others, list) else ()
        self.found.routings.append((text(data.get("model")) or text(data.get("decision")) or "?", named))

    def _exchange(
        self, seq: int, agent: str, step: int | None, data: dict[str, Any], event: dict[str, Any]
    ) -> None:
        if step is not None:
            span = self.found.steps[step]
            span.attempts += 1
            if data.get("match") == "live":
                self.paid[step] = seq
            span.url = text(data.get("url")) or span.url
            span.last_attempt_ms = number(data.get("duration_ms"))

    def _handoff(
        self, seq: int, agent: str, step: int | None, data: dict[str, Any], event: dict[str, Any]
    ) -> None:
        self.found.handoffs.append((seq, text(data.get("from")) or agent, text(data.get("to"))))


def _close_open(found: Survey) -> None:
    for span in found.steps.values():
        if span.open:
            span.end = max(span.start, found.last or span.start)


def _measure(found: Survey) -> None:
    place = {seq: n for n, seq in enumerate(found.steps)}
    spans = list(found.steps.values())
    exclusive = shares(
        [span.interval for span in spans],
        [None if span.parent is None else place[span.parent] for span in spans],
    )
    for span, share in zip(spans, exclusive, strict=True):
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
