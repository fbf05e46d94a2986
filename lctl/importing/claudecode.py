"""Sessions of Claude Code: JSON Lines, each row with `uuid` and `parentUuid`.

Rows of the types `user` and `assistant` are messages. Other rows may stand between two messages (progress,
system, attachment): they are no branch, the message below goes on from the message above. Rows of a
sub-agent have `isSidechain`; they become a conversation inside the tool call that started it. One answer
of the model is several rows with the same `message.id`, and its usage is told in each.
"""

from __future__ import annotations

import heapq
from typing import Any

from lctl.errors import NotImportable
from lctl.importing import claudechains, claudefiles
from lctl.importing.claudechains import Chains, Entry
from lctl.importing.draft import Call, Draft, Edit
from lctl.importing.source import Row, Source
from lctl.importing.times import stamp
from lctl.importing.values import dicts, items, mapping, text, tokens, whole

#: Keys of a row that say where it stands, and those that are told elsewhere.
_PLACE = frozenset({"uuid", "parentUuid", "timestamp", "type", "message", "isSidechain", "agentId"})
_MESSAGE = frozenset({"role", "content", "id", "type", "model", "usage", "stop_reason", "stop_sequence"})


def sees(source: Source) -> str:
    for row in source.rows[:50]:
        if "uuid" in row.value and "parentUuid" in row.value and "sessionId" in row.value:
            return "rows with uuid, parentUuid and sessionId"
    return ""


def read(source: Source, draft: Draft) -> None:
    draft.agent = "claude-code"
    rows = list(source.rows)
    if not any("parentUuid" in row.value for row in rows):
        raise NotImportable(f"{source.name}: no rows with uuid and parentUuid, as Claude Code writes them")
    read_rows(in_time(rows, claudefiles.beside(source, draft)), draft)


def read_rows(rows: list[Row], draft: Draft) -> None:
    """As `read`, of the rows of a session, its sub-agents' among them."""
    common = _common(rows)
    draft.about["session"] = common
    chains = Chains(rows, draft)
    for entry in chains.entries:
        _message(draft, chains, entry, common)
        _edits(draft, entry)
    _failures(draft, rows, chains)
    draft.agents.update(chains.agents())
    _summaries(draft, rows, chains)
    if draft.said:
        draft.lose("system prompt and tool definitions: a session does not hold them")


def in_time(rows: list[Row], others: list[Row]) -> list[Row]:
    """The rows of several files as they were written, each file's in its own order."""
    files: dict[str, list[tuple[str, Row]]] = {}
    for file, row in [("", row) for row in rows] + [(row.where.partition(",")[0], row) for row in others]:
        told = files.setdefault(file, [])
        before = told[-1][0] if told else ""
        told.append((max(before, stamp(row.value.get("timestamp"))), row))
    return [row for _, row in heapq.merge(*files.values(), key=lambda timed: timed[0])]


def _common(rows: list[Row]) -> dict[str, Any]:
    """What the first message's row says of the session."""
    keys = ("sessionId", "cwd", "version", "gitBranch", "userType")
    first = next((row.value for row in rows if row.value.get("type") in ("user", "assistant")), {})
    return {key: first[key] for key in keys if first.get(key) is not None}


def _message(draft: Draft, chains: Chains, entry: Entry, common: dict[str, Any]) -> None:
    row = entry.row.value
    own = mapping(row.get("message"))
    message = {"role": text(own.get("role")) or text(row.get("type")), "content": own.get("content")}
    details = {key: value for key, value in row.items() if key not in _PLACE and common.get(key) != value}
    more = {key: value for key, value in own.items() if key not in _MESSAGE}
    if more:
        details["message"] = more
    place: dict[str, Any] = {}
    nested = chains.nested.get(entry.id)
    if nested is not None:
        place["nested_in"] = nested
    draft.add(
        entry.id, message, entry.parent, at=row.get("timestamp"), agent=chains.agent(entry),
        call=_call(row, own), conversation=chains.conversation(entry), details=details,
        where=entry.row.where, **place,
    )  # fmt: skip


def _failures(draft: Draft, rows: list[Row], chains: Chains) -> None:
    """Calls that failed: Claude Code shows the error as an answer, and sends it to no model."""
    for row in rows:
        if not claudechains.is_failure(row):
            continue
        prompt = chains.message_above(text(row.value.get("uuid")))
        error = claudechains.words(row)
        if prompt is None:
            draft.lose("call that failed, of a prompt that is not in the file", row.where)
        else:
            said = draft.message(prompt)
            call = Call(provider="anthropic", error=error or text(row.value.get("error")) or "failed")
            draft.fail(prompt, call, at=row.value.get("timestamp"), agent=said.agent)


def _edits(draft: Draft, entry: Entry) -> None:
    """The file that a tool's result says was written."""
    told = mapping(entry.row.value.get("toolUseResult"))
    path = text(told.get("filePath"))
    hunks = told.get("structuredPatch")
    calls = claudechains.results(entry)
    if not path or not isinstance(hunks, list) or not calls:
        return
    lines = [text(line)[:1] for hunk in dicts(hunks) for line in items(hunk.get("lines"))]
    created = told.get("type") == "create"
    counts = (lines.count("+"), lines.count("-")) if lines else None
    if created and counts is None:
        counts = (len(text(told.get("content")).splitlines()), 0)
    draft.edits[calls[0]] = Edit(path, created, counts)


def _call(row: dict[str, Any], own: dict[str, Any]) -> Call | None:
    """None for what no model said: the user's rows, and errors put into a model's mouth."""
    model = text(own.get("model"))
    if row.get("type") != "assistant" or not model or model == "<synthetic>":
        return None
    return Call(
        key=text(own.get("id")) or None,
        model=model,
        provider="anthropic",
        tokens=_tokens(mapping(own.get("usage"))),
        finish_reason=text(own.get("stop_reason")) or None,
        response_id=text(own.get("id")) or None,
    )


def _tokens(usage: dict[str, Any]) -> dict[str, int] | None:
    """Anthropic's input counts leave out what was cached."""
    if not usage:
        return None
    read, written = (
        whole(usage.get("cache_read_input_tokens")),
        whole(usage.get("cache_creation_input_tokens")),
    )
    return tokens(
        input=whole(usage.get("input_tokens")) + read + written,
        output=usage.get("output_tokens"),
        cache_read=read,
        cache_write=written,
        cache_write_1h=mapping(usage.get("cache_creation")).get("ephemeral_1h_input_tokens") or None,
        web_searches=mapping(usage.get("server_tool_use")).get("web_search_requests") or None,
    )


def _summaries(draft: Draft, rows: list[Row], chains: Chains) -> None:
    """Titles that Claude Code gave to branches, and what else is no message."""
    for row in rows:
        kind = text(row.value.get("type"))
        if kind == "summary":
            leaf = chains.message_above(text(row.value.get("leafUuid")))
            if leaf is None:
                draft.lose("summary of a branch that is not in the file", row.where)
            else:
                draft.fact(f"summary:{leaf}", text(row.value.get("summary")), leaf, source="claude-code")
        elif kind == "meta":
            continue  # of a sub-agent's file: its name and its call
        elif claudechains.is_failure(row):
            continue
        elif kind not in ("user", "assistant") or not isinstance(row.value.get("message"), dict):
            subtype = text(row.value.get("subtype"))
            named = f"{kind or 'untyped'} ({subtype})" if subtype else kind or "untyped"
            draft.lose(f"{named} row: no message", row.where)
