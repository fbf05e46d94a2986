"""A draft as a log: messages, the model calls and tool calls they tell of, facts, what was selected."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from lctl.codec import Log, open_log
from lctl.codec.lines import encode_value
from lctl.events import VERSION
from lctl.importing.draft import Call, Draft, Failed, Said, ordered
from lctl.importing.source import Source
from lctl.state.messages import tool_calls_of, tool_results_of
from lctl.state.moments import elapsed_ms


def log_of(draft: Draft, source: Source) -> Log:
    """The draft's log. The same source gives the same log, byte for byte."""
    digest = hashlib.sha256(source.data).hexdigest()
    imported = {
        "from": draft.format,
        "file": source.path.name if source.path else source.name,
        "sha256": digest,
        **draft.about,
        "lost": [loss.to_dict() for loss in draft.losses.all()],
    }
    chain = {"id": f"{draft.format}-{digest[:12]}", "imported": imported}
    writing = _Writing(draft)
    for said in ordered(draft.said):
        writing.message(said)
    writing.end()
    lines = [encode_value({"lctl": VERSION, "chain": chain}), *map(encode_value, writing.events)]
    return open_log(b"\n".join(lines) + b"\n")


class _Writing:
    """Events in order, and what is needed to give each tool result its call."""

    def __init__(self, draft: Draft) -> None:
        self.events: list[dict[str, Any]] = []
        self._draft = draft
        self._calls = _merged(draft.said)
        self._done: set[str] = set()
        self._open: tuple[str | None, int, Said, Call] | None = None  # key, step, last message, call
        self._asked: dict[str, tuple[dict[str, Any], str]] = {}  # call id -> the call, and when
        self._last: Said | None = None

    def message(self, said: Said) -> None:
        call = said.call
        if self._open is not None and (call is None or call.key != self._open[0]):
            self._end_call()
        results = tool_results_of(said.message)
        if results:
            self._tool_calls(said, results)
        step = self._begin_call(said, call) if call is not None else None
        data: dict[str, Any] = {"message_id": said.id, "parent_id": said.parent, **said.message, **said.place}
        if call is not None:
            data["sampled"] = True
        if said.details:
            data["details"] = said.details
        self._add("message", said.at, said.agent, data, step)
        if call is not None and call.key is None:
            self._end_call()
        for failed in self._draft.failed.pop(said.id, ()):
            self._failed(said, failed)
        for asked in tool_calls_of(said.message):
            if isinstance(asked["id"], str) and isinstance(asked["name"], str):
                self._asked[asked["id"]] = (asked, said.at)
        self._last = said

    def end(self) -> None:
        """What comes after the messages."""
        if self._open is not None:
            self._end_call()
        for fact in self._draft.facts:
            data = {
                "id": fact.id,
                "text": fact.text,
                "source": fact.source,
                "about": fact.about,
                "value": fact.value,
            }
            kept = {key: value for key, value in data.items() if value is not None}
            self._add("fact_added", fact.at, "", kept)
        for view, id in self._draft.selected:
            self._add("view_select", "", "", {"view": view, "message_id": id})

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
        before = self._last
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
        step = self._add("step_start", began or said.at, said.agent, _filled(data))
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
        self._add("step_end", said.at, said.agent, _filled(data), step)

    def _failed(self, prompt: Said, failed: Failed) -> None:
        """A call that gave no message: its step, and the error in it."""
        call = failed.call
        asked = {"kind": "llm", "intent": "imported", "model": call.model, "provider": call.provider}
        step = self._add("step_start", failed.at, failed.agent, _filled({**asked, "prompt": prompt.id}))
        error = {"category": "execution_error", "type": "model_call_failed", "message": call.error}
        self._add("error", failed.at, failed.agent, error, step)
        end = {
            "outcome": "error",
            "model": call.model,
            "tokens": call.tokens,
            "duration_ms": call.duration_ms,
        }
        self._add("step_end", failed.at, failed.agent, _filled(end), step)

    def _tool_calls(self, said: Said, results: list[dict[str, Any]]) -> None:
        """A `tool_call` for each result whose call is known."""
        for result in results:
            asked = self._asked.pop(result["call_id"], None) if isinstance(result["call_id"], str) else None
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
            if when and said.at:
                data["duration_ms"] = elapsed_ms(when, said.at)
            self._add("tool_call", said.at, said.agent, data)

    def _add(self, type: str, at: str, agent: str, data: Mapping[str, Any], step: int | None = None) -> int:
        seq = len(self.events) + 1
        event: dict[str, Any] = {
            "seq": seq,
            "type": type,
            "timestamp": at,
            "agent": agent or self._draft.agent,
        }
        if step is not None:
            event["step"] = step
        event["data"] = data
        self.events.append(event)
        return seq


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
