"""Lists of messages with `role` and `content`: one, many, in JSON or JSON Lines, of OpenAI or Anthropic."""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Draft
from lctl.importing.source import Source
from lctl.importing.values import dicts, mapping, text, without


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
    whole = source.document
    if isinstance(whole, list) and whole and _is_message(whole[0]):
        return [("message", dicts(whole), {})]
    if isinstance(whole, list) and whole and isinstance(whole[0], list):
        return [(f"item {n}", dicts(one), {}) for n, one in enumerate(whole, 1) if dicts(one)]
    if source.is_lines and _is_message(source.rows[0].value):
        return [("message", [row.value for row in source.rows], {})]
    found = []
    for row in source.rows:
        for key in ("messages", "conversations", "conversation", "input", "history"):
            listed = dicts(row.value.get(key))
            if listed and _is_message(listed[0]):
                found.append((row.where, listed, {"key": key, **row.value}))
                break
    return found


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
        draft.add(
            id, message, parent, at=_time(message), agent=text(message.get("agent")),
            conversation=conversation, details=details, where=place,
        )  # fmt: skip
        parent = id


def _time(message: dict[str, Any]) -> Any:
    return (
        message.get("timestamp")
        or message.get("created_at")
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
