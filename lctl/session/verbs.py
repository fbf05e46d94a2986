"""The events a user records by hand: facts, tool calls, errors, messages, streams, hand-offs.

Every call returns the seq of its event, or 0 when it could not be recorded; none of them raises.
Arguments that are None are left out of the event; further keywords are kept in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lctl.record.recorder import Build, Draft
from lctl.session import jsonable
from lctl.session.confidences import stated
from lctl.session.llm import Prompts, response_message, tokens_of


class Verbs:
    """Mixed into `LCTLSession`."""

    _prompts: Prompts
    _streams: dict[int, list[Any]]

    if TYPE_CHECKING:  # what stands beside it

        def emit(
            self, type: str, data: dict[str, Any], *, agent: str | None = None, step: int | None = None
        ) -> int: ...
        def emit_many(self, build: Build) -> int: ...
        def _place(self) -> tuple[str, int | None]: ...
        def _milliseconds(self) -> float: ...
        def _is_alias(self, alias: str, message_id: str) -> bool: ...

    # -- facts -----------------------------------------------------------------------------

    def add_fact(
        self,
        id: str,
        text: str,
        confidence: float | None = None,
        source: str | None = None,
        *,
        agent: str | None = None,
        **data: Any,
    ) -> int:
        """A new fact; `confidence` from 0 to 1: gates and consensus pass over anything else."""
        sure = stated(confidence, "add_fact", id)
        given = _given(id=id, text=text, confidence=sure, source=source)
        return self.emit("fact_added", {**given, **data}, agent=agent)

    def modify_fact(
        self,
        id: str,
        text: str | None = None,
        confidence: float | None = None,
        reason: str | None = None,
        *,
        agent: str | None = None,
        **data: Any,
    ) -> int:
        """A change of a fact: its text, its confidence, or both."""
        sure = stated(confidence, "modify_fact", id)
        given = _given(id=id, text=text, confidence=sure, reason=reason)
        return self.emit("fact_modified", {**given, **data}, agent=agent)

    def read_facts(self, ids: list[str], *, agent: str | None = None, **data: Any) -> int:
        """An agent has used these facts (their confidence decays with each hop)."""
        return self.emit("fact_read", {"facts": ids, **data}, agent=agent)

    # -- tools and errors ------------------------------------------------------------------

    def tool_call(
        self,
        tool: str,
        input: Any = None,
        output: Any = None,
        duration_ms: float | None = None,
        *,
        error: Any = None,
        call_id: str | None = None,
        agent: str | None = None,
        **data: Any,
    ) -> int:
        """A tool was called; it gave `output`, or failed with `error`."""
        event: dict[str, Any] = {"tool": tool, "input": input}
        event |= {"output": output} if error is None else {"error": error}
        return self.emit(
            "tool_call", event | _given(duration_ms=duration_ms, call_id=call_id) | data, agent=agent
        )

    def error(
        self,
        category: str,
        type: str,
        message: str | BaseException,
        recoverable: bool = False,
        suggested_action: str | None = None,
        *,
        context: dict[str, Any] | None = None,
        agent: str | None = None,
        **data: Any,
    ) -> int:
        """A failure, in the protocol's taxonomy: `execution_error`/`timeout` and so on."""
        # An exception given as the message is its text.
        text = jsonable.text_of_error(message) if isinstance(message, BaseException) else message
        event = {"category": category, "type": type, "message": text, "recoverable": recoverable}
        return self.emit(
            "error", event | _given(suggested_action=suggested_action, context=context) | data, agent=agent
        )

    # -- conversations ---------------------------------------------------------------------

    def message(
        self,
        role: str,
        content: Any,
        *,
        message_id: str | None = None,
        parent_id: str | None = None,
        agent: str | None = None,
        **data: Any,
    ) -> int:
        """A message of a conversation, under `parent_id` (None: it begins one). Its id is `m<seq>`."""
        who, step = self._place()

        def build(first: int) -> list[Draft]:
            event = {
                "message_id": message_id or f"m{first}",
                "parent_id": parent_id,
                "role": role,
                "content": content,
            }
            return [("message", agent or who, event | data, step)]

        return self.emit_many(build)

    def alias(self, alias: str, message_id: str) -> int:
        """A message goes by another name too: as an outer system knows it. It need not be there yet; an alias
        that is recorded already is not recorded again."""
        if self._is_alias(alias, message_id):
            return 0
        return self.emit("message_alias", {"alias": alias, "message_id": message_id})

    def llm_trace(
        self,
        messages: Any = None,
        response: Any = None,
        model: str | None = None,
        usage: Any = None,
        duration_ms: float | None = None,
        *,
        agent: str | None = None,
        provider: str | None = None,
        outcome: str = "success",
        **data: Any,
    ) -> int:
        """A model call that was not seen on the wire, reported after it returned; its step's seq.

        Args:
            messages: the prompt: a list of message objects, or a text. What earlier calls of this
                session already sent is not stored again.
            response: the answer: text, a message, or an SDK's response object.
            usage: token counts, in any provider's names.
        """
        who, parent = self._place()
        who = agent or who
        step = 0

        def build(first: int) -> list[Draft]:
            nonlocal step
            drafts, leaf = self._prompts.drafts(messages, first, who, parent, model)
            step = first + len(drafts)
            start = {"kind": "llm", "intent": "llm", "model": model, "provider": provider, "prompt": leaf}
            drafts.append(("step_start", who, _given(**start) | data, parent))
            end: dict[str, Any] = {"outcome": outcome}
            answer = response_message(response)
            if answer is not None:
                sampled = self._prompts.sampled(answer, leaf, first + len(drafts))
                drafts.append(("message", who, sampled, step))
                end["message"] = sampled["message_id"]
            end |= _given(model=model, tokens=tokens_of(usage, response), duration_ms=duration_ms)
            drafts.append(("step_end", who, end, step))
            return drafts

        if self.emit_many(build):
            return step
        self._prompts.take_back()
        return 0

    # -- streams ---------------------------------------------------------------------------

    def stream_start(
        self, expected_chunks: int | str = "unknown", *, agent: str | None = None, **data: Any
    ) -> int:
        """A stream begins; its seq names it in `stream_chunk` and `stream_end`."""
        seq = self.emit("stream_start", {"expected_chunks": expected_chunks, **data}, agent=agent)
        self._streams[seq] = [0, 0, self._milliseconds()]
        return seq

    def stream_chunk(
        self,
        content: Any,
        tokens: int | None = None,
        index: int | None = None,
        *,
        stream: int | None = None,
        agent: str | None = None,
        **data: Any,
    ) -> int:
        """A piece of `stream` (the newest one when None); `index` counts from 0."""
        stream = self._stream(stream)
        counts = self._streams.get(stream) if type(stream) is int else None
        if counts is not None:
            if index is None:
                index = counts[0]
            counts[0] = max(counts[0], _whole(index) + 1)
            counts[1] += _whole(tokens)
        event = _given(index=index or 0, content=content, tokens=tokens, stream=stream)
        return self.emit("stream_chunk", event | data, agent=agent)

    def stream_end(
        self,
        total_chunks: int | None = None,
        total_tokens: int | None = None,
        duration_ms: float | None = None,
        *,
        stream: int | None = None,
        agent: str | None = None,
        **data: Any,
    ) -> int:
        """The end of `stream`; what is not given was counted."""
        stream = self._stream(stream)
        known = self._streams.pop(stream, None) if type(stream) is int else None
        chunks, tokens, started = known or (0, 0, None)
        if duration_ms is None and started is not None:
            duration_ms = round(self._milliseconds() - started, 3)
        event = _given(
            total_chunks=chunks if total_chunks is None else total_chunks,
            total_tokens=tokens if total_tokens is None else total_tokens,
            duration_ms=duration_ms,
            stream=stream,
        )
        return self.emit("stream_end", event | data, agent=agent)

    def _stream(self, stream: int | None) -> int | None:
        return stream if stream is not None else max(self._streams, default=None)

    # -- coordination ----------------------------------------------------------------------

    def handoff(
        self,
        to: str,
        *,
        from_: str | None = None,
        reason: str | None = None,
        facts: list[str] | None = None,
        agent: str | None = None,
        **data: Any,
    ) -> int:
        """The work goes from `agent` (`from_` is the same) to agent `to`, with the facts it should know."""
        who, _ = self._place()
        giver = from_ or agent or who
        event = _given(**{"from": giver}, to=to, reason=reason, facts=facts)
        return self.emit("handoff", event | data, agent=agent)


def _whole(count: Any) -> int:
    """A count to reckon with. What is none is recorded as it is, and `lctl validate` names it."""
    return int(count) if isinstance(count, int) else 0


def _given(**data: Any) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value is not None}
