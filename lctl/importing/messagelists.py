"""Lists of messages with `role` and `content`: one, many, in JSON or JSON Lines, of OpenAI or Anthropic.

They do not say who made an assistant's message, but where an answer was put into the list as the API gave it,
with its `usage`: that one a model gave.
"""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.source import Source
from lctl.importing.usages import counts_of
from lctl.importing.values import dicts, mapping, text, tokens, whole, without
from lctl.spans import conventions as names

#: What an answer has beside what was said: it is told by its call.
_OF_ANSWERS = ("id", "type", "model", "usage", "stop_reason", "stop_sequence", "finish_reason")
#: What Cline keeps beside what was said.
_CLINE = frozenset({"ts", "modelInfo", "metrics"})
_COUNTS = {
    "input": names.INPUT_TOKENS,
    "output": names.OUTPUT_TOKENS,
    "cache_read": names.CACHE_READ,
    "cache_write": names.CACHE_WRITE,
    "reasoning": names.REASONING,
}


def sees(source: Source) -> str:
    found = _lists(source)
    if not found or 2 * sum(map(_is_message, found[0][1])) < len(found[0][1]):
        return ""
    if source.is_lines and _is_message(source.rows[0].value):
        return "lines of JSON with role and content"
    if isinstance(source.document, list) and _is_message((source.document or [None])[0]):
        return "a list of messages with role and content"
    return "lists of messages with role and content"


def read(source: Source, draft: Draft) -> None:
    found = _lists(source)
    if not found:
        raise NotImportable(f"{source.name}: no list of messages with role and content")
    for n, (where, messages, around) in enumerate(found, 1):
        _conversation(draft, where, messages, around, None if len(found) == 1 else n)


def _lists(source: Source) -> list[tuple[str, list[dict[str, Any]], dict[str, Any]]]:
    """(place, messages, what stands around them) of each conversation."""
    told = source.document
    if isinstance(told, list) and told and _is_message(told[0]):
        return [("message", dicts(told), {})]
    if isinstance(told, list) and told and isinstance(told[0], list):
        return [(f"item {n}", dicts(one), {}) for n, one in enumerate(told, 1) if dicts(one)]
    if source.is_lines and _is_message(source.rows[0].value):
        return [("message", [row.value for row in source.rows], {})]
    found = []
    for row in source.rows:
        value = _batched(row.value)
        for key in ("messages", "conversations", "conversation", "input", "history"):
            listed = dicts(value.get(key))
            if listed and _is_message(listed[0]):
                found.append((row.where, listed, {"key": key, **value}))
                break
    return found


def _batched(value: dict[str, Any]) -> dict[str, Any]:
    """The request that a row of a batch's input holds (OpenAI, Anthropic); of others the row itself."""
    held = mapping(value.get("body")) or mapping(value.get("params"))
    name = text(value.get("custom_id"))
    return {**held, "id": name} if held and name else value


def _conversation(
    draft: Draft, where: str, messages: list[dict[str, Any]], around: dict[str, Any], number: int | None
) -> None:
    name = text(around.get("conversation_id")) or text(around.get("id"))
    conversation = None if number is None else name or f"c{number}"
    prefix = "" if number is None else f"{conversation}/"
    if number is not None and f"{prefix}m1" in draft:
        prefix, conversation = f"{prefix}{number}/", f"{conversation}/{number}"
    parent: str | None = None
    about: dict[str, Any] = without(around, "key", text(around.get("key")), "system")
    system = around.get("system")
    if around.get("key") == "input":  # a call of the Responses API: what it gave goes on
        messages = [*messages, *dicts(around.get("output"))]
        system = system or around.get("instructions")
        about = without(about, "instructions") if isinstance(system, str | list) else about
        about = without(about, "output") if dicts(around.get("output")) else about
    if isinstance(system, str | list) and system:
        messages = [{"role": "system", "content": system}, *messages]
    of_cline = any("modelInfo" in message for message in messages)
    for count, message in enumerate(messages, 1):
        place = (
            f"{where}, message {count}" if number is not None or where != "message" else f"message {count}"
        )
        if not _is_message(message):
            draft.lose("item that is no message (no role)", place)
            continue
        id = f"{prefix}m{count}"
        details: dict[str, Any] = {"conversation": about} if parent is None and about else {}
        if parent is None and name:
            details["id"] = name
        call, at = _call(message), _time(message)
        if call is not None:
            message = without(message, *_OF_ANSWERS) | {"content": message.get("content")}
        elif of_cline:
            call = _of_cline(draft, message, place)
            message = {key: one for key, one in message.items() if key not in _CLINE}
        draft.add(
            id, message, parent, at=at, agent=text(message.get("agent")), call=call,
            conversation=conversation, details=details, where=place,
        )  # fmt: skip
        parent = id


def _call(message: dict[str, Any]) -> Call | None:
    """The call that gave a message, where it stands as an API gave it, with usage."""
    counts = counts_of(mapping(message.get("usage")))
    if message.get("role") != "assistant" or not counts:
        return None
    return Call(
        model=text(message.get("model")) or None,
        provider="anthropic" if message.get("type") == "message" else None,
        tokens=tokens(**{key: counts.get(name) for key, name in _COUNTS.items()}),
        finish_reason=text(message.get("stop_reason")) or text(message.get("finish_reason")) or None,
        response_id=text(message.get("id")) or None,
    )


def _of_cline(draft: Draft, message: dict[str, Any], place: str) -> Call | None:
    """The call that gave a message, as Cline keeps it beside what was said."""
    about = mapping(message.get("modelInfo"))
    if message.get("role") != "assistant" or not text(about.get("modelId")):
        return None
    used = mapping(mapping(message.get("metrics")).get("tokens"))
    cached = whole(used.get("cached"))  # beside the prompt
    if cached:
        draft.lose("which tokens were read from a cache: Cline tells those read and written as one", place)
    counted = tokens(input=whole(used.get("prompt")) + cached, output=used.get("completion"))
    provider = text(about.get("providerId")) or None
    return Call(model=text(about["modelId"]), provider=provider, tokens=counted if used else None)


def _time(message: dict[str, Any]) -> Any:
    return (
        message.get("timestamp")
        or message.get("created_at")
        or message.get("ts")
        or mapping(message.get("metadata")).get("timestamp")
    )


def _is_message(value: object) -> bool:
    """A message, or an item of the Responses API."""
    if not isinstance(value, dict):
        return False
    if not isinstance(value.get("role"), str):
        return isinstance(value.get("type"), str) and any(key in value for key in ("call_id", "summary"))
    return any(
        key in value for key in ("content", "tool_calls", "function_call", "parts", "refusal", "audio")
    )
