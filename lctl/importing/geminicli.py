"""Sessions of the Gemini CLI: one JSON document with `sessionId` and `messages`, or a line for each.

Of lines the first says what the session is, each other one is a message, anew with each change of it; `$set`
changes what the first said, `$rewindTo` takes a message and all after it back: they are a branch.

An answer has its thoughts, text and tool calls in one message, with the results of the calls: those are
messages of their own here, as Google's API takes them.
"""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.source import Row, Source
from lctl.importing.values import dicts, mapping, text, tokens, whole, without

_KINDS = frozenset({"user", "gemini"})
_PLACE = ("id", "timestamp", "type", "content", "thoughts", "tokens", "model", "toolCalls")


def sees(source: Source) -> str:
    if source.is_lines and _heads(source.rows[0].value):
        return "lines of a session with sessionId and projectHash"
    document = mapping(source.document)
    kinds = {text(one.get("type")) for one in dicts(document.get("messages"))}
    if "sessionId" in document and kinds & _KINDS and ("projectHash" in document or "gemini" in kinds):
        return "a document with sessionId and messages of the types user and gemini"
    return ""


def _heads(value: dict[str, Any]) -> bool:
    return "sessionId" in value and "projectHash" in value


def read(source: Source, draft: Draft) -> None:
    document = mapping(source.document)
    if isinstance(document.get("messages"), list):
        about = without(document, "messages")
        told = _Told()
        told.set([Row(f"message {n}", one) for n, one in enumerate(dicts(document["messages"]), 1)])
    elif any(_heads(row.value) for row in source.rows):
        told = _Told()
        about = told.lines(source.rows, draft)
    else:
        raise NotImportable(f"{source.name}: no document with messages, as Gemini CLI writes it")
    draft.agent = "gemini-cli"
    draft.about["session"] = about
    ends: dict[str, str | None] = {}  # message -> the last of it and the results of its calls
    for id, row in told.rows.items():
        ends[id] = _message(draft, row, ends.get(told.parents[id]))
    last = next(reversed(told.path), "")
    if told.rows and last != next(reversed(told.rows)):
        draft.lose("that the last messages were taken back", f"after {told.rows[last].where}" if last else "")


class _Told:
    """The messages of a session, each as it was told last.

    Attributes:
        parents: message -> the one before it; "" of the first.
        path: those that were not taken back.
    """

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.parents: dict[str, str] = {}
        self.path: dict[str, None] = {}

    def lines(self, rows: list[Row], draft: Draft) -> dict[str, Any]:
        """Take each line; what the session says of itself."""
        about: dict[str, Any] = {}
        for row in rows:
            value = row.value
            if "$rewindTo" in value:
                self._rewind(text(value["$rewindTo"]), row, draft)
            elif "$set" in value or _heads(value):
                said = mapping(value.get("$set", value))
                about |= without(said, "messages")
                if isinstance(said.get("messages"), list):
                    self._rewrite([Row(row.where, one) for one in dicts(said["messages"])], row, draft)
            elif "id" in value and "type" in value:
                self._take(row)
            else:
                draft.lose("line that is no message", row.where)
        return about

    def set(self, rows: list[Row]) -> None:
        self.path = {}
        for row in rows:
            self._take(row)

    def _take(self, row: Row) -> None:
        id = text(row.value.get("id")) or row.where
        self.parents.setdefault(id, next(reversed(self.path), ""))
        self.rows[id] = row
        self.path.setdefault(id)

    def _rewind(self, id: str, row: Row, draft: Draft) -> None:
        if id not in self.path:
            draft.lose("rewind to a message that is not there: all are taken back", row.where)
            self.path = {}
            return
        while self.path.popitem()[0] != id:
            pass

    def _rewrite(self, rows: list[Row], row: Row, draft: Draft) -> None:
        """The program wrote its history anew: shorter, or with results left out."""
        changed = sum(
            text(one.value.get("id")) in self.rows and one.value != self.rows[text(one.value.get("id"))].value
            for one in rows
        )
        if changed:
            draft.lose("message as it was before the program rewrote it", row.where, changed)
        self.set(rows)


def _message(draft: Draft, row: Row, parent: str | None) -> str | None:
    """The message and the results of its calls; the last of them."""
    one = row.value
    kind, id = text(one.get("type")), text(one.get("id")) or row.where
    if kind not in _KINDS:
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
