"""Results of one turn's tool calls: one path, not alternatives (CONVERSATIONS D3).

Tool messages below one assistant message that answer different calls are chained in their order; what
comes after them hangs on the chain's end. A second answer to the same call is an alternative to the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Told = tuple[int, str | None]
#: Beyond so many members a dict finds them; fewer are found by going through them.
_FEW = 8


class ToolSet:
    """The chain below one assistant message. A log of an agent has one for each of its turns, so that the
    few members most have are kept as tuples.

    Attributes:
        tail: its last member; the assistant message itself while there is none.
        below: what it was told about, in the order told: (number, call id; None: no tool message).
    """

    __slots__ = ("_chain", "_found", "above", "below", "tail")

    def __init__(self, above: int) -> None:
        self.above = above
        self.below: Sequence[Told] = ()
        self._clear()

    def _clear(self) -> None:
        self.tail = self.above
        self._chain: Sequence[Told] = ()
        self._found: dict[str | None, int] | None = None  # call id -> parent of the member that answers it

    def tell(self, number: int, call_id: str | None) -> None:
        """`number` is below the assistant message, whatever its place will be."""
        self.below = _grown(self.below, (number, call_id))

    def place(self, number: int, call_id: str | None) -> int:
        """Where the next one in order belongs: the number of its parent. A member is the `tail` then."""
        if call_id is None:
            return self.tail
        parent = self._answered(call_id)
        if parent is not None:
            return parent
        parent = self.tail
        self._chain = _grown(self._chain, (number, call_id))
        if self._found is not None:
            self._found[call_id] = parent
        self.tail = number
        return parent

    def replace(self, ordered: Iterable[Told]) -> list[tuple[int, int]]:
        """All of them anew, in this order: (number, parent) of each."""
        self._clear()
        return [(number, self.place(number, call_id)) for number, call_id in ordered]

    def _answered(self, call_id: str) -> int | None:
        """The parent of the member that answered a call."""
        if self._found is not None:
            return self._found.get(call_id)
        parents: dict[str | None, int] = {}
        parent = self.above
        for number, known in self._chain:
            if known == call_id:
                return parent
            parents[known] = parent
            parent = number
        if len(parents) >= _FEW:
            self._found = parents
        return None


def _grown(told: Sequence[Told], one: Told) -> Sequence[Told]:
    if isinstance(told, list):
        told.append(one)
        return told
    return [*told, one] if len(told) >= _FEW else (*told, one)
