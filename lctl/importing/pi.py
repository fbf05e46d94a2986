"""Sessions of the pi coding agent: JSON Lines of entries with `id` and `parentId`.

Entries that are no messages (model or thinking level changed, labels) may stand between two messages. A
compaction is a new beginning: its summary, and the entries that were kept, as copies below it. Sessions of
version 1 have no ids; their entries follow each other.
"""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.source import Row, Source
from lctl.importing.values import dicts, function_call, mapping, text, tokens, whole, without

_MESSAGES = ("message", "custom_message", "branch_summary", "compaction")


def sees(source: Source) -> str:
    first = source.rows[0].value if source.rows else {}
    if first.get("type") == "session" and "id" in first and ("cwd" in first or "version" in first):
        return "a session header and entries"
    return ""


def read(source: Source, draft: Draft) -> None:
    if not sees(source):
        raise NotImportable(f"{source.name}: no session header in its first line, as pi writes it")
    draft.agent = "pi"
    header = source.rows[0].value
    draft.about["session"] = without(header, "type")
    _Entries(source.rows[1:], draft).read()


class _Entries:
    def __init__(self, rows: list[Row], draft: Draft) -> None:
        self._draft = draft
        self._rows: dict[str, Row] = {}
        self._parents: dict[str, str | None] = {}
        self._tips: dict[str, str | None] = {}  # entry -> the message a child of it hangs on
        last: str | None = None
        for row in rows:
            id = text(row.value.get("id")) or row.where
            parent = row.value.get("parentId") if "id" in row.value else last
            if id in self._rows:
                draft.lose("entry whose id was used before; the first stands", row.where)
                continue
            self._rows[id] = row
            self._parents[id] = parent if isinstance(parent, str) else None
            last = id

    def read(self) -> None:
        for id, row in self._rows.items():
            kind = text(row.value.get("type"))
            parent = self._above(self._parents[id], row.where)
            if kind == "message":
                self._tips[id] = self._message(id, row, parent)
            elif kind == "compaction":
                self._tips[id] = self._compaction(id, row, parent)
            elif kind in ("branch_summary", "custom_message"):
                content = row.value.get("summary") if kind == "branch_summary" else row.value.get("content")
                self._add(id, row, {"role": "user", "content": content}, parent)
                self._tips[id] = id
            else:
                self._aside(id, row, kind)
                self._tips[id] = parent

    def _above(self, id: str | None, where: str) -> str | None:
        if id is None or id in self._tips:
            return self._tips.get(id) if id is not None else None
        if id not in self._rows:
            self._draft.lose("entry whose parent is not in the file", f"{where} (parent {id})")
            return id
        return id if text(self._rows[id].value.get("type")) in _MESSAGES else self._passed(id)

    def _passed(self, id: str) -> str | None:
        """The message above entries that come later in the file."""
        at: str | None = id
        seen: set[str] = set()
        while at is not None and at in self._rows and at not in seen:
            if text(self._rows[at].value.get("type")) in _MESSAGES:
                return at
            seen.add(at)
            at = self._parents[at]
        return at if at not in seen else None

    def _aside(self, id: str, row: Row, kind: str) -> None:
        if kind == "label":
            target = text(row.value.get("targetId"))
            if target in self._draft:
                label = text(row.value.get("label"))
                self._draft.fact(f"label:{id}", label, target, at=row.value.get("timestamp"))
                return
        if kind == "session_info":
            self._draft.about["session"]["name"] = row.value.get("name")
            return
        self._draft.lose(f"{kind or 'untyped'} entry: no message", row.where)

    def _add(self, id: str, row: Row, message: dict[str, Any], parent: str | None, **more: Any) -> None:
        details = without(
            row.value, "id", "parentId", "timestamp", "message", "summary", "content", "fromHook"
        )
        details.update(more.pop("details", {}))
        self._draft.add(
            id, message, parent, at=more.pop("at", None) or row.value.get("timestamp"), details=details,
            where=row.where, **more,
        )  # fmt: skip

    def _message(self, id: str, row: Row, parent: str | None) -> str:
        own = mapping(row.value.get("message"))
        role = text(own.get("role"))
        details = {"message": without(own, "role", "content", "usage", "model", "provider", "stopReason")}
        call = None
        status: dict[str, Any] = {}
        if role == "assistant":
            message = _assistant(own)
            call = _call(own)
            if own.get("stopReason") in ("aborted", "error"):
                status = {"status": own["stopReason"]}
        elif role == "toolResult":
            message = {"role": "tool", "content": own.get("content"), "tool_call_id": own.get("toolCallId")}
            if own.get("toolName"):
                message["name"] = own["toolName"]
            if own.get("isError"):
                message["is_error"] = True
        elif role == "bashExecution":
            message = {"role": "user", "content": f"$ {text(own.get('command'))}\n{text(own.get('output'))}"}
        else:
            message = {"role": role or "user", "content": own.get("content")}
        self._add(id, row, message, parent, at=own.get("timestamp"), call=call, details=details, **status)
        return id

    def _compaction(self, id: str, row: Row, parent: str | None) -> str:
        """The summary begins anew; the path from the first kept entry on goes on below it."""
        kept = text(row.value.get("firstKeptEntryId"))
        first = self._tips.get(kept)
        stretch = self._stretch(first, parent)
        message = {"role": "user", "content": row.value.get("summary")}
        if not stretch:
            if kept:
                self._draft.lose(
                    "compaction whose kept entries are not above it; only its summary stands", row.where
                )
            self._add(id, row, message, None)
            return id
        self._add(id, row, message, None, carry=[stretch[0], stretch[-1]])
        return f"{id}+{len(stretch)}"

    def _stretch(self, first: str | None, last: str | None) -> list[str]:
        """The messages from `first` to `last`, by their parents."""
        way: list[str] = []
        at = last
        while at is not None and at in self._draft and at not in way:
            way.append(at)
            if at == first:
                return way[::-1]
            at = self._draft.message(at).parent
        return []


def _assistant(own: dict[str, Any]) -> dict[str, Any]:
    """Text and thinking stay parts; tool calls become OpenAI's."""
    parts = dicts(own.get("content"))
    calls = [part for part in parts if part.get("type") == "toolCall"]
    message: dict[str, Any] = {"role": "assistant", "content": own.get("content")}
    if calls:
        message["content"] = [part for part in parts if part.get("type") != "toolCall"]
        message["tool_calls"] = [
            function_call(text(call.get("id")), text(call.get("name")), call.get("arguments", {}))
            for call in calls
        ]
    return message


def _call(own: dict[str, Any]) -> Call | None:
    model = text(own.get("model"))
    if not model:
        return None
    usage = mapping(own.get("usage"))
    read, written = whole(usage.get("cacheRead")), whole(usage.get("cacheWrite"))
    counts = tokens(
        input=whole(usage.get("input")) + read + written,
        output=usage.get("output"),
        cache_read=read,
        cache_write=written,
    )
    return Call(
        model=model,
        provider=text(own.get("provider")) or None,
        tokens=counts if usage else None,
        finish_reason=text(own.get("stopReason")) or None,
        error=text(own.get("errorMessage")) or None,
    )
