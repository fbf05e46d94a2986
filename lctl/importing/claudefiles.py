"""The files of sub-agents that Claude Code writes beside a session's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lctl.importing.draft import Draft
from lctl.importing.source import Row, Source
from lctl.importing.values import mapping, text


def beside(source: Source, draft: Draft) -> list[Row]:
    """Rows of the sub-agents of a session, from the files that Claude Code writes beside its own."""
    if source.path is None:
        return []
    sessions = {text(row.value.get("sessionId")) for row in source.rows}
    found: list[Row] = []
    for path in _agent_files(source.path):
        inner = Source.open(str(path))
        mine = [
            row for row in inner.rows if row.value.get("sessionId") in sessions and row.value.get("sessionId")
        ]
        if not mine or path == source.path:
            continue
        agent = path.stem.removeprefix("agent-")
        found += [
            Row(f"{path.name}, {row.where}", {"agentId": agent, **row.value, "isSidechain": True})
            for row in mine
        ]
        meta = path.with_suffix(".meta.json")
        if meta.is_file():
            said = mapping(Source.open(str(meta)).document)
            found.append(Row(meta.name, {**said, "agentId": agent, "type": "meta"}))
    return found


def _agent_files(path: Path) -> Iterator[Path]:
    if path.stem.startswith("agent-"):
        return
    yield from sorted(path.parent.glob("agent-*.jsonl"))
    yield from sorted((path.parent / path.stem / "subagents").glob("**/agent-*.jsonl"))
