"""The one pass over a log that makes a survey: what each event adds to it.

A log without `step` keys is read as the protocol's plain examples are meant: an event belongs to the newest
open step of its agent, which a step_end closes.
"""

from __future__ import annotations

from typing import Any

from lctl.analysis.asked import COMMAND
from lctl.analysis.failures import FailureReading
from lctl.analysis.log import millis, model_of, number, role_of, text, tokens_of
from lctl.analysis.spans import ErrorSpan, MessageSpan, StepSpan, ToolSpan
from lctl.analysis.survey import Survey
from lctl.trust.numbers import unit


class SurveyPass:
    """Where the pass is: the time so far, and the open steps of each agent."""

    def __init__(self, found: Survey, shared: float) -> None:
        """`shared`: up to this event the lines are another run's, with its times."""
        self.found = found
        self._shared = shared
        self._now = 0.0
        self._structural = False  # the log says which step an event is in
        self._open: dict[str, list[int]] = {}
        self.failed = FailureReading()
        self.paid: dict[int, int] = {}  # model call of which something was sent -> that exchange
        self._handlers = {
            "step_start": self._step_start,
            "step_end": self._step_end,
            "tool_call": self._tool_call,
            "error": self._error,
            "message": self._message,
            "stream_start": self._stream,
            "fact_added": self._fact,
            "fact_modified": self._fact,
            "exchange": self._exchange,
            "handoff": self._handoff,
            "model_routing": self._routing,
            "ambient": self._ambient,
        }

    def take(self, event: dict[str, Any]) -> None:
        found = self.found
        found.events += 1
        at = millis(event.get("timestamp"))
        if at is not None:
            if event["seq"] > self._shared:
                if found.apart_ms is None:
                    found.apart_ms = max(0.0, at - self._now) if self._now else 0.0
                at -= found.apart_ms
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
        self.failed.take(event)
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
        size = len(content) if isinstance(content, str) else 0 if content is None else len(repr(content))
        known = self.found.messages.get(id)
        if known is not None:  # more of one that is there: what it says, or only whose it is
            known.size = max(known.size, size)
            known.sampled = known.sampled or data.get("sampled") is True
            return
        self.found.messages[id] = MessageSpan(
            id=id,
            seq=seq,
            step=step,
            role=text(data.get("role")),
            parent=text(data.get("parent_id")) or None,
            sampled=data.get("sampled") is True,
            size=size,
        )

    def _stream(
        self, seq: int, agent: str, step: int | None, data: dict[str, Any], event: dict[str, Any]
    ) -> None:
        if data.get("message_id"):  # else it is a stream of no message
            self._message(seq, agent, step, {"role": "assistant", **data}, event)

    def _fact(
        self, seq: int, agent: str, step: int | None, data: dict[str, Any], event: dict[str, Any]
    ) -> None:
        id = data.get("id")
        if not isinstance(id, str | int):
            return
        confidence = unit(data.get("confidence"))
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

    def _ambient(
        self, seq: int, agent: str, step: int | None, data: dict[str, Any], event: dict[str, Any]
    ) -> None:
        took = number(data.get("duration_ms"))
        if data.get("source") != COMMAND or took is None:
            return
        self.found.commands[seq] = StepSpan(
            seq=seq,
            agent=agent,
            kind=COMMAND,
            intent=text(data.get("key")),
            parent=step,
            start=self._now - took,
            end=self._now,
            timestamp=text(event.get("timestamp")),
            open=False,
            self_ms=took,
        )

    def _handoff(
        self, seq: int, agent: str, step: int | None, data: dict[str, Any], event: dict[str, Any]
    ) -> None:
        self.found.handoffs.append((seq, text(data.get("from")) or agent, text(data.get("to"))))
