"""Large content put back where a message names it by hash."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lctl.conversation.tree import Tree
from lctl.training.tokens import event_data


class Blobs:
    """The `blob` events of a tree's log. What the log does not hold is counted in `lost` and stays a name."""

    def __init__(self, tree: Tree, lost: Counter[str]) -> None:
        self._tree = tree
        self._lost = lost

    def restored(self, value: Any) -> Any:
        """The value with every `{"$blob": hash}` replaced by what it stands for; itself without any."""
        if isinstance(value, dict):
            name = value.get("$blob")
            if isinstance(name, str):
                return self._content(name, value)
            made = {key: self.restored(item) for key, item in value.items()}
            return made if any(made[key] is not item for key, item in value.items()) else value
        if isinstance(value, list):
            items = [self.restored(item) for item in value]
            return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
        return value

    def _content(self, name: str, value: dict[str, Any]) -> Any:
        content = event_data(self._tree, self._tree.forest.blobs.get(name, 0)).get("content")
        if not isinstance(content, str):
            self._lost["content that the log does not hold"] += 1
            return value
        return str(value.get("prefix", "")) + content
