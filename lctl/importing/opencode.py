"""Sessions of OpenCode, as `opencode export` writes them: `{"info", "messages": [{"info", "parts"}]}`.

Each step of an answer (from `step-start` to `step-finish`) is one model call; its tools carry their results,
which are messages of their own here. After a compaction the model reads its summary in place of what was
before.
"""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft, Edit
from lctl.importing.source import Source
from lctl.importing.values import as_json, dicts, function_call, mapping, text, tokens, whole, without

_SHOWN = ("text", "reasoning", "tool", "file", "step-start", "step-finish", "compaction")
#: What OpenCode asks where a summary stands for all that was before.
_ASKED = "What did we do so far?"


def sees(source: Source) -> str:
    document = mapping(source.document)
    first = next(iter(dicts(document.get("messages"))), {})
    if (
        "info" in document
        and isinstance(first.get("parts"), list)
        and "sessionID" in mapping(first.get("info"))
    ):
        return "info, and messages with info and parts"
    return ""


def read(source: Source, draft: Draft) -> None:
    document = mapping(source.document)
    if not isinstance(document.get("messages"), list):
        raise NotImportable(
            f"{source.name}: no document with info and messages, as 'opencode export' writes it"
        )
    draft.agent = "opencode"
    draft.about["session"] = mapping(document.get("info"))
    undone = text(mapping(draft.about["session"].get("revert")).get("messageID"))
    leaf: str | None = None
    for n, one in enumerate(dicts(document["messages"]), 1):
        message = _Message(draft, one, f"message {n}")
        if undone and message.id == undone:
            draft.lose("that the messages from here on were taken back", f"message {n}")
        leaf = message.add(leaf)
        if leaf is not None and message.is_summary:
            leaf = message.begin_anew(leaf)


class _Message:
    def __init__(self, draft: Draft, message: dict[str, Any], where: str) -> None:
        self._draft = draft
        self._info = mapping(message.get("info"))
        self._parts = dicts(message.get("parts"))
        self._where = where
        self.id = text(self._info.get("id")) or where

    def add(self, parent: str | None) -> str | None:
        for part in self._parts:
            if text(part.get("type")) not in _SHOWN:
                self._draft.lose(f"{text(part.get('type')) or 'untyped'} part: no content", self._where)
        if self._info.get("role") != "assistant":
            content = [
                _block(part) for part in self._parts if part.get("type") in ("text", "file", "compaction")
            ]
            message = {"role": text(self._info.get("role")) or "user", "content": content}
            self._add(self.id, message, parent, mapping(self._info.get("time")).get("created"))
            return self.id
        steps = _steps(self._parts)
        for n, parts in enumerate(steps, 1):
            parent = self._step(f"{self.id}:{n}" if len(steps) > 1 else self.id, parts, parent)
        return parent

    @property
    def is_summary(self) -> bool:
        done = self._info.get("finish") or mapping(self._info.get("time")).get("completed")
        return self._info.get("summary") is True and bool(done) and not self._info.get("error")

    def begin_anew(self, summary: str) -> str:
        """The summary as what follows reads it; its id there."""
        at = mapping(self._info.get("time")).get("completed")
        self._add(f"{self.id}:asked", {"role": "user", "content": [_block({"type": "compaction"})]}, None, at)
        said = self._draft.message(summary).message
        self._add(
            f"{self.id}:again", {"role": "assistant", "content": said["content"]}, f"{self.id}:asked", at
        )
        return f"{self.id}:again"

    def _step(self, id: str, parts: list[dict[str, Any]], parent: str | None) -> str:
        tools = [part for part in parts if part.get("type") == "tool"]
        said = "".join(text(part.get("text")) for part in parts if part.get("type") == "text")
        thought = "".join(text(part.get("text")) for part in parts if part.get("type") == "reasoning")
        message: dict[str, Any] = {"role": "assistant", "content": said or None}
        if thought:
            message["reasoning_content"] = thought
        if tools:
            message["tool_calls"] = [
                function_call(
                    text(t.get("callID")), text(t.get("tool")), mapping(t.get("state")).get("input")
                )
                for t in tools
            ]
        finish = next((part for part in parts if part.get("type") == "step-finish"), {})
        used = mapping(finish.get("tokens")) or mapping(self._info.get("tokens"))
        failure = mapping(self._info.get("error"))
        call = Call(
            model=text(self._info.get("modelID")) or None,
            provider=text(self._info.get("providerID")) or None,
            tokens=_tokens(used),
            finish_reason=text(finish.get("reason")) or None,
            error=as_json(failure) if failure else None,
        )
        time = mapping(self._info.get("time"))
        self._add(id, message, parent, time.get("completed") or time.get("created"), call)
        for tool in tools:
            id = self._result(tool, id)
        return id

    def _result(self, tool: dict[str, Any], parent: str) -> str:
        state, call = mapping(tool.get("state")), text(tool.get("callID"))
        status = text(state.get("status"))
        if status not in ("completed", "error"):
            self._draft.lose(f"tool call that was {status or 'never begun'}: no result", self._where)
            return parent
        failed = status == "error"
        message: dict[str, Any] = {
            "role": "tool",
            "tool_call_id": call,
            "content": state.get("error") if failed else state.get("output"),
        }
        if failed:
            message["is_error"] = True
        time = mapping(state.get("time"))
        began, ended = time.get("start"), time.get("end")
        if isinstance(began, int | float) and isinstance(ended, int | float) and ended >= began:
            self._draft.durations[call] = ended - began
        self._edit(call, mapping(state.get("metadata")))
        id = f"{parent}>{call}"
        self._add(id, message, parent, time.get("end"))
        return id

    def _edit(self, call: str, told: dict[str, Any]) -> None:
        change = mapping(told.get("filediff"))
        path = text(change.get("file")) or text(told.get("filepath"))
        if path:
            lines = (whole(change.get("additions")), whole(change.get("deletions"))) if change else None
            self._draft.edits[call] = Edit(path, told.get("exists") is False, lines)

    def _add(
        self, id: str, message: dict[str, Any], parent: str | None, at: object, call: Call | None = None
    ) -> None:
        details = without(self._info, "id", "role", "sessionID", "time", "tokens", "modelID", "providerID")
        agent = text(self._info.get("agent")) or text(self._info.get("mode"))
        self._draft.add(
            id, message, parent, at=at, call=call, agent=agent if call is not None else "",
            details=details if message["role"] != "tool" else None, where=self._where,
        )  # fmt: skip


def _steps(parts: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    steps: list[list[dict[str, Any]]] = [[]]
    for part in parts:
        steps[-1].append(part)
        if part.get("type") == "step-finish":
            steps.append([])
    return [step for step in steps if step] or [[]]


def _block(part: dict[str, Any]) -> dict[str, Any]:
    if part.get("type") == "compaction":
        return {"type": "text", "text": _ASKED}
    if part.get("type") == "text":
        return {"type": "text", "text": text(part.get("text"))}
    return {"type": "file", **without(part, "id", "sessionID", "messageID", "type")}


def _tokens(used: dict[str, Any]) -> dict[str, int] | None:
    """OpenCode's input leaves out what was cached."""
    if not used:
        return None
    cache = mapping(used.get("cache"))
    read, written = whole(cache.get("read")), whole(cache.get("write"))
    return tokens(
        input=whole(used.get("input")) + read + written,
        output=used.get("output"),
        cache_read=read,
        cache_write=written,
        reasoning=used.get("reasoning"),
    )
