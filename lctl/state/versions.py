"""Mappings that remember what they held: every version of every value, by the block that wrote it.

A timeline keeps one of these per mapping of the state, and looking at an earlier block is looking up the
newest version that is not younger. A version is the value's bytes behind its block number, four bytes,
big end first: so versions compare as their blocks do, and are 100 bytes where the objects would be 500.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from itertools import islice
from typing import Any, TypeVar, cast

import msgspec

from lctl.state.shelf import Shelf, Shelves

K = TypeVar("K")
V = TypeVar("V")

_encode = msgspec.msgpack.Encoder().encode
_decode_blobs = msgspec.msgpack.Decoder(list[bytes]).decode
_NOW = 1 << 62

#: (key, what was put, what grows with it) -> value
Unpack = Callable[[K, Any, Sequence[Any]], V]
#: (key, what was put, seq of the view) -> what grows with it
Rest = Callable[[K, Any, int], Sequence[Any]]


def _nothing(key: Any, fields: Any, seq: int) -> Sequence[Any]:
    return ()


class Versions(Mapping[K, V]):
    """The newest version of everything, and `at` for earlier ones.

    Args:
        unpack: makes a value of what was put.
        form: type of what was put.
        rest: finds the part of a value that only grows, and is kept once, elsewhere.
        shelves: where old versions go that are too many to hold.
    """

    def __init__(
        self,
        unpack: Unpack[K, V],
        form: Any = Any,
        rest: Rest[K] = _nothing,
        shelves: Shelves | None = None,
    ) -> None:
        self.unpack = unpack
        self.rest = rest
        self.decode = msgspec.msgpack.Decoder(form).decode
        #: A list where there is more than one version.
        self.cells: MutableMapping[K, bytes | list[bytes]] = (
            {} if shelves is None else shelves.shelf(_encode_versions, _decode_versions)
        )

    def put(self, stamp: bytes, versions: Iterable[tuple[K, Any]]) -> None:
        """New versions, written in the block that `stamp` stands for: (key, what to keep) of each."""
        cells, encode = self.cells, _encode
        for key, fields in versions:
            blob = stamp + encode(fields)
            known = cells.setdefault(key, blob)
            if known is blob:
                continue
            if type(known) is list:
                known.append(blob)
            else:
                cells[key] = [known, blob]  # type: ignore[list-item]

    def at(self, before: bytes, seq: int, count: int) -> AsOf[K, V]:
        """The mapping as it was before the block stamped `before`: after `seq`, when it had `count` keys."""
        return AsOf(self, before, seq, count)

    def __getitem__(self, key: K) -> V:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return cast(V, value)

    def get(self, key: K, default: Any = None) -> Any:
        row = self.row(key)
        return default if row is None else self.unpack(key, *row)

    def row(self, key: K) -> tuple[Any, Sequence[Any]] | None:
        """What was put, and what grows with it; None if there is nothing. The caller may change the row."""
        cell = self.cells.get(key)
        if cell is None:
            return None
        fields = self.decode((cell[-1] if type(cell) is list else cast(bytes, cell))[4:])
        return fields, self.rest(key, fields, _NOW)

    def __contains__(self, key: object) -> bool:
        return key in self.cells

    def __iter__(self) -> Iterator[K]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)


class Kept(Mapping[K, V]):
    """Like `Versions`, for values that rarely change and can be read again from their event.

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

    def put(self, seq: int, versions: Mapping[K, V | int]) -> None:
        """New versions, which hold from the end of the block that ends with `seq`."""
        cells = self.cells
        if cells.keys().isdisjoint(versions):  # as nearly always
            cells.update(versions)
            return
        for key, new in versions.items():
            cell = cells.setdefault(key, new)
            if cell is not new:
                if type(cell) is not list:
                    first = cell if type(cell) is int else self.born(cast(V, cell))
                    cell = cells[key] = [first, cell]
                cell += seq, new

    def at(self, before: bytes, seq: int, count: int) -> KeptAsOf[K, V]:
        """As `Versions.at`."""
        return KeptAsOf(self, seq, count)

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
        cell = self._kept.cells.get(cast(K, key))
        if type(cell) is int:
            return cell <= self._seq
        return cell is not None and self._cell(cast(K, key)) is not None

    def __iter__(self) -> Iterator[K]:
        return iter(_first(self._kept.cells, self._count))

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return repr(dict(self))


class AsOf(Mapping[K, V]):
    """A frozen view of `Versions`. Values are made when they are looked up."""

    __slots__ = ("_before", "_count", "_seq", "_versions")

    def __init__(self, versions: Versions[K, V], before: bytes, seq: int, count: int) -> None:
        self._versions = versions
        self._before = before
        self._seq = seq
        self._count = count

    def get(self, key: K, default: Any = None) -> Any:
        row = self.row(key)
        return default if row is None else self._versions.unpack(key, *row)

    def row(self, key: K) -> tuple[Any, Sequence[Any]] | None:
        """As `Versions.row`, at our block."""
        versions = self._versions
        cell = versions.cells.get(key)
        if cell is None:
            return None
        if isinstance(cell, list):
            n = bisect_left(cell, self._before)
            if n == 0:
                return None
            cell = cell[n - 1]
        elif cell >= self._before:
            return None
        fields = versions.decode(cell[4:])
        return fields, versions.rest(key, fields, self._seq)

    def __getitem__(self, key: K) -> V:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return cast(V, value)

    def __contains__(self, key: object) -> bool:
        cell = self._versions.cells.get(cast(K, key))
        first = cell[0] if isinstance(cell, list) else cell
        return first is not None and first < self._before

    def __iter__(self) -> Iterator[K]:
        return iter(_first(self._versions.cells, self._count))

    def __len__(self) -> int:
        return self._count

    def newest(self, n: int) -> list[K]:
        """The `n` keys put last, oldest first."""
        return _between(self._versions.cells, max(0, self._count - n), self._count)

    def __repr__(self) -> str:
        return repr(dict(self))


def _encode_versions(cell: bytes | list[bytes]) -> bytes:
    """One version as it is, behind a byte that says so."""
    return b"\0" + cell if type(cell) is bytes else b"\1" + _encode(cell)


def _decode_versions(stored: bytes) -> bytes | list[bytes]:
    return stored[1:] if stored[0] == 0 else _decode_blobs(stored[1:])


def _seq_alone(cell: Any) -> int | None:
    """Only what is read again from its event can be put away."""
    return cell if type(cell) is int else None


def _first(cells: Mapping[K, Any], count: int) -> list[K]:
    """The oldest keys. A copy, made in one go: a view may be iterated while blocks are added."""
    return _between(cells, 0, count)


def _between(cells: Mapping[K, Any], first: int, stop: int) -> list[K]:
    if isinstance(cells, Shelf):
        return cells.between(first, stop)
    return list(islice(cells, first, stop))


def stamp(block: int) -> bytes:
    """How a block's number is written before a version."""
    return block.to_bytes(4, "big")
