"""assistant-ui: `{"messages": [{"message": ..., "parentId": ...}], "headId": ...}`, or rows of its storage.

One message of assistant-ui is a whole answer: text, tool calls and their results, more text. It becomes as
many messages as a model reads: `id`, then `id#2`, ... and `id:<tool call>` for each result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Draft
from lctl.importing.source import Source
from lctl.importing.values import as_json, dicts, function_call, mapping, text, without

_STATUS = {"running": "streaming", "incomplete": "aborted", "requires-action": "complete"}


def sees(source: Source) -> str:
    rows = _rows(source)
    return "messages with parentId and content parts" if rows else ""


def read(source: Source, draft: Draft) -> None:
    rows = _rows(source)
    if not rows:
        raise NotImportable(f"{source.name}: no messages with a parentId, as assistant-ui exports them")
    tails: dict[str, str] = {}
    parents: dict[str, str] = {}
    for n, (own, parent) in enumerate(rows, 1):
        id = text(own.get("id")) or f"m{n}"
        tails[id] = _message(draft, id, own, parent and tails.get(parent, parent), f"message {n}")
        if parent is not None:
            parents[id] = parent
    for id, parent in parents.items():  # also of a parent that came later in the file
        draft.message(id).parent = tails.get(parent, parent)
    head = mapping(source.document).get("headId")
    if isinstance(head, str):
        if head in tails:
            draft.select(tails[head])
        else:
            draft.lose("headId of a message that is not in the file")


def _rows(source: Source) -> list[tuple[dict[str, Any], str | None]]:
    """(message, id of its parent)."""
    found: list[tuple[dict[str, Any], str | None]] = []
    listed = dicts(mapping(source.document).get("messages")) or [row.value for row in source.rows]
    for item in listed:
        own = item.get("message")
        if isinstance(own, dict) and "parentId" in item and isinstance(own.get("role"), str):
            found.append((own, text(item["parentId"]) or None))
        elif text(item.get("format")).startswith("aui/") and isinstance(item.get("content"), dict):
            own = {"id": item.get("id"), "createdAt": item.get("created_at"), **item["content"]}
            found.append((own, text(item.get("parent_id")) or None))
    return found


def _message(draft: Draft, id: str, own: dict[str, Any], parent: str | None, where: str) -> str:
    """All that one message is; the id of the last."""
    role = text(own.get("role")) or "user"
    content = own.get("content")
    at = own.get("createdAt")
    status = _STATUS.get(text(mapping(own.get("status")).get("type")), "")
    details = without(own, "id", "role", "content", "createdAt", "status")
    if isinstance(content, str) or role != "assistant":
        draft.add(id, {"role": role, "content": _parts(content)}, parent, at=at, details=details, where=where)
        return id
    last = parent
    rounds = list(_rounds(dicts(content)))
    for n, (parts, calls) in enumerate(rounds, 1):
        name = id if n == 1 else f"{id}#{n}"
        message: dict[str, Any] = {"role": role, "content": _parts(parts)}
        if calls:
            message["tool_calls"] = [
                function_call(text(call.get("toolCallId")), text(call.get("toolName")), _arguments(call))
                for call in calls
            ]
        ended: dict[str, Any] = {"status": status} if status and n == len(rounds) else {}
        draft.add(name, message, last, at=at, details=details if n == 1 else {}, where=where, **ended)
        last = name
        for call in calls:
            if "result" in call:
                last = _result(draft, f"{id}:{text(call.get('toolCallId'))}", call, last, at, where)
    return last or id


def _rounds(parts: list[dict[str, Any]]) -> Iterator[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    """What the model said at once: parts, then tool calls; at least one."""
    said: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for part in parts:
        if part.get("type") == "tool-call":
            calls.append(part)
            continue
        if calls:
            yield said, calls
            said, calls = [], []
        said.append(part)
    yield said, calls


def _arguments(call: dict[str, Any]) -> Any:
    return (
        call["argsText"]
        if isinstance(call.get("argsText"), str) and call["argsText"]
        else call.get("args", {})
    )


def _result(draft: Draft, id: str, call: dict[str, Any], parent: str, at: Any, where: str) -> str:
    message: dict[str, Any] = {
        "role": "tool",
        "tool_call_id": text(call.get("toolCallId")),
        "content": as_json(call["result"]),
    }
    if call.get("isError"):
        message["is_error"] = True
    draft.add(id, message, parent, at=at, where=where)
    return id


def _parts(content: Any) -> Any:
    """One text part is its text."""
    parts = dicts(content) if isinstance(content, list) else None
    if parts is None:
        return content
    if len(parts) == 1 and parts[0].get("type") == "text":
        return text(parts[0].get("text"))
    return parts or None
