"""Columns of whole numbers, and numbers that change at some seq."""

from __future__ import annotations

from bisect import bisect_right
from typing import Generic, TypeVar

T = TypeVar("T")


class History(Generic[T]):
    """What a few keys were, and since which seq. Keys without an entry never changed.

    `record(key, seq, value)` must be called with growing seq for one key.
    """

    __slots__ = ("_seqs", "_values")

    def __init__(self) -> None:
        self._seqs: dict[int, list[int]] = {}
        self._values: dict[int, list[T]] = {}

    def __contains__(self, key: int) -> bool:
        return key in self._seqs

    def __len__(self) -> int:
        return len(self._seqs)

    def record(self, key: int, seq: int, value: T) -> None:
        seqs = self._seqs.setdefault(key, [])
        values = self._values.setdefault(key, [])
        if seqs and seqs[-1] == seq:
            values[-1] = value
        else:
            seqs.append(seq)
            values.append(value)

    def at(self, key: int, seq: int, otherwise: T) -> T:
        """The value of `key` after event `seq`; `otherwise` before its first entry."""
        seqs = self._seqs.get(key)
        if seqs is None:
            return otherwise
        n = bisect_right(seqs, seq)
        return self._values[key][n - 1] if n else otherwise

    def last(self, key: int, otherwise: T) -> T:
        values = self._values.get(key)
        return values[-1] if values else otherwise
