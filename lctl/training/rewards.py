"""What facts say a row, or a message, is worth."""

from __future__ import annotations

from typing import Any

from lctl.conversation.tree import Tree

#: Words people rate with.
WORDS = {
    **dict.fromkeys(("up", "good", "like", "liked", "yes", "thumbs_up", "positive", "+1", "👍"), 1.0),
    **dict.fromkeys(("down", "bad", "dislike", "disliked", "no", "thumbs_down", "negative", "-1", "👎"), 0.0),
}


class Rewards:
    """Facts with a value, as of a tree's seq. Facts about an alias are about its message."""

    def __init__(self, tree: Tree, chain: str) -> None:
        self._tree = tree
        self._chain = chain
        self._known = bool(tree.forest.ratings)
        self._aliases: dict[str, list[str]] = {}
        if self._known:
            for alias in tree.forest.aliases:
                self._aliases.setdefault(tree.forest.resolve(alias, tree.seq), []).append(alias)

    def about(self, id: str) -> Any:
        """Value of the newest fact about a message, a session or a conversation; None without one."""
        if not self._known:
            return None
        ratings, seq = self._tree.forest.ratings, self._tree.seq
        found = [rating for name in (id, *self._aliases.get(id, ())) for rating in ratings.of(name, seq)]
        return max(found, key=lambda rating: rating.seq).value if found else None

    def number(self, id: str) -> float | None:
        """`about` as a number: thumbs up and true are 1, thumbs down and false 0."""
        return number_of(self.about(id))

    def of(self, path: list[int], root: int) -> float | None:
        """The reward of a row: see `Sample.reward`."""
        if not self._known:
            return None
        forest, tree = self._tree.forest, self._tree
        names = [forest.ids[path[-1]]]
        for number in (path[-1], path[0], root):
            session = tree.node(number).data.get("session_id")
            if session is not None:
                names.append(str(session))
            names.append(forest.conversations.get(number, "main"))
        names += [forest.ids[root], self._chain]
        return next((value for name in names if (value := self.number(name)) is not None), None)


def number_of(value: Any) -> float | None:
    """A rating as a number; None of what is none."""
    if isinstance(value, str):
        return WORDS.get(value.strip().lower())
    return float(value) if isinstance(value, bool | int | float) and value == value else None
