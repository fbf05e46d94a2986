"""OpenAssistant's data: message trees (`prompt` with `replies`), or the messages one by one."""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing.draft import Draft
from lctl.importing.source import Row, Source
from lctl.importing.values import dicts, mapping, role_of, text, without


def sees(source: Source) -> str:
    for row in source.rows[:5]:
        if "message_tree_id" in row.value and isinstance(row.value.get("prompt"), dict):
            return "message trees with prompt and replies"
        if "message_tree_id" in row.value and "text" in row.value and "parent_id" in row.value:
            return "messages with message_tree_id, parent_id and text"
    return ""


def read(source: Source, draft: Draft) -> None:
    trees = {
        text(row.value.get("message_tree_id"))
        for row in source.rows
        if text(row.value.get("message_tree_id"))
    }
    if not trees:
        raise NotImportable(f"{source.name}: no objects with a message_tree_id, as OpenAssistant's data has")
    for row in source.rows:
        tree = text(row.value.get("message_tree_id"))
        if not tree:
            draft.lose("object without message_tree_id", row.where)
            continue
        name = None if len(trees) == 1 else tree
        if isinstance(row.value.get("prompt"), dict):
            _tree(draft, row, name)
        elif "text" in row.value:
            parent = row.value.get("parent_id")
            _message(
                draft, row.value, parent if isinstance(parent, str) and parent else None, name, row.where
            )
        else:
            draft.lose("object that is neither a tree nor a message", row.where)


def _tree(draft: Draft, row: Row, conversation: str | None) -> None:
    waiting: list[tuple[dict[str, Any], str | None]] = [(row.value["prompt"], None)]
    while waiting:
        own, parent = waiting.pop()
        id = _message(draft, own, parent, conversation, row.where)
        waiting += [(reply, id) for reply in reversed(dicts(own.get("replies")))]


def _message(
    draft: Draft, own: dict[str, Any], parent: str | None, conversation: str | None, where: str
) -> str:
    id = text(own.get("message_id")) or f"m{len(draft) + 1}"
    role = role_of(own.get("role"))
    if not role:
        draft.lose("role that is not known; taken as a user", f"{where}, message {id}")
    details = without(own, "message_id", "parent_id", "text", "replies", "created_date", "message_tree_id")
    draft.add(
        id, {"role": role or "user", "content": own.get("text")}, parent, at=own.get("created_date"),
        conversation=conversation, details=details, where=f"{where}, message {id}",
    )  # fmt: skip
    rank = own.get("rank")
    if isinstance(rank, int) and not isinstance(rank, bool):
        # Of siblings the greater value is the better one; a rank counts from the best.
        draft.fact(
            f"rank:{id}", f"rank {rank} among its siblings", id, value=-rank, at=own.get("created_date")
        )
    quality = mapping(mapping(own.get("labels")).get("quality")).get("value")
    if isinstance(quality, int | float):
        draft.fact(f"quality:{id}", f"quality {quality:.2f}", id, value=quality, at=own.get("created_date"))
    return id
