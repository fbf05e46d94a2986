"""`LCTLSpanProcessor`: spans of libraries that trace themselves become events.

    provider = TracerProvider()
    provider.add_span_processor(lctl.otel.LCTLSpanProcessor())

Agents, workflows and tasks become steps, and what is recorded meanwhile is in them. A model call is told only
if no exchange was seen beneath its span: the wire has told of it then. A tool's run is told only if nobody
else reported it. Other spans (HTTP, databases) say nothing.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lctl.errors import MissingExtra
from lctl.guard import guard
from lctl.instrument.structure import ModelCall, Runs
from lctl.otel.reported import Reported
from lctl.session.default import get_session
from lctl.session.runs import context
from lctl.spans import conventions as names
from lctl.spans import meaning
from lctl.spans.messages import messages_of
from lctl.spans.span import Mark, Span

try:
    from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
    from opentelemetry.trace import StatusCode
except ImportError:
    raise MissingExtra("lctl.otel.LCTLSpanProcessor", "otel") from None

if TYPE_CHECKING:
    from opentelemetry.context import Context

    from lctl.session.runs.context import Frame

_STEPS = frozenset({"agent", "chain", "task", "node", "plan", "workflow", "retriever"})
#: Spans of model work that say so only by their names when they begin.
_NAMED = (
    ("invoke_agent", "agent"), ("execute_tool", "tool"), ("running tool", "tool"), ("agent run", "agent"),
    ("chat ", "llm"), ("text_completion ", "llm"), ("generate_content ", "llm"), ("embeddings ", "embedding"),
)  # fmt: skip
_INVOKE_AGENT = "invoke_agent "
Key = tuple[int, int]


class LCTLSpanProcessor(SpanProcessor):
    """A span processor for `TracerProvider.add_span_processor`. It records into the session that the code
    which opens a span belongs to; outside any session it does nothing. It changes no span."""

    def __init__(self) -> None:
        self._runs = Runs()
        self._calls: dict[Key, _Told] = {}
        self._tools: dict[Key, _Ran] = {}
        self._within: dict[Key, _Ran] = {}  # open span -> the tool's run around it
        self._above: dict[Key, Key | None] = {}  # open span -> the nearest one around it that is a step
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def on_start(self, span: Any, parent_context: Context | None = None) -> None:
        with guard("a span of OpenTelemetry"):
            self._begin(span)

    def on_end(self, span: ReadableSpan) -> None:
        with guard("a span of OpenTelemetry"):
            self._end(span)

    def shutdown(self) -> None:
        """Steps still open end with their session."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return True

    def _begin(self, span: ReadableSpan) -> None:
        key = _key(span)
        parent = _parent(span)
        above = self._above.get(parent) if parent is not None and not self._runs.knows(parent) else parent
        self._above[key] = above
        around = None if parent is None else self._tools.get(parent) or self._within.get(parent)
        if around is not None:
            self._within[key] = around
        kind = _kind(span)
        if kind == "span" or get_session() is None:
            return
        if kind in meaning.MODEL_KINDS:
            self._calls[key] = _Told(meaning.requested_model(_plain(span)), self._runs.frame(above), kind)
        elif kind == "tool":
            session = get_session()
            if session is not None:
                reported = Reported.of(session)
                self._tools[key] = _Ran(reported, reported.now(), around)
        elif kind in _STEPS:
            self._within.pop(key, None)  # what runs in it is another call
            self._begin_step(key, kind, _plain(span), above)

    def _begin_step(self, key: Key, kind: str, said: Span, above: Key | None) -> None:
        agent = meaning.agent_of(said) or None
        if kind == "agent":
            if agent is None and said.name.startswith(_INVOKE_AGENT):  # says it later, but is named for it
                agent = said.name.removeprefix(_INVOKE_AGENT) or None
            here = context.current()
            if here is not None and here.step and here.agent == agent and not self._runs.tells_of(here):
                self._runs.is_told(key, here)  # the library's own integration has told, just around it
                return
        self._runs.begin(key, agent, kind=kind, intent=said.name, parent=above)

    def _end(self, span: ReadableSpan) -> None:
        key = _key(span)
        above = self._above.pop(key, None)
        call = self._calls.pop(key, None)
        tool = self._tools.pop(key, None)
        self._within.pop(key, None)
        if call is not None:
            call.end(_plain(span))
        elif tool is not None:
            self._end_tool(tool, _plain(span), above)
        elif self._runs.knows(key):
            said = _plain(span)
            if said.error and not self._runs.is_skipped(key):
                self._runs.emit(key, "error", _error(said))
            self._runs.end(key, outcome="error" if said.error else "success")

    def _end_tool(self, run: _Ran, said: Span, above: Key | None) -> None:
        data = meaning.tool_of(said)
        if not run.was_told(data) and not run.reported.knows(data, run.since):
            if said.error:
                data.pop("output", None)
                data["error"] = _error(said)["message"]
            run.reported.tell(lambda: self._runs.emit(above, "tool_call", data))
        while run.around is not None:  # spans of other layers around it tell of the same run
            run = run.around
            run.told.append(data)


