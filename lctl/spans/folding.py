"""`Folding`: events in, spans out, each as soon as it is complete.

A step is a span, a tool call is a span, the chain itself is the span around them. Everything else that
happened in a step is a mark on its span. The tape is left out: it is for running again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from lctl.events import TAPE_TYPES, Event
from lctl.spans import attributes as made
from lctl.spans import conventions as names
from lctl.spans.span import Link, Mark, Span, nanoseconds, span_id, trace_id
from lctl.spans.talk import Talk
from lctl.values import real

#: What no span tells of: what is needed only to run again, and pieces of what is told whole.
LEFT_OUT = TAPE_TYPES | {"stream_chunk"}


class Log(Protocol):
    """An opened log."""

    @property
    def chain(self) -> Mapping[str, Any]: ...

    def events(self, start: int = ..., stop: int | None = ...) -> Iterator[Event]: ...


@dataclass(slots=True)
class _Open:
    """A step that has begun."""

    start: Event
    parent: int
    kind: str
    operation: str
    at_ns: int
    marks: list[Mark] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)
    answers: list[str] = field(default_factory=list)
    error: Mapping[str, Any] | None = None
    paid: int = 0  # the newest exchange that was answered live


def spans_of(log: Log, *, content: bool = True) -> list[Span]:
    """The spans of a log, in the order of their beginnings.

    Args:
        content: False leaves out what was said: prompts, answers, arguments and results of tools.
    """
    folding = Folding(log.chain, content=content, tail=getattr(log, "tail", None))
    found = [span for event in log.events() for span in folding.feed(event)]
    found += folding.finish()
    return sorted(found, key=lambda span: (span.start_ns, span.attributes.get(names.SEQ, 0)))


class Folding:
    """The spans of one chain, event by event.

    Args:
        chain: the header of its log.
        tail: its end, of a finished log: there a rerun says from where on it went its own way.
    """

    def __init__(self, chain: Mapping[str, Any], *, content: bool = True, tail: Any = None) -> None:
        self.chain_id = made.text(chain.get("id")) or "chain"
        self.trace_id = trace_id(self.chain_id)
        self._chain = chain
        self._content = content
        self._talk = Talk(content)
        self._open: dict[int, _Open] = {}
        self._tools: dict[str, str] = {}  # hash of tool definitions -> them, as the attribute
        self._root_marks: list[Mark] = []
        self._first_ns = self._last_ns = 0
        self._is_empty = True
        parent = chain.get("parent")
        self._parent: Mapping[str, Any] = parent if isinstance(parent, Mapping) else {}
        self._shared = _shared(chain, tail)

    def feed(self, event: Event) -> list[Span]:
        """Fold one more event; the spans it completes."""
        self._is_empty = False
        at = nanoseconds(event.timestamp) or self._last_ns
        self._first_ns = self._first_ns or at
        self._last_ns = max(self._last_ns, at)
        self._talk.follow(event)
        data = event.data
        match event.type:
            case "step_start":
                self._begin(event, at)
            case "step_end":
                return self._end(event, at)
            case "tool_call":
                return [self._tool_call(event, at)]
            case "message":
                self._message(event)
            case "exchange":
                step = self._open.get(event.step or 0)
                if step is not None:
                    step.said |= made.address(data.get("url"))
                    if data.get("match") == "live":
                        step.paid = event.seq
            case "blob":
                pass
            case _ if event.type not in LEFT_OUT:
                self._mark(event, at)
        return []

    def finish(self) -> list[Span]:
        """The spans of steps that have not ended, and the chain's own."""
        found = [self._span(seq, self._last_ns, {}, open=True) for seq in sorted(self._open, reverse=True)]
        if not self._is_empty:
            found.append(self._root())
        return found

    # -- steps -------------------------------------------------------------------------------

    def _begin(self, event: Event, at: int) -> None:
        above = self._open.get(event.step or 0)
        kind = made.text(event.data.get("kind"))
        step = _Open(
            event,
            event.step or 0,
            kind,
            made.operation_of(event.data, above.kind or "agent" if above is not None else ""),
            at,
        )
        tools = event.data.get("tools")
        if self._content and isinstance(tools, str):
            given = event.data.get("tool_definitions")
            if isinstance(given, list):
                self._tools[tools] = made.started(event.data, "", "").get(names.TOOL_DEFINITIONS, "")
            elif tools in self._tools:
                step.said[names.TOOL_DEFINITIONS] = self._tools[tools]
        if kind in ("llm", "embedding"):
            step.said |= self._talk.prompt(event)
            self._name_provider(step, event)
        self._open[event.seq] = step

    def _name_provider(self, step: _Open, event: Event) -> None:
        """The steps around a model call have its provider: the conventions require one of an agent."""
        provider = made.provider_name(event.data.get("provider"))
        above = self._open.get(step.parent)
        while above is not None and provider:
            if above.operation == "invoke_agent":
                above.said.setdefault(names.PROVIDER, provider)
            above = self._open.get(above.parent) if above.parent < above.start.seq else None

    def _end(self, event: Event, at: int) -> list[Span]:
        seq = event.step if event.step in self._open else self._newest(event.agent)
        if seq is None:
            self._mark(event, at)
            return []
        step = self._open[seq]
        given = event.data.get("messages")
        listed = given if isinstance(given, list) else [event.data.get("message")]
        step.answers = [id for id in listed if isinstance(id, str)] or step.answers
        step.said |= self._talk.answers(step.answers, made.reasons_of(event.data))
        step.said[names.END_SEQ] = event.seq
        return [self._span(seq, at, event.data)]

    def _newest(self, agent: str) -> int | None:
        """The newest open step of an agent, as logs without `step` mean it."""
        return next(
            (seq for seq in sorted(self._open, reverse=True) if self._open[seq].start.agent == agent), None
        )

    def _span(self, seq: int, end_ns: int, end: Mapping[str, Any], *, open: bool = False) -> Span:
        step = self._open.pop(seq)
        agent = step.start.agent
        outcome = made.text(end.get("outcome"))
        failed = outcome in ("error", "failure", "failed")
        said = made.started(step.start.data, agent, step.operation) | step.said
        said |= made.ended(_without_duration(end, end_ns - step.at_ns), failed, step.kind)
        error = ""
        if failed:
            error = made.error_text(step.error) if step.error else outcome
            said[names.ERROR_TYPE] = made.error_type(step.error) if step.error else "error"
        if open:
            said[names.OPEN] = True
        if step.kind in ("llm", "embedding") and step.paid <= self._shared:
            said[names.INHERITED] = True
        return self._made(
            Span(
                self.trace_id,
                span_id(self.chain_id, seq),
                span_id(self.chain_id, step.parent),
                made.span_name(step.operation, step.start.data, agent),
                step.at_ns,
                max(end_ns, step.at_ns),
                {names.CHAIN: self.chain_id, names.SEQ: seq, **said},
                step.marks,
                client=step.kind in ("llm", "embedding"),
                error=error,
                ok=outcome == "success",
            )
        )

    def _tool_call(self, event: Event, at: int) -> Span:
        data = event.data
        begun = at - round(min(max(real(data.get("duration_ms")) or 0.0, 0.0) * 1e6, at))
        said = made.tool_call(data, event.agent, (at - begun) / 1e6)
        failed = data.get("error") is not None and data.get("error") is not False
        return self._made(
            Span(
                self.trace_id,
                span_id(self.chain_id, event.seq),
                span_id(self.chain_id, event.step or 0),
                f"execute_tool {said[names.TOOL_NAME]}",
                begun,
                at,
                {names.CHAIN: self.chain_id, names.SEQ: event.seq, **said},
                error=made.error_text(data["error"]) if failed else "",
                ok=not failed,
            )
        )

    def _root(self) -> Span:
        """The span of the chain, linked to where it was forked or started from."""
        program = self._chain.get("program")
        name = made.text(self._chain.get("name")) or self.chain_id
        marks = sorted(self._root_marks + [self._message_mark(one) for one in self._talk.unseen.values()],
                       key=lambda mark: mark.at_ns)  # fmt: skip
        said: dict[str, Any] = {names.CHAIN: self.chain_id, names.SEQ: 0, names.OPERATION: "invoke_workflow",
                                names.WORKFLOW_NAME: name}  # fmt: skip
        if isinstance(program, Mapping) and isinstance(program.get("python"), str):
            said["process.runtime.version"] = program["python"]
        root = Span(self.trace_id, span_id(self.chain_id, 0), "", f"invoke_workflow {name}", self._first_ns,
                    self._last_ns, said, marks)  # fmt: skip
        rerun = self._chain.get("rerun")
        of = made.text(rerun.get("of")) if isinstance(rerun, Mapping) else ""
        above = made.text(self._parent.get("id")) or of
        if above:
            relation = "fork" if "fork" in self._chain else "rerun" if of else "parent"
            where = {
                names.RELATION: relation,
                names.PARENT_CHAIN: above,
                names.PARENT_SEQ: self._parent.get("seq"),
            }
            root.links.append(Link(trace_id(above), span_id(above, 0), made.filled(where)))
        return self._made(root)

    def _made(self, span: Span) -> Span:
        if not self._content:
            hidden = names.CONTENT | names.DETAIL_KEYS
            span.attributes = {k: v for k, v in span.attributes.items() if k not in hidden}
            for mark in span.marks:
                mark.attributes = {k: v for k, v in mark.attributes.items() if k not in hidden}
        return span

    # -- messages and marks --------------------------------------------------------------------

    def _message(self, event: Event) -> None:
        id = self._talk.message(event)
        step = self._open.get(event.step or 0)
        if step is not None and step.kind == "llm" and event.data.get("sampled") is True:
            step.answers.append(id)

    def _mark(self, event: Event, at: int) -> None:
        said: dict[str, Any] = {
            names.SEQ: event.seq,
            names.AGENT: event.agent,
            names.DATA: made.json_text(event.data),
        }
        name = f"lctl.{event.type}"
        step = self._open.get(event.step or 0)
        if event.type == "error":
            name = names.EXCEPTION
            said[names.EXCEPTION_TYPE] = made.error_type(event.data)
            said[names.EXCEPTION_MESSAGE] = made.error_text(event.data)
            if step is not None:
                step.error = event.data
        marks = step.marks if step is not None else self._root_marks
        marks.append(Mark(name, at, made.filled(said)))

    def _message_mark(self, event: Event) -> Mark:
        said = {names.SEQ: event.seq, names.AGENT: event.agent, names.DATA: made.json_text(event.data)}
        return Mark("lctl.message", nanoseconds(event.timestamp), made.filled(said))


def _without_duration(end: Mapping[str, Any], ns: int) -> Mapping[str, Any]:
    """The data of a step's end without its duration, where the span says the same."""
    took = real(end.get("duration_ms"))
    if took is None or abs(took - ns / 1e6) > 0.0005:
        return end
    return {key: value for key, value in end.items() if key != "duration_ms"}


def _shared(chain: Mapping[str, Any], tail: Any) -> float:
    """Up to this event a rerun or fork has the lines of the recording it was made of; -1 of a recording."""
    if "fork" in chain:
        parent = chain.get("parent")
        seq = parent.get("seq") if isinstance(parent, Mapping) else None
        return float(seq) if type(seq) is int else float("inf")
    if "rerun" not in chain:
        return -1.0
    ending = tail.get("rerun") if isinstance(tail, Mapping) else None
    first = ending.get("first_difference") if isinstance(ending, Mapping) else None
    seq = first.get("seq") if isinstance(first, Mapping) else None
    return float(seq) - 1 if type(seq) is int else float("inf")
