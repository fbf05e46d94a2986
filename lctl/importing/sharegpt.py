"""ShareGPT: `{"conversations": [{"from": "human", "value": "..."}]}`, with `system` and `tools` beside it."""

from __future__ import annotations

from typing import Any

from lctl.codec.lines import decode
from lctl.importing.draft import Draft
from lctl.importing.rowshapes import Place, Reader, conversation_name, read_rows
from lctl.importing.source import Row, Source
from lctl.importing.trained import mark, tools_of
from lctl.importing.values import dicts, function_call, mapping, role_of, text, without

_LISTS = ("conversations", "conversation", "items", "turns")


def sees(source: Source) -> str:
    return "conversations of from and value" if any(_turns(row.value) for row in source.rows[:3]) else ""


def read(source: Source, draft: Draft) -> None:
    wanted = "no conversations of from and value"
    read_rows(source, draft, "sharegpt", "object without conversations", wanted)


def reader(row: Row) -> Reader | None:
    """What reads a row of turns; None of any other."""
    if not _turns(row.value):
        return None
    return lambda draft, place: _conversation(draft, row, place)


def _turns(value: dict[str, Any]) -> list[dict[str, Any]]:
    for key in _LISTS:
        turns = dicts(value.get(key))
        if turns and "from" in turns[0] and ("value" in turns[0] or "text" in turns[0]):
            return turns
    return []


def _conversation(draft: Draft, row: Row, place: Place) -> None:
    conversation = conversation_name(draft, place, str(row.value.get("id") or ""))
    prefix = "" if conversation is None else f"{conversation}/"
    parent: str | None = None
    about = without(row.value, *_LISTS, "system")
    turns = _turns(row.value)
    system = text(row.value.get("system"))
    if system:
        turns = [{"from": "system", "value": system}, *turns]
    tools = tools_of(row.value)
    calls = _Calls(draft)
    for n, turn in enumerate(turns, 1):
        where = f"{row.where}, turn {n}"
        word = text(turn.get("from"))
        said = turn["value"] if "value" in turn else turn.get("text")
        id = f"{prefix}m{n}"
        details = {"from": word, **without(turn, "from", "value", "text")}
        if parent is None and about:
            details["conversation"] = about
        role = role_of(word)
        if role != "tool":
            calls.over(where)
        if word == "function_call":
            message = _called(draft, said, f"{id}:call", where)
            calls.asked(message)
            details["value"] = said
        elif role == "tool":
            message = {"role": role, "content": said, "tool_call_id": calls.answered()}
        else:
            if not role:
                draft.lose("speaker that is no known role; taken as a user", f"{where} ({word})")
            message = {"role": role or "user", "content": said}
        added = draft.add(id, message, parent, conversation=conversation, details=details, where=where)
        if message["role"] == "assistant":
            mark(draft, added, tools)
        parent = id
    calls.over(row.where)


class _Calls:
    """Which call an observation is of: the form has no ids, so they are told apart by their order."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._waiting: list[str] = []
        self._last = ""

    def asked(self, message: dict[str, Any]) -> None:
        self._waiting = [call["id"] for call in message.get("tool_calls", ())]
        self._last = ""

    def answered(self) -> str:
        """Id of the call that the next observation is of; several of one call are all of that one."""
        if self._waiting:
            self._last = self._waiting.pop(0)
        return self._last

    def over(self, where: str) -> None:
        """The conversation goes on: trainers read one observation for all calls of a turn."""
        if self._last and self._waiting:
            self._draft.lose("one observation for several calls; it is that of the first", where)
        self._waiting, self._last = [], ""


def _called(draft: Draft, said: object, id: str, where: str) -> dict[str, Any]:
    """A function_call turn: JSON of name and arguments, or a list of such calls."""
    try:
        told = decode(text(said).encode())
    except ValueError:
        told = None
    calls = [mapping(call) for call in (told if isinstance(told, list) else [told])]
    if not calls or not all(text(call.get("name")) for call in calls):
        draft.lose("function_call that is no JSON of name and arguments; kept as text", where)
        return {"role": "assistant", "content": said}
    made = [
        function_call(id if n == 1 else f"{id}{n}", text(call["name"]), call.get("arguments", {}))
        for n, call in enumerate(calls, 1)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}
