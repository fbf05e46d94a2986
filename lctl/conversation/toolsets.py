"""Results of one turn's tool calls: one path, not alternatives (CONVERSATIONS D3).

Tool messages below one assistant message that answer different calls are chained in their order; what
comes after them hangs on the chain's end. A second answer to the same call is an alternative to the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class ToolSet:
    """The chain below one assistant message.

    Attributes:
        tail: its last member; the assistant message itself while there is none.
        answered: call id -> the member that answered it first.
        below: what it was told about, in the order told: (number, call id; None: no tool message).
        newest: order key of the last one told about.
    """

    __slots__ = ("above", "answered", "below", "newest", "parents", "tail")

    def __init__(self, above: int) -> None:
        self.above = above
        self.below: list[tuple[int, str | None]] = []
        self.clear()

    def clear(self) -> None:
        self.tail = self.above
        self.answered: dict[str, int] = {}
        self.parents: dict[int, int] = {}
        self.newest: tuple[Any, ...] = ()

    def place(self, number: int, call_id: str | None) -> int:
        """Where the next one in order belongs: the number of its parent."""
        if call_id is None:
            return self.tail
        first = self.answered.get(call_id)
        if first is not None:
            return self.parents[first]
        parent = self.tail
        self.answered[call_id] = number
        self.parents[number] = parent
        self.tail = number
        return parent

    def replace(self, ordered: Iterable[tuple[int, str | None]]) -> list[tuple[int, int]]:
        """All of them anew, in this order: (number, parent) of each."""
        self.clear()
        return [(number, self.place(number, call_id)) for number, call_id in ordered]
