"""A mapping that remembers what it held, for values that rarely change and can be read again."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from typing import Any, TypeVar, cast

from lctl.state.shelf import Shelves, at_hand, keys_between

K = TypeVar("K")
V = TypeVar("V")


class Kept(Mapping[K, V]):
    """Like `versions.Versions`, for values that rarely change and can be read again from their event.

    A cell is the seq of that event; or the value, where the event does not say it all; or, where there is
    more than one version, [seq, cell, seq, cell ...], each with the seq from which it holds.

    Args:
        read: makes a value of its key and the seq of its event.
        born: the seq of the event a value comes from.
        shelves: as of `Versions`.
    """

    def __init__(
        self, read: Callable[[K, int], V], born: Callable[[V], int], shelves: Shelves | None = None
    ) -> None:
        self.read = read
        self.born = born
        self.cells: MutableMapping[K, int | V | list[Any]] = (
            {} if shelves is None else shelves.shelf(_seq_alone, int)
        )

    def change(self, before: int | None, seq: int, versions: Mapping[K, V]) -> None:
        """New versions of keys that are known, which hold from the end of the block that ends with `seq`; the
        one before it ended with `before`. A new key has nothing to be kept of: its cell is put as it is."""
        cells = self.cells
        for key, new in versions.items():
            cell = cells.setdefault(key, new)
            if type(cell) is not list:
                first = cell if type(cell) is int else self.born(cast(V, cell))
                if before is None or first > before:  # of this block, of which only the end is looked at
                    cells[key] = new
                    continue
                cell = cells[key] = [first, cell]
            cell += seq, new

    def at(self, before: bytes, seq: int, count: int) -> KeptAsOf[K, V]:
        """As `Versions.at`."""
        return KeptAsOf(self, seq, count)

    def at_hand(self, keys: Collection[K]) -> None:
        """As of a shelf."""
        at_hand(self.cells, keys)

    def get(self, key: K, default: Any = None) -> Any:
        cell = self.cells.get(key, default)
        if type(cell) is list:
            cell = cell[-1]
        return self.read(key, cell) if type(cell) is int else cell

    def __getitem__(self, key: K) -> V:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return cast(V, value)

    def __contains__(self, key: object) -> bool:
        return key in self.cells

    def __iter__(self) -> Iterator[K]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)


class KeptAsOf(Mapping[K, V]):
    """A frozen view of `Kept`."""

    __slots__ = ("_count", "_kept", "_seq")

    def __init__(self, kept: Kept[K, V], seq: int, count: int) -> None:
        self._kept = kept
        self._seq = seq
        self._count = count

    def _cell(self, key: K) -> Any:
        """The cell that holds at our seq, None if there is none."""
        cell = self._kept.cells.get(key)
        if type(cell) is int:
            return cell if cell <= self._seq else None
        if type(cell) is list:
            n = bisect_right(cell[::2], self._seq)
            return cell[2 * n - 1] if n else None
        return cell if cell is not None and self._kept.born(cast(V, cell)) <= self._seq else None

    def get(self, key: K, default: Any = None) -> Any:
        cell = self._cell(key)
        if cell is None:
            return default
        return self._kept.read(key, cell) if type(cell) is int else cell

    def __getitem__(self, key: K) -> V:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return cast(V, value)

    def __contains__(self, key: object) -> bool:
        cell: Any = self._kept.cells.get(key)  # type: ignore[arg-type]
        if type(cell) is int:
            return cell <= self._seq
        return cell is not None and self._cell(cast(K, key)) is not None

    def __iter__(self) -> Iterator[K]:
        return iter(keys_between(self._kept.cells, 0, self._count))

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return repr(dict(self))


def _seq_alone(cell: Any) -> int | None:
    """Only what is read again from its event can be put away."""
    return cell if type(cell) is int else None
