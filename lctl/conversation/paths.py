"""Paths through the conversations of a tree: from a root down to a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lctl.conversation.forest import UNKNOWN
from lctl.errors import BrokenChain, UsageError

if TYPE_CHECKING:
    from lctl.conversation.forest import Forest
    from lctl.conversation.node import Node


class Paths:
    """Mixed into `Tree`, which is a forest as of a seq."""

    __slots__ = ()

    if TYPE_CHECKING:
        _forest: Forest

        @property
        def seq(self) -> int: ...

        @property
        def _named(self) -> str: ...

        def node(self, number: int) -> Node: ...

        def __getitem__(self, id: str) -> Node: ...

    def path(self, id: str, *, strict: bool = True) -> list[Node]:
        """The messages from the root of a conversation to this one.

        Raises:
            UsageError: there is no such message.
            BrokenChain: the way to a root is broken, or goes in a circle. With strict=False, what there is.
        """
        return [self.node(n) for n in self.way(self._number(id), strict=strict)]

    def _number(self, id: str) -> int:
        number = self._forest.find(id, self.seq)
        if number < 0:
            raise UsageError(f"{self._named}there is no message {id} at event {self.seq}")
        return number

    def way(self, number: int, *, strict: bool = True) -> list[int]:
        """`path`, by numbers."""
        forest, seq = self._forest, self.seq
        found = forest.up(number, seq)
        found.reverse()
        if strict:
            top = found[0]
            circle = bool(forest.cyclic) and any(forest.cyclic.at(n, seq, False) for n in found)
            if circle or forest.parent_at(top, seq) == UNKNOWN:
                self._refuse(top, found, circle)
        return found

    def is_complete(self, id: str) -> bool:
        """Whether the path to a message begins at a root."""
        try:
            self.path(id)
        except BrokenChain:
            return False
        return True

    def _refuse(self, top: int, found: list[int], circle: bool) -> None:
        forest = self._forest
        missing = self.declared_parent(top) or forest.ids[top]
        if circle:
            text = f"message {missing} is its own ancestor; strict=False gives one round of it"
        else:
            text = (
                f"message {forest.ids[top]} hangs on {missing}, which is not in the log; "
                "strict=False gives what there is"
            )
        text = self._named + text
        raise BrokenChain(text, missing, [self.node(n) for n in found])

    def declared_parent(self, number: int) -> str | None:
        """The parent its event names, whether or not it is in the log."""
        value = self._forest.placed_by(number).get("parent_id")
        return None if value is None else str(value)

    def common(self, one: str, other: str) -> Node | None:
        """The last message both paths share; None where they share none."""
        forest, seq = self._forest, self.seq
        mine = set(forest.up(self[one].number, seq))
        for number in forest.up(self[other].number, seq):
            if number in mine:
                return self.node(number)
        return None

    def nested(self, id: str) -> list[Node]:
        """Roots of the conversations of sub-agents inside this message's tool calls."""
        forest, seq = self._forest, self.seq
        own = forest.resolve(id, seq)
        names = [
            own,
            *(alias for alias in list(forest.nested) if alias != own and forest.resolve(alias, seq) == own),
        ]
        return [
            self.node(n) for name in names for n in forest.nested.get(name, ()) if forest.is_nested_at(n, seq)
        ]
