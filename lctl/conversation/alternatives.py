"""What stands at one place of the tree: children, siblings, versions, and their order."""

from __future__ import annotations

from array import array
from typing import Any

from lctl.conversation.numbers import Few, History, Names, joined

#: In place of a parent: none, it begins a conversation; one that the log does not hold (yet).
ROOT = -1
UNKNOWN = -2


class Alternatives:
    """The part of a `Forest` that reads who stands beside whom. Lists of messages are lists of numbers."""

    def __init__(self) -> None:
        self.seqs = array("q")
        self.parents = array("q")
        self.conversations = Names()  # of messages not in "main"
        self.roots_in: dict[str, list[int]] = {}  # conversation -> its first messages, as they came
        self.moves: History[int] = History()  # parents that changed; UNKNOWN before the first entry
        self.serials: History[str | int] = History()
        self.groups: History[int] = History()
        self.versions: dict[int, Few | array[int]] = {}  # first of its versions -> all that ever were
        #: number -> its children so far, also those that have been moved away since; by number.
        self._child = array("q")
        self._children: dict[int, Few | array[int]] = {}

    def _adopt(self, parent: int, number: int) -> None:
        only = self._child[parent]
        if only == number:
            return
        if only < 0:
            self._child[parent] = number
            return
        self._children[parent] = joined(self._children.get(parent) or (only,), number)

    def parent_at(self, number: int, seq: int) -> int:
        """The message before it after event `seq`: a number, ROOT or UNKNOWN."""
        parent = self.parents[number]
        if number in self.moves:
            parent = self.moves.at(number, seq, UNKNOWN)
        return UNKNOWN if parent >= 0 and self.seqs[parent] > seq else parent

    def children_at(self, number: int, seq: int) -> list[int]:
        """Its children after event `seq`, in order (D5)."""
        only = self._child[number]
        if only < 0:
            return []
        ever = self._children.get(number)
        if ever is None:
            return [only] if self.seqs[only] <= seq and self.parent_at(only, seq) == number else []
        seqs = self.seqs
        found = [n for n in ever if seqs[n] <= seq and self.parent_at(n, seq) == number]
        return self.sorted_at(found, seq)

    def is_fork(self, number: int) -> bool:
        """Whether it ever had several children."""
        return number in self._children

    def latest_child(self, number: int, seq: int) -> int:
        """The last of `children_at`, found without the others; -1 where there is none."""
        if self.serials:
            return next(reversed(self.children_at(number, seq)), -1)
        ever = self._children.get(number)
        for child in reversed(ever) if ever is not None else (self._child[number],):
            if child >= 0 and self.seqs[child] <= seq and self.parent_at(child, seq) == number:
                return child
        return -1

    def siblings_at(self, number: int, seq: int) -> list[int]:
        """The alternatives at the place of a message, itself among them, in order.

        Of a first message: the other first ones of its conversation, and its versions.
        """
        parent = self.parent_at(number, seq)
        if parent >= 0:
            return self.children_at(parent, seq)
        if parent == UNKNOWN:
            return [number]
        own = self.roots_in.get(self.conversations.get(number, "main"), ())
        found = {n for n in own if self.seqs[n] <= seq and self.parent_at(n, seq) == ROOT}
        return self.sorted_at(sorted(found.union(self.versions_at(number, seq))), seq)

    def sorted_at(self, numbers: list[int], seq: int) -> list[int]:
        """By order key. Without serials that is as they came: by number."""
        if self.serials and any(n in self.serials for n in numbers):
            numbers.sort(key=lambda n: self.order_key(n, seq))
        else:
            numbers.sort()
        return numbers

    def order_key(self, number: int, seq: int) -> tuple[Any, ...]:
        """Messages with a serial first, by it; the others as they came (D5)."""
        serial = self.serials.at(number, seq, "") if number in self.serials else None
        if serial is None or serial == "":
            return (1, 0, 0, number)
        return (0, isinstance(serial, str), serial, number)

    def versions_at(self, number: int, seq: int) -> list[int]:
        """The message and its other versions after event `seq`, in order."""
        first = self.groups.at(number, seq, number)
        ever = self.versions.get(first)
        if ever is None:
            return [number]
        found = [n for n in ever if self.seqs[n] <= seq and self.groups.at(n, seq, n) == first]
        return self.sorted_at(found, seq)
