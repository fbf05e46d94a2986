"""Claude.ai's data export: conversations with `chat_messages` of a `sender`.

An answer holds its tools' runs among its words: it is cut there, as the model's turns were. Messages name
the one before them (`parent_message_uuid`) in newer exports; in older ones they follow each other.
"""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Draft
from lctl.importing.source import Row, Source
from lctl.importing.values import dicts, function_call, items, mapping, text, without

_FILE = "conversations.json"
_ROLES = {"human": "user", "assistant": "assistant"}
_CALLS, _RESULTS = "tool_use", "tool_result"


def sees(source: Source) -> str:
    if any(_is_conversation(row.value) for row in _rows(source)[:3]):
        return f"{_FILE} in a zip" if source.entries else "conversations with chat_messages of senders"
    return ""


def read(source: Source, draft: Draft) -> None:
    draft.agent = "claude"
    rows = [row for row in _rows(source) if _is_conversation(row.value)]
    if not rows:
        raise NotImportable(f"{source.name}: no conversations with chat_messages, as Claude.ai exports them")
    for n, row in enumerate(rows, 1):
        _conversation(draft, row, None if len(rows) == 1 else text(row.value.get("uuid")) or f"c{n}")


def _is_conversation(value: dict[str, Any]) -> bool:
    return isinstance(value.get("chat_messages"), list)


def _rows(source: Source) -> list[Row]:
    """The conversations; of an export's zip those of its file."""
    if not source.entries:
        return source.rows
    names = [name for name in sorted(source.entries) if name.rpartition("/")[2] == _FILE]
    listed = [one for name in names for one in items(source.entry(name))]
    return [Row(f"{_FILE}, item {n}", mapping(one)) for n, one in enumerate(listed, 1)]


def _conversation(draft: Draft, row: Row, name: str | None) -> None:
    about = without(row.value, "chat_messages", "account")
    told = dicts(row.value["chat_messages"])
    there = {text(one.get("uuid")) for one in told}
    ends: dict[str, str] = {}  # message of the export -> the last that became of it
    last: str | None = None
    for n, one in enumerate(told, 1):
        id = text(one.get("uuid")) or f"{name or 'c1'}/m{n}"
        above = text(one.get("parent_message_uuid"))
        named = ends.get(above) if above in there else None  # a root names one that is not there
        parent = named if "parent_message_uuid" in one else last
        details = {"conversation": about} if last is None and about else {}
        last = ends[id] = _message(draft, id, one, parent, name, f"{row.where}, message {n}", details)


def _message(
    draft: Draft, id: str, one: dict[str, Any], parent: str | None, conversation: str | None, where: str,
    about: dict[str, Any],
) -> str:  # fmt: skip
    """Write one message, its tools' calls and results messages of their own; the last one's id."""
    role = _ROLES.get(text(one.get("sender")), "")
    if not role:
        draft.lose("sender that is no known one; taken as a user", f"{where} ({one.get('sender')})")
    for kind in ("attachments", "files"):
        for file in dicts(one.get(kind)):
            if not file.get("extracted_content"):
                draft.lose("file that the export only names", f"{where} ({file.get('file_name')})")
    pieces = _pieces(one, role or "user", id)
    details = {**about, **without(one, "uuid", "text", "content", "sender", "created_at")}
    for n, message in enumerate(pieces):
        made = id if n == 0 else f"{id}/{n}"
        draft.add(
            made, message, parent, at=one.get("created_at"), conversation=conversation,
            details=details if n == 0 else None, where=where,
        )  # fmt: skip
        parent = made
    return parent or id


def _pieces(one: dict[str, Any], role: str, id: str) -> list[dict[str, Any]]:
    """A message cut at its tools' results; the words of attachments are parts of it."""
    parts = [part for part in dicts(one.get("content")) if part.get("type") != "token_budget"]
    if not parts:
        parts = [{"type": "text", "text": text(one.get("text"))}]
    pieces: list[dict[str, Any]] = []
    held: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    waiting: list[str] = []  # calls without a result: older exports have no ids
    for part in parts:
        if part.get("type") == _RESULTS:
            if held or calls:
                pieces.append(_said(role, held, calls))
                held, calls = [], []
            pieces.append(_result(part, _answered(part, waiting)))
        elif part.get("type") == _CALLS:
            waiting.append(text(part.get("id")) or f"{id}:call{len(pieces)}.{len(calls)}")
            calls.append(function_call(waiting[-1], text(part.get("name")), part.get("input", {})))
        else:
            if calls:  # words behind a call that has no result
                pieces.append(_said(role, held, calls))
                held, calls = [], []
            held.append(_part(part))
    read = [file for file in dicts(one.get("attachments")) if file.get("extracted_content")]
    held += [{"type": "text", "text": text(file["extracted_content"])} for file in read]
    if held or calls or not pieces:
        pieces.append(_said(role, held, calls))
    return pieces


def _part(part: dict[str, Any]) -> dict[str, Any]:
    """Without the times and empty lists that the export writes beside each part."""
    kept = without(part, "start_timestamp", "stop_timestamp")
    return {key: value for key, value in kept.items() if value not in (None, [])}


def _said(role: str, held: list[dict[str, Any]], calls: list[dict[str, Any]]) -> dict[str, Any]:
    is_text = all(part.keys() == {"type", "text"} for part in held)
    content: Any = "\n\n".join(text(part.get("text")) for part in held) if is_text else held
    message = {"role": role, "content": (content or None) if calls else content}
    return {**message, "tool_calls": calls} if calls else message


def _answered(part: dict[str, Any], waiting: list[str]) -> str:
    """The id of the call that a result answers: the one it names, else the oldest without a result."""
    named = text(part.get("tool_use_id"))
    if named in waiting:
        waiting.remove(named)
    return named or (waiting.pop(0) if waiting else "")


def _result(part: dict[str, Any], call: str) -> dict[str, Any]:
    content = part.get("content")
    words = [text(one.get("text")) for one in dicts(content) if one.get("type") == "text"]
    is_text = isinstance(content, list) and len(words) == len(content)
    message = {
        "role": "tool",
        "tool_call_id": call,
        "content": "".join(words) if is_text else content,
        "name": text(part.get("name")) or "tool",
    }
    return {**message, "is_error": True} if part.get("is_error") is True else message
