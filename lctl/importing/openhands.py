"""Conversations of OpenHands: the events of its server (`action`, `observation`) or of its SDK (`kind`).

Actions of one answer name its response: they are one message. What runs tools says what came of each action.
Other events (states, recalls) are nothing that a model read.
"""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.answers import answer_of
from lctl.importing.draft import Call, Draft
from lctl.importing.source import Row, Source
from lctl.importing.usages import counts_of
from lctl.importing.values import dicts, function_call, mapping, text, tokens, without
from lctl.spans import conventions as names

_KINDS = frozenset({"SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent"})
_COUNTS = {
    "input": names.INPUT_TOKENS,
    "output": names.OUTPUT_TOKENS,
    "cache_read": names.CACHE_READ,
    "cache_write": names.CACHE_WRITE,
    "reasoning": names.REASONING,
}


def sees(source: Source) -> str:
    first = [row.value for row in _events(source)[:10]]
    if any(text(one.get("kind")) in _KINDS and "source" in one for one in first):
        return "events of OpenHands' SDK (kind, source)"
    shaped = [one for one in first if ("action" in one or "observation" in one) and "source" in one]
    return "events with action or observation, and source" if shaped and "id" in shaped[0] else ""


def read(source: Source, draft: Draft) -> None:
    events = _events(source)
    if not events:
        raise NotImportable(f"{source.name}: no events, as OpenHands writes them")
    draft.agent = "openhands"
    history = _History(draft)
    for row in events:
        history.take(row)


def _events(source: Source) -> list[Row]:
    """The events of a list, of lines, or in `history` of a result of its evaluations."""
    rows = source.rows
    held = dicts(rows[0].value.get("history") or rows[0].value.get("events")) if len(rows) == 1 else []
    return [Row(f"event {n}", one) for n, one in enumerate(held, 1)] or rows