@dataclass
class _Ran:
    """The run of a tool whose span is open.

    Attributes:
        around: that of the span of a tool around it, with no agent between.
        told: what the spans in it told of.
    """

    reported: Reported
    since: int
    around: _Ran | None
    told: list[dict[str, Any]] = field(default_factory=list)

    def was_told(self, data: dict[str, Any]) -> bool:
        """Whether a span in it has told of the same run: one may say the input, the other not."""
        mine = (data.get("tool"), data.get("input"))
        others = ((one.get("tool"), one.get("input", mine[1])) for one in self.told)
        return any(mine in ((name, given), (name, None)) for name, given in others)


class _Told:
    """A model call that a span tells of."""

    def __init__(self, model: str | None, frame: Frame | None, kind: str) -> None:
        self._read: list[dict[str, Any]] = []
        more = {} if kind == "llm" else {"kind": kind}
        self._call = ModelCall.begin(model, lambda: self._read or None, frame=frame, **more)

    def end(self, said: Span) -> None:
        """The span has ended: tell of the call, unless it has been seen on the wire."""
        told = meaning.call_of(said)
        self._read, gave = messages_of(said)
        end: dict[str, Any] = {"provider": told.provider, "params": told.params}
        error = _Failed(said.error) if said.error else None
        step = self._call.end(
            gave[0] if gave else None,
            usage=told.tokens,
            error=error,
            **{name: value for name, value in end.items() if value is not None},
        )
        above = self._call.above
        while step and above is not None:  # spans of other layers around it tell of the same call
            above.seen = True
            above = above.above


class _Failed(Exception):
    """A failure that a span tells of."""


def _kind(span: ReadableSpan) -> str:
    said = dict(span.attributes or {})
    if any(name in said for name in (names.OPERATION, "openinference.span.kind", "traceloop.span.kind")):
        return meaning.kind_of(_plain(span))
    for start, kind in _NAMED:
        if span.name.startswith(start):
            return kind
    if said.get("mcp.method.name") == "tools/call":
        return "tool"
    return "llm" if "gen_ai.request.model" in said or "gen_ai.system" in said else "span"


def _plain(span: ReadableSpan) -> Span:
    """The span as a plain value."""
    context = span.get_span_context()
    status = span.status
    failed = status.status_code is StatusCode.ERROR
    return Span(
        f"{context.trace_id:032x}" if context else "",
        f"{context.span_id:016x}" if context else "",
        f"{span.parent.span_id:016x}" if span.parent else "",
        span.name,
        span.start_time or 0,
        span.end_time or 0,
        # A key may be a member of an enumeration of texts.
        {str(getattr(key, "value", key)): value for key, value in (span.attributes or {}).items()},
        [Mark(event.name, event.timestamp, dict(event.attributes or {})) for event in span.events],
        error=(status.description or "error") if failed else "",
        scope=span.instrumentation_scope.name if span.instrumentation_scope else "",
    )


def _error(said: Span) -> dict[str, Any]:
    raised = next((mark.attributes for mark in said.marks if mark.name == names.EXCEPTION), {})
    kind = said.attributes.get(names.ERROR_TYPE) or raised.get(names.EXCEPTION_TYPE) or "error"
    text = raised.get(names.EXCEPTION_MESSAGE) or said.error
    return {"category": "execution_error", "type": str(kind), "message": str(text)}


def _key(span: ReadableSpan) -> Key:
    context = span.get_span_context()
    return (context.trace_id, context.span_id) if context else (0, 0)


def _parent(span: ReadableSpan) -> Key | None:
    return (span.parent.trace_id, span.parent.span_id) if span.parent else None
