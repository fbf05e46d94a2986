"""Sessions of Google's Agent Development Kit: `events` with `author` and `content`, in either spelling."""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.source import Source
from lctl.importing.values import dicts, mapping, text, tokens, whole, without

#: Keys of a part in the Python spelling, as the wire has them.
_PARTS = {
    "function_call": "functionCall", "function_response": "functionResponse", "inline_data": "inlineData",
    "file_data": "fileData", "thought_signature": "thoughtSignature", "executable_code": "executableCode",
    "code_execution_result": "codeExecutionResult",
}  # fmt: skip


def sees(source: Source) -> str:
    whole = mapping(source.document)
    events = dicts(whole.get("events"))
    if events and "author" in events[0] and "id" in whole:
        return "a session with events by author"
    return (
        "a session without events"
        if "events" in whole and ("app_name" in whole or "appName" in whole)
        else ""
    )


def read(source: Source, draft: Draft) -> None:
    whole = mapping(source.document)
    if "events" not in whole:
        raise NotImportable(f"{source.name}: no events, as a session of ADK has")
    draft.about["session"] = without(
        whole, "events", "past_events", "pending_events", "event_logs", "artifacts"
    )
    logs = {text(log.get("event_id")): log for log in dicts(whole.get("event_logs"))}
    parent: str | None = None
    for n, event in enumerate(dicts(whole["events"]), 1):
        content = mapping(event.get("content"))
        if not content:
            draft.lose("event without content (state or control)", f"event {n}")
            continue
        if event.get("partial") is True:
            draft.lose("partial event: the whole one follows", f"event {n}")
            continue
        parent = _message(draft, event, content, parent, logs, f"event {n}")
    for log in logs.values():
        config = mapping(mapping(log.get("model_request")).get("config"))
        if config.get("system_instruction") or config.get("tools"):
            draft.lose("system instruction and tools of a model call (they differ by agent)")
    if dicts(whole.get("past_events")):
        draft.lose("past event of an earlier session", count=len(dicts(whole["past_events"])))


def _message(
    draft: Draft,
    event: dict[str, Any],
    content: dict[str, Any],
    parent: str | None,
    logs: dict[str, Any],
    where: str,
) -> str:
    author = text(event.get("author"))
    role = text(content.get("role")) or ("user" if author == "user" else "model")
    parts = [
        {_PARTS.get(key, key): value for key, value in part.items() if value is not None}
        for part in dicts(content.get("parts"))
    ]
    id = text(event.get("id")) or where.replace(" ", "-")
    call = _call(event, mapping(logs.get(id))) if role == "model" else None
    details = without(event, "id", "author", "content", "timestamp", "usage_metadata", "usageMetadata")
    draft.add(
        id, {"role": role, "parts": parts}, parent, at=event.get("timestamp"), agent=author, call=call,
        details=details, where=where,
    )  # fmt: skip
    return id


def _call(event: dict[str, Any], log: dict[str, Any]) -> Call:
    answer = mapping(log.get("model_response"))
    usage = mapping(answer.get("usage_metadata") or event.get("usage_metadata") or event.get("usageMetadata"))
    choice = next(iter(dicts(answer.get("candidates"))), event)
    model = (
        text(mapping(log.get("model_request")).get("model"))
        or text(event.get("modelVersion"))
        or text(event.get("model_version"))
    )
    thought = usage.get("thoughts_token_count", usage.get("thoughtsTokenCount"))
    given = usage.get("candidates_token_count", usage.get("candidatesTokenCount"))
    total = usage.get("total_token_count", usage.get("totalTokenCount"))
    read = usage.get("prompt_token_count", usage.get("promptTokenCount"))
    # Google leaves what the model thought out of the output, other providers (by LiteLLM) do not.
    if thought is not None and total != whole(read) + whole(given):
        given = whole(given) + whole(thought)
    return Call(
        model=text(answer.get("model_version")) or model or None,
        provider="google" if model else None,
        tokens=tokens(
            input=read,
            output=given,
            cache_read=usage.get("cached_content_token_count", usage.get("cachedContentTokenCount")),
            reasoning=thought,
        ),
        finish_reason=text(choice.get("finish_reason") or choice.get("finishReason")) or None,
    )
