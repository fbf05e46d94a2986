"""Files of other programs, made in tests: as small as they can be, with what these programs really write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lctl.chain import Chain
from lctl.codec import validate, verify
from lctl.conversation.tree import Tree
from lctl.importing import Imported, convert, load
from lctl.importing.source import Source

Rows = list[dict[str, Any]]


def lines(rows: Rows) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def imported(value: Any, form: str = "auto") -> Imported:
    """Of a JSON value, or of bytes."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return convert(Source(data, "the file"), form)


def imported_lines(rows: Rows, form: str = "auto") -> Imported:
    return convert(Source(lines(rows), "the file"), form)


def tree(found: Imported) -> Tree:
    """The tree of an import whose log is sound: every event valid, in order."""
    assert validate(found.log) == []
    assert verify(found.log).ok
    return Chain.of(found.log).tree


def lost(found: Imported) -> dict[str, int]:
    return {loss.what: loss.times for loss in found.lost}


def said(tree: Tree, leaf: str) -> list[tuple[str, Any]]:
    return [(message["role"], message.get("content")) for message in tree.transcript(leaf)]


# -- Claude Code -----------------------------------------------------------------------------


def claude_row(
    uuid: str, parent: str | None, type: str = "user", content: Any = None, **more: Any
) -> dict[str, Any]:
    """One row; an assistant's has a model and usage, its `id` is that of the model's answer."""
    message: dict[str, Any] = {"role": type, "content": uuid if content is None else content}
    if type == "assistant":
        message |= {"id": f"msg_{uuid}", "model": "claude-sonnet-4-5", "stop_reason": "end_turn"}
        message["usage"] = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 3}
    message |= more.pop("message", {})
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/w",
        "sessionId": "s1",
        "version": "2.0.1",
        "type": type,
        "message": message,
        "uuid": uuid,
        "timestamp": "2026-01-01T00:00:00.000Z",
        **more,
    }


def task(id: str, prompt: str) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": id,
        "name": "Task",
        "input": {"prompt": prompt, "subagent_type": "Explore"},
    }


def result(id: str, words: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": words}


def written(path: Path, rows: Rows) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines(rows))
    return path


__all__ = [
    "claude_row",
    "imported",
    "imported_lines",
    "lines",
    "load",
    "lost",
    "result",
    "said",
    "task",
    "tree",
    "written",
]