class _History:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._leaf: str | None = None
        self._answers: dict[str, dict[str, Any]] = {}  # id of a response -> its message, which grows
        self._answered: set[str] = set()

    def take(self, row: Row) -> None:
        event = row.value
        match text(event.get("kind")):
            case "":
                self._served(row, event)
            case "SystemPromptEvent":
                said = text(mapping(event.get("system_prompt")).get("text"))
                more = text(mapping(event.get("dynamic_context")).get("text"))
                self._system(row, "\n\n".join(filter(None, (said, more))), event.get("tools"))
            case "MessageEvent":
                self._message(row, mapping(event.get("llm_message")))
            case "ActionEvent":
                self._acted(row, event)
            case "ObservationEvent":
                seen = mapping(event.get("observation"))
                self._result(row, seen.get("content") or seen.get("output"), seen.get("is_error") is True)
            case "AgentErrorEvent" | "UserRejectObservation":
                self._result(row, event.get("error") or event.get("rejection_reason"), failed=True)
            case "CondensationSummaryEvent":
                self._add(row, {"role": "user", "content": event.get("summary")})
            case kind:
                self._pass(row, f"{kind} event")

    # -- the SDK's events ----------------------------------------------------------------------

    def _message(self, row: Row, message: dict[str, Any]) -> None:
        kept = without(message, "tool_calls", "cache_enabled", "vision_enabled", "function_calling_enabled")
        call = Call(response_id=text(row.value.get("llm_response_id")) or None)
        by_model = kept.get("role") == "assistant"
        self._add(row, {"role": "user", "content": None, **kept}, call if by_model else None)

    def _acted(self, row: Row, event: dict[str, Any]) -> None:
        told = mapping(event.get("tool_call"))
        inner = mapping(told.get("function"))
        id = text(event.get("tool_call_id")) or text(told.get("id"))
        name = text(told.get("name")) or text(inner.get("name")) or text(event.get("tool_name"))
        arguments = told.get("arguments", inner.get("arguments", {}))
        asked = function_call(id, name, arguments)
        response = text(event.get("llm_response_id"))
        known = self._answers.get(response) if response else None
        if known is not None:
            known["tool_calls"].append(asked)
            return
        message = {"role": "assistant", "content": event.get("thought") or None, "tool_calls": [asked]}
        message |= without({key: event.get(key) for key in ("reasoning_content", "thinking_blocks")})
        self._answers[response] = self._add(row, message, Call(response_id=response or None))

    # -- the server's events -------------------------------------------------------------------

    def _served(self, row: Row, event: dict[str, Any]) -> None:
        args, action = mapping(event.get("args")), text(event.get("action"))
        told = mapping(event.get("tool_call_metadata"))
        if action == "system":
            self._system(row, text(args.get("content")), args.get("tools"))
        elif action and told:
            self._answer(row, told)
        elif action == "message" or (action and event.get("source") == "agent" and _words(event)):
            content: Any = text(args.get("content")) or _words(event)
            if pictures := args.get("image_urls"):
                shown = [{"type": "image_url", "image_url": {"url": url}} for url in pictures]
                content = [{"type": "text", "text": content}, *shown]
            by_model = event.get("source") == "agent"
            message = {"role": "assistant" if by_model else "user", "content": content}
            self._add(row, message, Call() if by_model else None)
        elif "observation" in event and told:
            failed = text(event.get("observation")) == "error"
            self._result(row, event.get("content"), failed, text(told.get("tool_call_id")))
        elif "observation" in event and event.get("source") == "agent" and text(event.get("content")):
            self._add(row, {"role": "user", "content": event["content"]})
        else:
            self._pass(row, f"{action or text(event.get('observation')) or 'untyped'} event")

    def _answer(self, row: Row, told: dict[str, Any]) -> None:
        """The answer that an action is a part of, once."""
        response = mapping(told.get("model_response"))
        answer = answer_of(response)
        if answer is None or not answer.messages:
            asked = function_call(
                text(told.get("tool_call_id")), text(told.get("function_name")), row.value.get("args")
            )
            self._add(row, {"role": "assistant", "content": None, "tool_calls": [asked]}, Call())
            return
        if answer.id and answer.id in self._answers:
            return
        counts = counts_of(mapping(response.get("usage")))
        call = Call(
            model=answer.model or None,
            tokens=tokens(**{key: counts.get(name) for key, name in _COUNTS.items()}) if counts else None,
            finish_reason=next(iter(answer.reasons), "") or None,
            response_id=answer.id or None,
        )
        self._answers[answer.id] = self._add(row, answer.messages[0], call)

    # -- both ----------------------------------------------------------------------------------

    def _system(self, row: Row, said: str, tools: object) -> None:
        self._add(row, {"role": "system", "content": said})
        if tools:
            self._draft.about["tools"] = tools

    def _result(self, row: Row, content: object, failed: bool, call: str = "") -> None:
        id = call or text(row.value.get("tool_call_id"))
        if id in self._answered:
            self._pass(row, "another result of one tool call")
            return
        self._answered.add(id)
        message: dict[str, Any] = {"role": "tool", "tool_call_id": id, "content": content}
        self._add(row, {**message, "is_error": True} if failed else message)

    def _pass(self, row: Row, what: str) -> None:
        self._draft.lose(f"{what}: no message", row.where)

    def _add(self, row: Row, message: dict[str, Any], call: Call | None = None) -> dict[str, Any]:
        id = f"m{len(self._draft) + 1}"
        event = {"event": row.value["id"]} if "id" in row.value else {}
        said = self._draft.add(
            id, message, self._leaf, at=row.value.get("timestamp"), call=call, details=event, where=row.where
        )
        self._leaf = id
        return said.message


def _words(event: dict[str, Any]) -> str:
    args = mapping(event.get("args"))
    return next(
        (text(args[key]) for key in ("final_thought", "thought", "content") if text(args.get(key))), ""
    )
