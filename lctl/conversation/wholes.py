"""Messages as their providers have them: with the large content that the log holds beside them."""

from __future__ import annotations

from typing import Any

from lctl.conversation.blobs import names_in, put_back
from lctl.conversation.tree import Tree


def whole(tree: Tree, value: Any) -> Any:
    """`value` with what it names by hash put in its place. What the log does not hold stays a name."""
    forest = tree.forest
    if not forest.blobs:
        return value
    held: dict[str, str] = {}
    for name in names_in(value):
        seq = forest.blobs.get(name)
        try:
            content = None if seq is None else forest.data_at(seq).get("content")
        except KeyError:
            content = None
        if isinstance(content, str):
            held[name] = content
    return put_back(value, held) if held else value


__all__ = ["whole"]
