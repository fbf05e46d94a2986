"""Spans as the events of a log: steps that nest as they did, the messages of each model call, tools, errors.

Events stand in the order of time; spans that lctl itself wrote say which event they were, and stand in that.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from lctl.conversation.calls import tools_hash
from lctl.events import Event
from lctl.importing import spandetails as details
from lctl.importing.draft import Call, Draft
from lctl.importing.growing import Growing
from lctl.importing.spanforest import SpanForest
from lctl.importing.values import mapping, text
from lctl.importing.writing import EventList
from lctl.payloads import check
from lctl.spans import conventions as names
from lctl.spans import meaning
from lctl.spans.langchain import are_arguments
from lctl.spans.messages import is_broken, json_of, messages_of, value_of
from lctl.spans.span import Mark, Span, timestamp_of
from lctl.state.messages import text_of

#: What ends the name of a key in the text of a problem.
_KEY = re.compile(r"[.:\[ ]")
#: Moments of a span that are told otherwise.
_TOLD = (names.EXCEPTION, names.FIRST_EVENT)
#: What the message is of a call that ended so.
_BROKEN = {"error": "error", "aborted": "aborted", "cancelled": "aborted"}


def write(forest: SpanForest, draft: Draft) -> dict[str, str]:
    """Fill the draft with the events of these spans; span of a model call -> the last message it gave."""
    log = SpanLog(forest, draft)
    log.write()
    return log.gave


class SpanLog(EventList):
    """The events of spans, being written.

    Attributes:
        gave: id of a model's span -> the last message it gave.
    """

    def __init__(self, forest: SpanForest, draft: Draft) -> None:
        super().__init__("" if forest.is_ours else draft.agent)
        self.gave: dict[str, str] = {}
        self._forest = forest
        self._draft = draft
        unseen = any(mark.name == "lctl.message" for span in forest.spans for mark in span.marks)
        self._growing = Growing(draft, "w" if unseen else "m")
        self._steps: dict[int, int] = {}  # number of a span -> seq of its step
        self._parents: dict[int, str | None] = {}  # of a model's span -> last message of its prompt
        self._responses: dict[str, str] = {}  # id of an answer -> its last message
        self._defined: set[str] = set()
        self._failures = {
            n: details.same_failure(details.failure(span))
            for n, span in enumerate(forest.spans)
            if span.error
        }
        self._passed = {(above, said) for n, said in self._failures.items() for above in forest.around(n)}
        reported = (meaning.tool_of(forest.spans[n]).get("call_id") for n in forest.tools)
        self._reported = {id for id in reported if id}
        # Runs of tools before the call that they answer is told, and calls not yet looked for among them.
        self._unasked: Counter[tuple[str, str]] = Counter()
        self._unlooked: list[str] = []

    def write(self) -> None:
        forest = self._forest
        entries: list[tuple[tuple[float, ...], Callable[[], None]]] = []
        for n, span in enumerate(forest.spans):
            if n in forest.tools:
                entries.append((forest.end_key(n), _bound(self._tool, n)))
            elif n not in forest.roots:
                entries.append((forest.begin_key(n), _bound(self._begin, n)))
                if names.OPEN not in span.attributes:
                    entries.append((forest.end_key(n), _bound(self._end, n)))
            for mark in span.marks:
                if mark.name.startswith("lctl.") or (
                    mark.name == names.EXCEPTION and names.DATA in mark.attributes
                ):
                    entries.append((forest.mark_key(n, mark), _marking(self._mark, n, mark)))
                elif mark.name not in _TOLD and not mark.name.startswith("gen_ai."):
                    self._draft.lose(f"event {mark.name!r} of a span", self._where(n))
        for _, write in sorted(entries, key=lambda entry: entry[0]):
            write()
        self._draft.events = self.lines

    def add(self, type: str, at: str, agent: str, data: Mapping[str, Any], step: int | None = None) -> int:
        """One event, without what is not as the protocol says: a span may hold anything. 0 where nothing
        is left of it."""
        fitting = dict(data)
        for problem in check(Event(seq=1, type=type, timestamp=at, agent=agent, data=fitting)):
            key = _KEY.split(problem, maxsplit=1)[0]
            self._draft.lose(f"{key!r} of a {type or 'nameless event'} that is not as the protocol says")
            if fitting.pop(key, None) is None:
                return 0
        return super().add(type, at, agent, fitting, step)

    # -- steps -------------------------------------------------------------------------------

    def _begin(self, n: int) -> None:
        span, kind = self._forest.spans[n], self._forest.kinds[n]
        at, agent = timestamp_of(span.start_ns), self._forest.agent(n)
        data: dict[str, Any] = {
            "kind": kind if self._is_named(span) else None,
            "intent": self._intent(span, kind),
        }
        if kind in meaning.MODEL_KINDS:
            data |= self._asked_of_model(n, at, agent)
        if kind == "tool" and not details.is_ours(span):
            data["tool"] = meaning.tool_of(span)["tool"]
        if names.SEQ in span.attributes:
            data |= mapping(value_of(span.attributes.get(names.START_MORE)))
        else:
            read, _ = meaning.work_of(span)
            if kind not in ("llm", "tool") and read is not None:
                data["input"] = read
            data["span"] = details.rest(span)
        self._steps[n] = self.add("step_start", at, agent, details.filled(data), self._above(n))

    def _asked_of_model(self, n: int, at: str, agent: str) -> dict[str, Any]:
        """What a model was asked; the messages of the prompt that are new are written."""
        span = self._forest.spans[n]
        call = meaning.call_of(span)
        data: dict[str, Any] = {
            "model": meaning.requested_model(span) or call.model,
            "provider": call.provider,
            "operation": span.attributes.get(names.LCTL_OPERATION),
            "params": call.params,
            "stream": meaning.is_stream(span) or None,
        }
        definitions = details.definitions(span)
        if definitions:
            data["tools"] = hashed = tools_hash(definitions)
            if hashed not in self._defined:
                self._defined.add(hashed)
                data["tool_definitions"] = definitions
        read, given = messages_of(span)
        if self._is_embedding(n):
            texts = [text_of(one) for one in read]
            return {**data, "input": texts[0] if len(texts) == 1 else texts}
        if not read and not given:
            if self._forest.kinds[n] == "llm":
                self._draft.lose("model span without messages (their content was not traced)", self._where(n))
            return data
        if not read and span.span_id and not details.is_ours(span):
            self._draft.lose("call without its prompt in its span; only its answer", self._where(n))
        if not given and not span.error:
            self._draft.lose("call without an answer in its span; only what it read", self._where(n))
        before = len(self._draft.said)
        goes_on = self._responses.get(text((call.params or {}).get("previous_response_id")))
        if details.is_ours(span) or any(one.get("role") == "assistant" for one in read):
            goes_on = None  # it tells what went before
        if goes_on:  # instructions are given anew with each call
            read = [one for one in read if one.get("role") not in ("system", "developer")]
        about: dict[str, Any] = {"at": at, "agent": agent, "where": self._where(n)}
        self._parents[n] = self._growing.read(read, goes_on, **about)
        for said in self._draft.said[before:]:
            self._derive(said, n)
            self.add_message(said, self._above(n))
            self._unlooked += self.ask(said)
        return {**data, "prompt": self._parents[n]}

    def _end(self, n: int) -> None:
        span, kind = self._forest.spans[n], self._forest.kinds[n]
        ours = names.SEQ in span.attributes
        at, agent, step = timestamp_of(span.end_ns), self._forest.agent(n), self._steps[n]
        data: dict[str, Any] = {"outcome": details.outcome(span)}
        if kind in meaning.MODEL_KINDS:
            data |= self._answered(n, at, agent, step)
        elif n not in self._forest.twice and self._forest.counts_tokens(n):
            data["tokens"] = meaning.call_of(span).tokens
        data["duration_ms"] = meaning.took(span)
        if ours:
            more = mapping(value_of(span.attributes.get(names.END_MORE)))
            data["tokens"] = {**(data.get("tokens") or {}), **mapping(more.pop("tokens", None))} or None
            data |= more
        elif kind not in ("llm", "tool"):
            data["output"] = meaning.work_of(span)[1]
        if span.error and not ours:
            self._fail(n, at, agent, step)
        self.add("step_end", at, agent, details.filled(data), step)
        if kind == "tool" and not ours:
            self._tool(n)

    def _fail(self, n: int, at: str, agent: str, step: int) -> None:
        """One event for one failure, where it began: not in each span that it passed, and not for a request
        beneath a model's call that tells of it."""
        failure, above = details.failure(self._forest.spans[n]), self._forest.parents[n]
        is_told = (
            above is not None and above in self._failures and self._forest.kinds[above] in meaning.MODEL_KINDS
        )
        if (n, self._failures[n]) not in self._passed and not (is_told and self._forest.kinds[n] == "span"):
            self.add("error", at, agent, failure, step)

    def _answered(self, n: int, at: str, agent: str, step: int) -> dict[str, Any]:
        """What a model answered; its messages are written."""
        span = self._forest.spans[n]
        call = meaning.call_of(span)
        given = [] if self._is_embedding(n) else messages_of(span)[1]
        if span.error:  # OpenInference has an empty answer of a failed call of LangChain's
            given = [one for one in given if any(value for key, value in one.items() if key != "role")]
        before = len(self._draft.said)
        made = Call(**call._asdict())
        about: dict[str, Any] = {"at": at, "agent": agent, "where": self._where(n)}
        if is_broken(span) or details.outcome(span) in _BROKEN:
            about["status"] = _BROKEN.get(details.outcome(span) or "", "aborted")
        ids = self._growing.gave(given, self._parents.get(n), made, **about)
        for said in self._draft.said[before:]:
            self.add_message(said, step)
            self._unlooked += self.ask(said)
        if ids:
            self.gave[span.span_id] = ids[-1]
        if ids and call.response_id:
            self._responses[call.response_id] = ids[-1]
        reasons = value_of(span.attributes.get(names.FINISH_REASONS))
        each = reasons if isinstance(reasons, list) and len(reasons) == len(ids) else []
        return {
            "message": ids[0] if ids else None,
            "messages": ids if len(ids) > 1 else None,
            "model": call.model
            if names.RESPONSE_MODEL in span.attributes or not details.is_ours(span)
            else None,
            "response_id": call.response_id,
            "finish_reason": call.finish_reason,
            "finish_reasons": each if len(set(map(str, each))) > 1 else None,
            "tokens": call.tokens,
            "first_chunk_ms": call.first_chunk_ms,
            "cost": None if details.is_ours(span) else meaning.cost_of(span),
        }

    # -- tools and marks -----------------------------------------------------------------------

    def _tool(self, n: int) -> None:
        span = self._forest.spans[n]
        data = meaning.tool_of(span)
        if "call_id" not in data:
            data |= self._call_asked(data)
        asked = self.asked.pop(data.get("call_id", ""), None)
        if asked is not None and are_arguments(data.get("input"), asked[0]["arguments"]):
            data["input"] = asked[0]["arguments"]
        self._reported.add(data.get("call_id", ""))
        if "call_id" not in data and "input" in data:
            self._unasked[_run(data["tool"], data["input"])] += 1
        if span.error:
            data["error"] = (
                json_of(span.attributes[names.DATA])
                if names.DATA in span.attributes
                else details.tool_failure(span)
            )
            data.pop("output", None)
        if span.attributes.get(names.DERIVED) is True:
            data["derived"] = True
        data |= mapping(value_of(span.attributes.get(names.START_MORE)))
        if data.get("duration_ms", 0) is None:  # a log need not say
            del data["duration_ms"]
        self.add("tool_call", timestamp_of(span.end_ns), self._forest.agent(n), data, self._above(n))

    def _call_asked(self, data: Mapping[str, Any]) -> dict[str, str]:
        """The id of the model's call that a tool's run answers: same name, same input."""
        for id, (call, _) in self.asked.items():
            if call["name"] == data["tool"] and (
                call["arguments"] == data.get("input") or "input" not in data
            ):
                return {"call_id": id}
        return {}

    def _derive(self, said: Any, n: int) -> None:
        """Results of tools that no span reports."""
        looked, self._unlooked = self._unlooked, []
        for id in looked:
            if id not in self.asked:
                continue
            run = _run(self.asked[id][0]["name"], self.asked[id][0]["arguments"]) if self._unasked else None
            if id in self._reported:
                del self.asked[id]
            elif run is not None and self._unasked[run] > 0:
                self._unasked[run] -= 1
                del self.asked[id]
        self.add_tool_results(said, self._above(n))

    def _mark(self, n: int, mark: Mark) -> None:
        data = mapping(value_of(mark.attributes.get(names.DATA)))
        type = "error" if mark.name == names.EXCEPTION else mark.name.removeprefix("lctl.")
        agent = text(mark.attributes.get(names.AGENT))
        if type == "checkpoint":  # hashes are of the log it was in
            data = {key: value for key, value in data.items() if not key.endswith("_hash")}
        self.add(type, timestamp_of(mark.at_ns), agent, data, self._steps.get(n))

    # -- words ---------------------------------------------------------------------------------

    def _above(self, n: int) -> int | None:
        above = self._forest.parents[n]
        while above is not None and above not in self._steps:
            above = self._forest.parents[above]
        return None if above is None else self._steps[above]

    def _where(self, n: int) -> str:
        span = self._forest.spans[n]
        return f"span {span.span_id or span.name or '?'}"

    def _is_named(self, span: Span) -> bool:
        return not details.is_ours(span) or names.KIND in span.attributes

    def _is_embedding(self, n: int) -> bool:
        """Whether what it read is no part of a conversation, though some tell it as messages."""
        return self._forest.kinds[n] == "embedding" and not details.is_ours(self._forest.spans[n])

    def _intent(self, span: Span, kind: str) -> str | None:
        if details.is_ours(span):
            return span.attributes.get(names.INTENT)
        return "imported" if kind == "llm" and not span.name else span.name or None


def _bound(write: Callable[[int], None], n: int) -> Callable[[], None]:
    return lambda: write(n)


def _marking(write: Callable[[int, Mark], None], n: int, mark: Mark) -> Callable[[], None]:
    return lambda: write(n, mark)


def _run(tool: Any, input: Any) -> tuple[str, str]:
    """What tells a run of a tool from another; numbers may be of any length."""
    return str(tool), json.dumps(input, default=str, sort_keys=True)
