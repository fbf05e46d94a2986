"""What streamed messages say: chunks in order, and what was wrong with them."""

from __future__ import annotations

from typing import Any


class Chunks:
    """The pieces of one streamed message as they came, joined when asked for.

    `index` tells the place of a piece where the sender gave one: a piece delivered again is passed over,
    one that came early is put where it belongs.
    """

    __slots__ = ("_contents", "_indexes", "_known", "_seqs", "ended", "ordered")

    def __init__(self) -> None:
        self._seqs: list[int] = []
        self._indexes: list[int] = []
        self._contents: list[Any] = []
        self._known: set[int] | None = None
        self.ordered = True
        self.ended = False

    def __len__(self) -> int:
        return len(self._seqs)

    def add(self, seq: int, index: int | None, content: Any) -> bool:
        """Keep a piece; False if it is there already."""
        count = len(self._seqs)
        place = count if index is None else index
        if place != count or self._known is not None:
            if self._known is None:
                self._known = set(self._indexes)
            if place in self._known:
                return False
            self._known.add(place)
            if self._indexes and place < self._indexes[-1]:
                self.ordered = False
        self._seqs.append(seq)
        self._indexes.append(place)
        self._contents.append(content)
        return True

    def missing(self) -> int:
        """How many pieces before the last one never came."""
        return max(self._indexes, default=-1) + 1 - len(self._indexes)

    def text(self, seq: int) -> str:
        """What they say up to event `seq`."""
        if not self._seqs:
            return ""
        if self.ordered and self._seqs[-1] <= seq:
            return "".join(map(_words, self._contents))
        pieces = [
            (index, content)
            for at, index, content in zip(self._seqs, self._indexes, self._contents, strict=True)
            if at <= seq
        ]
        pieces.sort(key=lambda piece: piece[0])
        return "".join(_words(content) for _, content in pieces)


def _words(content: Any) -> str:
    return content if isinstance(content, str) else "" if content is None else str(content)
