"""Large content in its place again, for whoever gives a message to a model.

`lctl.conversation.blobs` takes it out when a message is recorded. Every message that a tree gives has passed
here (`Node.message`, transcripts, views, graphs, rows of training data); what the log does not hold stays a
name.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from lctl.conversation.blobs import name_in, put_back
from lctl.errors import UsageError

if TYPE_CHECKING:
    from lctl.conversation.forest import Forest
    from lctl.conversation.node import Node


def restored(forest: Forest, value: Any) -> Any:
    """A JSON value that shares nothing with this one, with the content that its log holds by name."""
    return put_back(value, partial(_content, forest)) if forest.blobs else copied(value)


def copied(value: Any) -> Any:
    """A JSON value that shares nothing with this one."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def names_in(value: Any) -> Iterator[str]:
    """The hashes that a value names; of a restored one those whose content is not in the log."""
    if isinstance(value, list):
        for item in value:
            yield from names_in(item)
    elif isinstance(value, dict):
        name = name_in(value)
        if name is not None:
            yield name
        else:
            for item in value.values():
                yield from names_in(item)


def sendable(node: Node, message: dict[str, Any]) -> dict[str, Any]:
    """The message of a node, as it may be given to a model.

    Raises:
        UsageError: the log does not hold all of its content.
    """
    name = next(names_in(message), None)
    if name is not None:
        raise UsageError(
            f"message {node.id} holds content that is not in the log ({name:.20}...), and cannot be sent; "
            "edit it, or go on from a message before it"
        )
    return message


def _content(forest: Forest, name: str) -> str | None:
    try:
        content = forest.data_at(forest.blobs[name]).get("content")
    except KeyError:
        return None
    return content if isinstance(content, str) else None
