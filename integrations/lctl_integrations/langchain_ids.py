"""Ids of messages in what a served tool gives: a graph tells by them which messages it has already.

LangChain draws an id for each message. A tool that hands the whole state on (`Command(update={**state,
...})`) gave it with the ids of the recording; where this run drew others (of recordings by
`auto_instrument()`), its graph would have each message twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lctl_integrations.langchain_values import is_command, is_message

#: How deep messages are looked for, in what a tool is given and in what it gives.
_DEEP = 5
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def with_ids_of(here: Any, value: Any) -> Any:
    """`value`, whose messages have the ids of those in `here` that say the same, in place."""
    known = list(_messages(here, _DEEP))
    if not known:
        return value
    ids = {message.id for message in known}
    at = 0
    for message in _messages(value, _DEEP):
        if message.id is None or message.id in ids:
            continue
        said = _said(message)
        found = next((n for n in [*range(at, len(known)), *range(at)] if _said(known[n]) == said), None)
        if found is not None:
            message.id = known[found].id
            at = found + 1
    return value


def _said(message: Any) -> tuple[Any, ...]:
    calls = [
        (_given(call.get("id")), call.get("name")) for call in getattr(message, "tool_calls", None) or ()
    ]
    of = _given(getattr(message, "tool_call_id", None))
    return type(message), message.content, message.name, calls, of


def _given(id: Any) -> Any:
    """A call's id, if a model gave it: a UUID was drawn by the program, another one in each run."""
    return None if isinstance(id, str) and _UUID.fullmatch(id) else id


def _messages(value: Any, deep: int) -> Iterator[Any]:
    """All messages in a value: in lists, states, commands, what is sent to nodes."""
    if is_message(value):
        yield value
        return
    parts: Any = ()
    if deep and isinstance(value, Mapping):
        parts = value.values()
    elif deep and isinstance(value, list | tuple):
        parts = value
    elif deep and is_command(value):
        parts = (value.update, value.goto)
    elif deep and type(value).__name__ == "Send":
        parts = (value.arg,)
    elif deep and type(value).__name__ == "ToolRuntime":
        parts = (value.state,)
    elif deep and isinstance(getattr(value, "__dict__", None), dict) and hasattr(value, "messages"):
        parts = (value.messages,)  # a state that is a model or a dataclass
    for part in parts:
        yield from _messages(part, deep - 1)
