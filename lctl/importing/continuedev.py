"""Sessions of Continue: one JSON document with `history`, whose items have a `message`.

Thoughts stand before their answer, as messages of the role `thinking`: they are its reasoning here.
"""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.source import Source
from lctl.importing.values import dicts, mapping, text, without

#: Keys of a message that OpenAI spells otherwise.
_SPELLED = {"toolCalls": "tool_calls", "toolCallId": "tool_call_id"}


def sees(source: Source) -> str:
    document = mapping(source.document)
    first = next(iter(dicts(document.get("history"))), {})
    is_one = "sessionId" in document and isinstance(mapping(first.get("message")).get("role"), str)
    return "sessionId, and history with messages" if is_one else ""


def read(source: Source, draft: Draft) -> None:
    document = mapping(source.document)
    history = dicts(document.get("history"))
    if not history:
        raise NotImportable(f"{source.name}: no document with a history, as Continue writes it")
    draft.agent = "continue"
    draft.about["session"] = without(document, "history")
    leaf: str | None = None
    thought: list[str] = []
    for n, item in enumerate(history, 1):
        own = mapping(item.get("message"))
        role, where = text(own.get("role")), f"item {n}"
        if role == "thinking":
            thought.append(text(own.get("content")))
            continue
        if not role:
            draft.lose("item without a message", where)
            continue
        message: dict[str, Any] = {_SPELLED.get(key, key): one for key, one in own.items() if key != "id"}
        if thought and role == "assistant":
            message["reasoning_content"] = "\n".join(thought)
            thought = []
        details = without(item, "message", "promptLogs")
        call = _call(item) if role == "assistant" else None
        draft.add(f"m{n}", message, leaf, call=call, details=details, where=where)
        leaf = f"m{n}"
    if thought:
        draft.lose("thoughts without an answer", count=len(thought))


def _call(item: dict[str, Any]) -> Call:
    """What Continue keeps of the call, where its logs of prompts are on."""
    asked = next(iter(dicts(item.get("promptLogs"))), {})
    return Call(
        model=text(asked.get("modelTitle")) or None, provider=text(asked.get("modelProvider")) or None
    )
