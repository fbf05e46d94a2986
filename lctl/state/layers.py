"""Frozen containers that share what did not change: `Layers`, a mapping, and `Runs`, a sequence.

Both are stacks of parts, oldest first, none of which is ever changed. What is added becomes a new part;
the newest parts are merged when they are not much larger than it, so a stack stays a few parts deep and
adding n things one by one costs O(n log n) together. Plain dicts and tuples underneath: looking up in
them is what CPython does best.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice
from typing import Any, TypeVar, cast, overload

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")
_MISSING: Any = object()


class Layers(Mapping[K, V]):
    """A read-only mapping; keys come in the order in which they were first added."""

    __slots__ = ("_length", "_parts")

    def __init__(self, parts: tuple[Mapping[K, V], ...] = ()) -> None:
        self._parts = parts
        self._length: int | None = None

    def __getitem__(self, key: K) -> V:
        found = self.get(key, _MISSING)
        if found is _MISSING:
            raise KeyError(key)
        return cast(V, found)

    def get(self, key: K, default: Any = None) -> Any:  # one lookup a part, where `in` and [] make two
        for part in reversed(self._parts):
            found = part.get(key, _MISSING)
            if found is not _MISSING:
                return found
        return default

    def __contains__(self, key: object) -> bool:
        return any(key in part for part in self._parts)

    def __iter__(self) -> Iterator[K]:
        for n, part in enumerate(self._parts):
            if n == 0:
                yield from part
            else:
                older = self._parts[:n]
                for key in part:
                    if not any(key in one for one in older):
                        yield key

    def __len__(self) -> int:
        if self._length is None:
            parts = self._parts
            length = len(parts[0]) if parts else 0
            for n in range(1, len(parts)):  # of these there are few keys, of the first perhaps many
                older = parts[:n]
                length += sum(not any(key in one for one in older) for key in parts[n])
            self._length = length
        return self._length

    def __repr__(self) -> str:
        return repr(dict(self))


def newest_keys(mapping: Mapping[K, Any], n: int) -> list[K]:
    """The keys that were added last, at most `n`, newest first; without going through all of them."""
    parts = mapping._parts if isinstance(mapping, Layers) else (mapping,)
    found: dict[K, None] = {}
    for place in range(len(parts) - 1, -1, -1):
        older = parts[:place]
        part = parts[place]
        newest = getattr(part, "newest", None)
        keys = list(part) if newest is None else newest(n + len(found))
        for key in reversed(keys):
            if len(found) >= n:
                return list(found)
            if not any(key in one for one in older):
                found[key] = None
    return list(found)


def latest_keys(mapping: Mapping[K, Any], n: int) -> list[K]:
    """The keys put or changed last, `n` of them or more; fewer where a part that is read from disk has had
    hardly any lately."""
    found: dict[K, None] = {}
    for part in reversed(mapping._parts if isinstance(mapping, Layers) else (mapping,)):
        latest = getattr(part, "latest", None)
        found.update(dict.fromkeys(part if latest is None else latest(n)))
        if len(found) >= n:
            break
    return list(found)


def at_hand(mapping: Mapping[K, Any], keys: Collection[K]) -> None:
    """Have these at hand, where a part of the mapping is read from disk."""
    for part in mapping._parts if isinstance(mapping, Layers) else (mapping,):
        read = getattr(part, "at_hand", None)
        if read is not None:
            read(keys)


def over(base: Mapping[K, V], changes: dict[K, V]) -> Mapping[K, V]:
    """`base` with `changes` on top. The dict is taken over: the caller must not touch it again."""
    if not changes:
        return base
    if type(base) is not Layers:  # `isinstance` of an abstract class is slow where the answer is no
        if type(base) is dict and len(base) <= 2 * len(changes):
            return Layers(({**base, **changes},))
        return Layers((base, changes))
    parts = list(base._parts)
    while parts and type(parts[-1]) is dict and len(parts[-1]) <= 2 * len(changes):
        changes = {**parts.pop(), **changes}
    return Layers((*parts, changes))


class Lazy(Mapping[K, V]):
    """Values that are made when they are looked up. `rows` must not change any more."""

    __slots__ = ("_make", "_rows")

    def __init__(self, rows: dict[K, Any], make: Callable[[Any], V]) -> None:
        self._rows = rows
        self._make = make

    def get(self, key: K, default: Any = None) -> Any:
        row = self._rows.get(key)
        return default if row is None else self._make(row)

    def __getitem__(self, key: K) -> V:
        return self._make(self._rows[key])

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __iter__(self) -> Iterator[K]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def lazily(base: Mapping[K, V], rows: dict[K, Any], make: Callable[[Any], V]) -> Mapping[K, V]:
    """As `over`, for a state that is looked at once: values that nobody asks for are never made."""
    if not rows:
        return base
    if type(base) is not Layers:
        return Layers((base, Lazy(rows, make)))
    return Layers((*base._parts, Lazy(rows, make)))


class Runs(Sequence[T]):
    """A read-only sequence. A part is (items, n): the first n of `items`, which may grow behind them."""

    __slots__ = ("_ends", "_parts")

    def __init__(self, parts: tuple[tuple[Sequence[T], int], ...] = ()) -> None:
        self._parts = parts
        self._ends: list[int] | None = None  # where each part ends, when somebody has asked

    def __len__(self) -> int:
        parts = self._parts
        return parts[0][1] if len(parts) == 1 else sum(n for _, n in parts)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[T, ...]: ...
    def __getitem__(self, at: int | slice) -> T | tuple[T, ...]:
        if isinstance(at, slice):
            return tuple(self[n] for n in range(*at.indices(len(self))))
        if at < 0:
            at += len(self)
        if not 0 <= at < len(self):
            raise IndexError(at)
        ends = self._ends
        if ends is None:
            ends = self._ends = list(accumulate(n for _, n in self._parts))
        part = bisect_right(ends, at)
        items, n = self._parts[part]
        return items[at - ends[part] + n]

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(islice(items, n) for items, n in self._parts)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Runs | tuple | list):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def extended(base: Sequence[T], items: Collection[T]) -> Sequence[T]:
    """`base` and then `items`."""
    if not items:
        return base
    added = tuple(items)
    parts = list(base._parts) if type(base) is Runs else [(base, len(base))] if base else []
    while parts and parts[-1][1] <= len(added):
        older, n = parts.pop()
        added = (*older[:n], *added)
    return Runs((*parts, (added, len(added))))


def without(base: Sequence[int], gone: set[int]) -> Sequence[int]:
    """`base`, whose items ascend, without some of its items. Only the parts that hold one are copied."""
    if not gone:
        return base
    parts = base._parts if isinstance(base, Runs) else ((base, len(base)),)
    kept: list[tuple[Sequence[int], int]] = []
    for items, n in parts:
        if any(_has(items, n, one) for one in gone):
            items = tuple(one for one in items[:n] if one not in gone)
            n = len(items)
        if n:
            kept.append((items, n))
    return Runs(tuple(kept))


def _has(items: Sequence[int], n: int, one: int) -> bool:
    at = bisect_left(items, one, 0, n)
    return at < n and items[at] == one


def plain(value: Any) -> Any:
    """The same content in dicts and tuples."""
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    return tuple(value) if isinstance(value, Runs) else value
