"""A draft as a log: messages, the model calls and tool calls they tell of, facts, what was selected."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from lctl.codec import Log, open_log
from lctl.codec.lines import encode_value
from lctl.events import VERSION
from lctl.importing.cleaning import Cleaner, cleaned
from lctl.importing.draft import Call, Draft, Edit, Fact, Failed, Said, ordered
from lctl.importing.source import Source
from lctl.importing.subagents import AgentSteps, conversation_of
from lctl.state.messages import tool_calls_of, tool_results_of
from lctl.state.moments import elapsed_ms


def log_of(draft: Draft, source: Source, cleaner: Cleaner | None = None) -> Log:
    """The draft's log. The same source gives the same log, byte for byte."""
    digest = hashlib.sha256(source.data).hexdigest()
    lines = _with_facts(draft) if draft.events else events_of(draft)
    if cleaner is not None:
        lines = cleaned(lines, cleaner, draft)
    imported = imported_of(draft, source, digest)
    chain = {
        "id": f"{draft.format}-{digest[:12]}",
        "imported": imported if cleaner is None else cleaner.value(imported),
    }
    return open_log(encode_value({"lctl": VERSION, "chain": chain}) + b"\n" + lines)


def imported_of(draft: Draft, source: Source, digest: str) -> dict[str, Any]:
    """What a log's header says of where it came from."""
    return {
        "from": draft.format,
        "file": source.path.name if source.path else source.name,
        "sha256": digest,
        **draft.about,
        "lost": [loss.to_dict() for loss in draft.losses.all()],
    }


def _with_facts(draft: Draft) -> bytearray:
    """The lines of the events of a draft that tells of steps, and of the facts about its messages."""
    writing = EventList(draft.agent)
    writing.lines, writing.count = draft.events, draft.events.count(b"\n")
    for fact in draft.facts:
        writing.add_fact(fact)
    return writing.lines


def events_of(draft: Draft) -> bytearray:
    """The lines of the events of a draft of messages, numbered from 1."""
    every = ordered(draft.said)
    writing = _Writing(draft, AgentSteps(draft, every))
    for said in every:
        writing.message(said)
    writing.end()
    return writing.lines


class EventList:
    """Events in order, and what is needed to give each tool result its call.

    Attributes:
        agent: of events whose source names none.
        lines: of the events. As values, or as what orjson gives for each (which has room for every letter
            to be escaped), they are many times as large.
        count: of the events.
        asked: id of a tool call that was asked for and has no result yet -> the call, and when.
    """

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.lines = bytearray()
        self.count = 0
        self.asked: dict[str, tuple[dict[str, Any], str]] = {}

    def add(self, type: str, at: str, agent: str, data: Mapping[str, Any], step: int | None = None) -> int:
        """One event; its seq."""
        self.count = seq = self.count + 1
        event: dict[str, Any] = {"seq": seq, "type": type, "timestamp": at, "agent": agent or self.agent}
        if step is not None:
            event["step"] = step
        event["data"] = data
        self.lines += encode_value(event) + b"\n"
        return seq

    def add_message(self, said: Said, step: int | None = None) -> int:
        """The event of a message."""
        data: dict[str, Any] = {"message_id": said.id, "parent_id": said.parent, **said.message, **said.place}
        if said.call is not None:
            data["sampled"] = True
            if said.call.error:
                data.setdefault("status", "error")
        if said.details:
            data["details"] = said.details
        return self.add("message", said.at, said.agent, data, step)

    def ask(self, said: Said) -> list[str]:
        """Note the tool calls a message asks for; their ids."""
        noted = []
        for asked in tool_calls_of(said.message):
            if isinstance(asked["id"], str) and isinstance(asked["name"], str):
                self.asked[asked["id"]] = (asked, said.at)
                noted.append(asked["id"])
        return noted

    def add_tool_results(self, said: Said, step: int | None = None) -> None:
        """A `tool_call` for each result in a message whose call is known."""
        for result in tool_results_of(said.message):
            asked = self.asked.pop(result["call_id"], None) if isinstance(result["call_id"], str) else None
            if asked is None:
                continue
            call, when = asked
            data = {
                "tool": call["name"],
                "input": call["arguments"],
                "error" if result["is_error"] else "output": result["output"],
                "call_id": result["call_id"],
                "derived": True,
            }
            measured = self.measured(call)
            if measured is not None:
                data["duration_ms"] = measured
            elif when and said.at:
                data["duration_ms"] = elapsed_ms(when, said.at)
            self.add("tool_call", said.at, said.agent, data, step)
            self.answered(call, result, said)

    def measured(self, call: dict[str, Any]) -> float | None:
        """Milliseconds that a tool call took, where the source says so."""
        return None

    def answered(self, call: dict[str, Any], result: dict[str, Any], said: Said) -> None:
        """Called after the `tool_call` of each result."""

    def add_fact(self, fact: Fact) -> int:
        data = {
            "id": fact.id,
            "text": fact.text,
            "source": fact.source,
            "about": fact.about,
            "value": fact.value,
        }
        return self.add("fact_added", fact.at, "", _filled(data))


