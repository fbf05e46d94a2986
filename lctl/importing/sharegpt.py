"""ShareGPT: `{"conversations": [{"from": "human", "value": "..."}]}`, with `system` and `tools` beside it."""

from __future__ import annotations

from typing import Any

from lctl.codec.lines import decode
from lctl.errors import NotImportable
from lctl.importing.draft import Draft
from lctl.importing.source import Row, Source
from lctl.importing.values import dicts, function_call, mapping, role_of, text, without

_LISTS = ("conversations", "conversation", "items", "turns")


def sees(source: Source) -> str:
    return "conversations of from and value" if any(_turns(row.value) for row in source.rows[:3]) else ""


def read(source: Source, draft: Draft) -> None:
    rows = [row for row in source.rows if _turns(row.value)]
    if not rows:
        raise NotImportable(f"{source.name}: no conversations of from and value")
    if len(rows) < len(source.rows):
        draft.lose("object without conversations", count=len(source.rows) - len(rows))
    used: set[str] = set()
    for n, row in enumerate(rows, 1):
        name = str(row.value.get("id") or f"c{n}")
        if name in used:
            name = f"{name}/{n}"
        used.add(name)
        _conversation(draft, row, None if len(rows) == 1 else name)


def _turns(value: dict[str, Any]) -> list[dict[str, Any]]:
    for key in _LISTS:
        turns = dicts(value.get(key))
        if turns and "from" in turns[0] and ("value" in turns[0] or "text" in turns[0]):
            return turns
    return []


def _conversation(draft: Draft, row: Row, conversation: str | None) -> None:
    prefix = "" if conversation is None else f"{conversation}/"
    parent: str | None = None
    about = without(row.value, *_LISTS, "system")
    turns = _turns(row.value)
    system = text(row.value.get("system"))
    if system:
        turns = [{"from": "system", "value": system}, *turns]
    called = ""  # id of the last tool call, which the form does not have
    for n, turn in enumerate(turns, 1):
        where = f"{row.where}, turn {n}"
        word = text(turn.get("from"))
        said = turn["value"] if "value" in turn else turn.get("text")
        id = f"{prefix}m{n}"
        details = {"from": word, **without(turn, "from", "value", "text")}
        if parent is None and about:
            details["conversation"] = about
        if word == "function_call":
            called = f"{id}:call"
            message = _called(draft, said, called, where)
            details["value"] = said
        else:
            role = role_of(word)
            if not role:
                draft.lose("speaker that is no known role; taken as a user", f"{where} ({word})")
            message = {"role": role or "user", "content": said}
            if role == "tool":
                message["tool_call_id"] = called
        draft.add(id, message, parent, conversation=conversation, details=details, where=where)
        parent = id


def _called(draft: Draft, said: object, id: str, where: str) -> dict[str, Any]:
    """A function_call turn: JSON of name and arguments."""
    try:
        call = mapping(decode(text(said).encode()))
    except ValueError:
        call = {}
    name = text(call.get("name"))
    if not name:
        draft.lose("function_call that is no JSON of name and arguments; kept as text", where)
        return {"role": "assistant", "content": said}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [function_call(id, name, call.get("arguments", {}))],
    }
