"""Sessions of the Gemini CLI: one JSON document with `sessionId` and `messages`.

An answer has its thoughts, text and tool calls in one message, with the results of the calls: those are
messages of their own here, as Google's API takes them.
"""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.source import Row, Source
from lctl.importing.values import dicts, mapping, text, tokens, whole, without

_PLACE = ("id", "timestamp", "type", "content", "thoughts", "tokens", "model", "toolCalls")


def sees(source: Source) -> str:
    document = mapping(source.document)
    kinds = {text(one.get("type")) for one in dicts(document.get("messages"))}
    if (
        "sessionId" in document
        and kinds & {"gemini", "user"}
        and ("projectHash" in document or "gemini" in kinds)
    ):
        return "a document with sessionId and messages of the types user and gemini"
    return ""


def read(source: Source, draft: Draft) -> None:
    document = mapping(source.document)
    if not isinstance(document.get("messages"), list):
        raise NotImportable(f"{source.name}: no document with messages, as Gemini CLI writes it")
    draft.agent = "gemini-cli"
    draft.about["session"] = without(document, "messages")
    leaf: str | None = None
    for n, one in enumerate(dicts(document["messages"]), 1):
        leaf = _message(draft, Row(f"message {n}", one), leaf)


def _message(draft: Draft, row: Row, parent: str | None) -> str | None:
    """The message and the results of its calls; the last of them."""
    one = row.value
    kind, id = text(one.get("type")), text(one.get("id")) or row.where
    if kind not in ("user", "gemini"):
        draft.lose(f"{kind or 'untyped'} message of the program itself", row.where)
        return parent
    details = without(one, *_PLACE)
    at = one.get("timestamp")
    if kind == "user":
        message = {"role": "user", "parts": _parts(one.get("content"))}
        draft.add(id, message, parent, at=at, details=details, where=row.where)
        return id
    calls = dicts(one.get("toolCalls"))
    message = {"role": "model", "parts": [*_thoughts(one), *_parts(one.get("content")), *map(_asked, calls)]}
    used = mapping(one.get("tokens"))
    call = Call(model=text(one.get("model")) or None, provider="google", tokens=_tokens(used))
    draft.add(id, message, parent, at=at, details=details, call=call, where=row.where)
    results = [part for tool in calls for part in _results(tool)]
    if not results:
        return id
    ended = max((text(tool.get("timestamp")) for tool in calls), default="")
    draft.add(f"{id}:results", {"role": "user", "parts": results}, id, at=ended or at, where=row.where)
    return f"{id}:results"


def _parts(content: object) -> list[Any]:
    """Content as parts: it is text, a part, or a list of either."""
    if isinstance(content, str):
        return [{"text": content}] if content else []
    if isinstance(content, dict):
        return [content]
    if isinstance(content, list):
        return [{"text": part} if isinstance(part, str) else part for part in content]
    return []


def _thoughts(one: dict[str, Any]) -> list[dict[str, Any]]:
    made = []
    for thought in dicts(one.get("thoughts")):
        words = "\n".join(filter(None, (text(thought.get("subject")), text(thought.get("description")))))
        made.append({"text": words, "thought": True})
    return made


def _asked(tool: dict[str, Any]) -> dict[str, Any]:
    call = {"id": tool.get("id"), "name": tool.get("name"), "args": tool.get("args")}
    return {"functionCall": call}


def _results(tool: dict[str, Any]) -> list[dict[str, Any]]:
    """What the model got; of a call that failed the error, of one that was stopped nothing."""
    about = {"id": tool.get("id"), "name": tool.get("name")}
    if text(tool.get("status")) == "error":
        return [{"functionResponse": {**about, "response": {"error": tool.get("error") or "failed"}}}]
    return [
        {"functionResponse": {**about, **mapping(part["functionResponse"]), "id": tool.get("id")}}
        for part in dicts(tool.get("result"))
        if "functionResponse" in part
    ]


def _tokens(used: dict[str, Any]) -> dict[str, int] | None:
    """Google leaves what the model thought out of the output."""
    if not used:
        return None
    return tokens(
        input=used.get("input"),
        output=whole(used.get("output")) + whole(used.get("thoughts")),
        cache_read=used.get("cached"),
        reasoning=used.get("thoughts"),
    )