class _Writing(EventList):
    """A draft's messages, one after another."""

    def __init__(self, draft: Draft, agents: AgentSteps) -> None:
        super().__init__(draft.agent)
        self._draft = draft
        self._agents = agents
        self._noted = sorted(draft.noted, key=lambda noted: noted.at)
        self._edited: set[str] = set()
        self._calls = _merged(draft.said)
        self._done: set[str] = set()
        self._open: tuple[str | None, int, Said, Call] | None = None  # key, step, last message, call
        self._last: dict[str, Said] = {}  # conversation -> its newest message

    def message(self, said: Said) -> None:
        call = said.call
        if self._open is not None and (call is None or call.key != self._open[0]):
            self._end_call()
        while self._noted and said.at and self._noted[0].at < said.at:
            self._note()
        begun = self._agents.begun(said)
        if begun is not None:
            self._agents.open(
                said, self.add("step_start", said.at, said.agent, begun, self._agents.host(said))
            )
        self.add_tool_results(said, self._agents.step(said))
        step = self._begin_call(said, call) if call is not None else None
        self.add_message(said, self._agents.step(said) if step is None else step)
        if call is not None and call.key is None:
            self._end_call()
        for failed in self._draft.failed.pop(said.id, ()):
            self._failed(said, failed)
        self.ask(said)
        self._last[conversation_of(said)] = said
        ended = self._agents.ended(said)
        if ended is not None:
            if self._open is not None:
                self._end_call()
            self.add("step_end", said.at, said.agent, ended, self._agents.step(said))

    def end(self) -> None:
        """What comes after the messages."""
        if self._open is not None:
            self._end_call()
        while self._noted:
            self._note()
        for fact in self._draft.facts:
            self.add_fact(fact)
        for view, id in self._draft.selected:
            self.add("view_select", "", "", {"view": view, "message_id": id})

    # -- model calls -------------------------------------------------------------------------

    def _begin_call(self, said: Said, call: Call) -> int | None:
        """The step of the call, begun with its first message: when the one before it came."""
        if self._open is not None:
            key, step, _, call = self._open
            self._open = (key, step, said, call)
            return step
        if call.key is not None:
            if call.key in self._done:
                return None  # told before, with other messages between: it is counted there
            self._done.add(call.key)
            call = self._calls[call.key]
        before = self._last.get(conversation_of(said))
        began = (
            before.at if before is not None and before.id == said.parent and before.at <= said.at else said.at
        )
        data = {
            "kind": "llm",
            "intent": "imported",
            "model": call.model,
            "provider": call.provider,
            "prompt": said.parent,
            "params": call.params,
        }
        step = self.add("step_start", began or said.at, said.agent, _filled(data), self._agents.step(said))
        self._open = (call.key, step, said, call)
        return step

    def _end_call(self) -> None:
        assert self._open is not None
        _, step, said, call = self._open
        self._open = None
        data = {
            "outcome": "error" if call.error else "success",
            "message": said.id,
            "model": call.model,
            "response_id": call.response_id,
            "finish_reason": call.finish_reason,
            "tokens": call.tokens,
            "duration_ms": call.duration_ms,
        }
        self.add("step_end", said.at, said.agent, _filled(data), step)

    def _failed(self, prompt: Said, failed: Failed) -> None:
        """A call that gave no message: its step, and the error in it."""
        call = failed.call
        asked = {"kind": "llm", "intent": "imported", "model": call.model, "provider": call.provider}
        step = self.add("step_start", failed.at, failed.agent, _filled({**asked, "prompt": prompt.id}))
        error = {"category": "execution_error", "type": "model_call_failed", "message": call.error}
        self.add("error", failed.at, failed.agent, error, step)
        end = {
            "outcome": "error",
            "model": call.model,
            "tokens": call.tokens,
            "duration_ms": call.duration_ms,
        }
        self.add("step_end", failed.at, failed.agent, _filled(end), step)

    # -- tools -------------------------------------------------------------------------------

    def measured(self, call: dict[str, Any]) -> float | None:
        return self._draft.durations.get(call["id"])

    def answered(self, call: dict[str, Any], result: dict[str, Any], said: Said) -> None:
        edit = self._draft.edits.get(call["id"])
        if edit is not None and not result["is_error"]:
            self._edit(edit, call, said)

    def _edit(self, edit: Edit, call: dict[str, Any], said: Said) -> None:
        """The file as a fact, which the newest edit of it tells."""
        count = "" if edit.lines is None else f" (+{edit.lines[0]} -{edit.lines[1]})"
        data = {
            "id": f"file:{edit.path}",
            "text": f"{'created' if edit.created else 'edited'} by {call['name']}{count}",
            "source": call["id"],
        }
        known = edit.path in self._edited
        self._edited.add(edit.path)
        kind = "fact_modified" if known else "fact_added"
        self.add(kind, said.at, said.agent, data, self._agents.step(said))

    def _note(self) -> None:
        noted = self._noted.pop(0)
        self.add(noted.type, noted.at, noted.agent, noted.data)


def _filled(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}


def _merged(said: Iterable[Said]) -> dict[str, Call]:
    """The calls that several messages came from, each as its messages tell of it together."""
    calls: dict[str, Call] = {}
    for one in said:
        if one.call is not None and one.call.key is not None:
            known = calls.get(one.call.key)
            calls[one.call.key] = one.call if known is None else _latest(known, one.call)
    return calls


def _latest(first: Call, later: Call) -> Call:
    """One call told of more than once: what was told last stands."""
    return Call(
        key=first.key,
        model=later.model or first.model,
        provider=later.provider or first.provider,
        tokens=later.tokens or first.tokens,
        finish_reason=later.finish_reason or first.finish_reason,
        duration_ms=later.duration_ms if later.duration_ms is not None else first.duration_ms,
        response_id=later.response_id or first.response_id,
        params=later.params or first.params,
        error=later.error or first.error,
    )
