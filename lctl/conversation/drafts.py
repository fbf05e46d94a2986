"""Events of what is done through a view: the data of a message below another, of a version, of a piece."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lctl.conversation.node import Node
from lctl.conversation.sdkobjects import no_message, own_copy
from lctl.errors import RecordingError, UsageError

if TYPE_CHECKING:
    from lctl.conversation.tree import Tree

#: Of a message that is edited: what another version of it has as well.
_KEPT = ("name", "tool_call_id")


def message(
    tree: Tree, conversation: str, id: str, parent: str | None, content: Any, **fields: Any
) -> dict[str, Any]:
    """The data of a message below `parent`; `content` may be a whole message, an SDK's too.

    Raises:
        UsageError: it is none, and nothing that one says.
    """
    why = None if content is None else no_message(content)
    if why is not None:
        raise UsageError(why)
    content = own_copy(content)
    said = dict(content) if isinstance(content, Mapping) and "role" in content else {"content": content}
    data = {"message_id": id, "parent_id": parent, **fields, **said}
    if conversation != "main":
        data["conversation_id"] = conversation
    return {key: value for key, value in data.items() if value is not None or key in ("parent_id", "content")}


def version(tree: Tree, node: Node, id: str, content: Any, **fields: Any) -> dict[str, Any]:
    """The data of another version of `node`, at its place."""
    kept = {key: value for key, value in node.data.items() if key in _KEPT}
    return message(
        tree,
        node.conversation,
        id,
        place_of(tree, node),
        content,
        fork_of=node.id,
        **{"role": node.role or "assistant", **kept, **fields},
    )


def place_of(tree: Tree, node: Node) -> str | None:
    """Id of the message before it, whether or not it is in the log."""
    parent = node.parent
    return parent.id if parent is not None else tree.declared_parent(node.number)


def piece(tree: Tree, node: Node, content: Any) -> tuple[str, dict[str, Any]]:
    """The event of one more piece of a streamed message."""
    count = len(tree.forest.texts.get(node.number) or ())
    said = {"tool_calls": content} if _is_calls(content) else {"content": content}
    return "stream_chunk", {"message_id": node.id, "index": count, **said}


def _is_calls(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(one, Mapping) and ("function" in one or "arguments" in one) for one in content
    )


def ending(
    tree: Tree, node: Node, content: Any, status: str | None, fields: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The event that ends a streamed message: with its whole content, or as its pieces have it."""
    if content is None and not fields:
        count = len(tree.forest.texts.get(node.number) or ())
        return "stream_end", {
            "message_id": node.id,
            "status": status or "complete",
            "total_chunks": count,
        }
    data = message(
        tree,
        node.conversation,
        node.id,
        place_of(tree, node),
        content,
        **{"role": node.role or "assistant", "status": status or "complete", **fields},
    )
    return "message", data


def record(tree: Tree, type: str, data: dict[str, Any], agent: str | None = None) -> int:
    """Write an event; its seq.

    Raises:
        UsageError: the tree can only be read.
        RecordingError: the event could not be recorded.
    """
    seq = tree.writer.emit(type, data, agent=agent)
    if not seq:
        raise RecordingError(f"{type} {data.get('message_id', '')} could not be recorded; see 'lctl doctor'")
    return seq


def generated(node: Node) -> Node:
    """`node`, which something produced that can produce another.

    Raises:
        UsageError: somebody wrote it.
    """
    if node.role in ("assistant", "tool"):
        return node
    raise UsageError(f"message {node.id} is of role {node.role!r}: edit it, or regenerate what follows")
