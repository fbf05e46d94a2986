"""Mappings that remember what they held: every version of every value, by the block that wrote it.

A timeline keeps one of these per mapping of the state, and looking at an earlier block is looking up the
newest version that is not younger. A version is the value's bytes behind its block number, four bytes,
big end first: so versions compare as their blocks do, and are 100 bytes where the objects would be 500.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, TypeVar, cast

import msgspec

from lctl.state.shelf import Shelves, at_hand, keys_between

K = TypeVar("K")
V = TypeVar("V")

_encode = msgspec.msgpack.Encoder().encode
_decode_blobs = msgspec.msgpack.Decoder(list[bytes]).decode
_decode_keys = msgspec.msgpack.Decoder(list[str | int]).decode
_NOW = 1 << 62
#: Blocks that are looked through for the keys put last; those read at once.
_BACK = 256
_SOME = 4

#: (key, what was put, what grows with it) -> value
Unpack = Callable[[K, Any, Sequence[Any]], V]
#: (key, what was put, seq of the view) -> what grows with it
Rest = Callable[[K, Any, int], Sequence[Any]]


@functools.cache  # msgspec looks at a type anew for each of them
def _decoder(form: Any) -> Callable[[bytes], Any]:
    return msgspec.msgpack.Decoder(form).decode


def _nothing(key: Any, fields: Any, seq: int) -> Sequence[Any]:
    return ()


class Versions(Mapping[K, V]):
    """The newest version of everything, and `at` for earlier ones.

    Args:
        unpack: makes a value of what was put.
        form: type of what was put.
        rest: finds the part of a value that only grows, and is kept once, elsewhere.
        beside: where `rest` looks.
        dated: it is kept which keys each block wrote, for `latest`.
        shelves: where old versions go that are too many to hold.
    """

    def __init__(
        self,
        unpack: Unpack[K, V],
        form: Any = Any,
        rest: Rest[K] = _nothing,
        shelves: Shelves | None = None,
        *,
        beside: Mapping[K, Any] | None = None,
        dated: bool = False,
    ) -> None:
        self.unpack = unpack
        self.rest = rest
        self._beside = beside
        self._dated = dated
        self.decode = _decoder(form)
        #: A list where there is more than one version.
        self.cells: MutableMapping[K, bytes | list[bytes]] = (
            {} if shelves is None else shelves.shelf(_encode_versions, _decode_versions)
        )
        #: Block -> the keys it wrote.
        self.written: MutableMapping[int, list[K]] = (
            {} if shelves is None or not dated else shelves.shelf(_encode, _decode_keys)
        )

    def put(self, stamp: bytes, versions: Mapping[K, Any]) -> None:
        """New versions, written in the block that `stamp` stands for: what to keep of each key."""
        cells, encode = self.cells, _encode
        if self._dated:
            self.written[int.from_bytes(stamp, "big")] = list(versions)
        for key, fields in versions.items():
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

    def at_hand(self, keys: Collection[K]) -> None:
        """As of a shelf: versions, and what grows with them."""
        at_hand(self.cells, keys)
        if self._beside is not None:
            at_hand(self._beside, keys)

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
        cell: Any = versions.cells.get(key)
        if cell is None:
            return None
        if type(cell) is list:
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
        cell: Any = self._versions.cells.get(key)  # type: ignore[arg-type]
        first = cell[0] if type(cell) is list else cell
        return first is not None and first < self._before

    def __iter__(self) -> Iterator[K]:
        return iter(keys_between(self._versions.cells, 0, self._count))

    def __len__(self) -> int:
        return self._count

    def at_hand(self, keys: Collection[K]) -> None:
        """As of a shelf."""
        self._versions.at_hand(keys)

    def latest(self, n: int) -> list[K]:
        """The keys put or changed last: all that some of the newest blocks wrote, `n` or more; fewer where
        hardly anything was written lately. Of versions that are `dated`."""
        written, found = self._versions.written, dict[K, None]()
        newest = int.from_bytes(self._before, "big") - 1
        oldest = max(0, newest - _BACK + 1)
        for first in range(newest, oldest - 1, -_SOME):
            blocks = range(first, max(oldest - 1, first - _SOME), -1)
            at_hand(written, blocks)
            for block in blocks:
                found.update(dict.fromkeys(written.get(block, ())))
                if len(found) >= n:
                    return list(found)
        return list(found)

    def newest(self, n: int) -> list[K]:
        """The `n` keys put last, oldest first."""
        return keys_between(self._versions.cells, max(0, self._count - n), self._count)

    def __repr__(self) -> str:
        return repr(dict(self))


def _encode_versions(cell: bytes | list[bytes]) -> bytes:
    """One version as it is, behind a byte that says so."""
    return b"\0" + cell if type(cell) is bytes else b"\1" + _encode(cell)


def _decode_versions(stored: bytes) -> bytes | list[bytes]:
    return stored[1:] if stored[0] == 0 else _decode_blobs(stored[1:])


def stamp(block: int) -> bytes:
    """How a block's number is written before a version."""
    return block.to_bytes(4, "big")
