"""One hash of all that can be seen of a tree."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import orjson

from lctl.codec.lines import encode_value
from lctl.conversation.node import stored_of

if TYPE_CHECKING:
    from lctl.conversation.tree import Tree


def hash_of(tree: Tree) -> str:
    """Hash of places, order and contents as of the tree's seq."""
    forest, seq = tree.forest, tree.seq
    digest = hashlib.sha256()
    for id in sorted(forest.ids[: len(tree)]):
        number = forest.numbers[id]
        parent = forest.parent_at(number, seq)
        below = [forest.ids[n] for n in forest.children_at(number, seq)]
        versions = [forest.ids[n] for n in forest.versions_at(number, seq)]
        above = forest.ids[parent] if parent >= 0 else parent
        said = stored_of(tree, number)
        status = forest.status_at(number, seq)
        sampled = forest.sampled.get(number, seq + 1) <= seq
        line = [id, forest.role_at(number, seq), above, below, versions, status, sampled, said]
        digest.update(encode_value(line, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str))
    aliases = sorted(alias for alias, (_, since) in list(forest.aliases.items()) if since <= seq)
    digest.update(encode_value([[alias, forest.resolve(alias, seq)] for alias in aliases]))
    return "sha256:" + digest.hexdigest()
