"""Columns of whole numbers and of few names, and what changes at some seq."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import Generic, TypeVar, overload

T = TypeVar("T")


class Names:
    """A column of few different names, and of a default where none was given; reads as a dict. The garbage
    collector does not look at it, as it would at each entry of a list.

    Args:
        otherwise: what `names[key]` is where there is none.
    """

    __slots__ = ("_codes", "_known", "_names")

    def __init__(self, otherwise: str = "") -> None:
        self._codes = array("i")
        self._names = [otherwise]
        self._known: dict[str, int] = {}

    def __getitem__(self, key: int) -> str:
        return self._names[self._codes[key]] if key < len(self._codes) else self._names[0]

    def __setitem__(self, key: int, name: str) -> None:
        code = self._known.get(name)
        if code is None:
            code = len(self._names)
            self._names.append(name)
            self._known[name] = code
        missing = key - len(self._codes)
        if missing < 0:
            self._codes[key] = code
            return
        if missing:
            self._codes.frombytes(bytes(missing * self._codes.itemsize))
        self._codes.append(code)

    def repeat(self, originals: list[int], first: int) -> list[str]:
        """Keys from `first` on, of which none has a name, have those of `originals`; which these are."""
        codes = [self._codes[key] if key < len(self._codes) else 0 for key in originals]
        self._codes.frombytes(bytes((first - len(self._codes)) * self._codes.itemsize))
        self._codes.extend(codes)
        return list(map(self._names.__getitem__, codes))

    def fill(self, keys: range, name: str) -> None:
        """The name of keys that follow one another, and of none before."""
        for key in keys[:1]:
            self[key] = name
        code = self._known.get(name, 0)
        self._codes += array("i", (code,)) * (len(keys) - 1)

    @overload
    def get(self, key: int) -> str | None: ...
    @overload
    def get(self, key: int, otherwise: str) -> str: ...
    def get(self, key: int, otherwise: str | None = None) -> str | None:
        if 0 <= key < len(self._codes):
            code = self._codes[key]
            if code:
                return self._names[code]
        return otherwise


Few = tuple[int, ...]
_FEW = 16


def joined(members: Few | array[int], number: int) -> Few | array[int]:
    """The members and one more, in order. Few are a tuple, at which the garbage collector does not look."""
    if isinstance(members, tuple):
        if len(members) < _FEW:
            return (*members, number) if number > members[-1] else tuple(sorted({*members, number}))
        members = array("q", members)
    if number > members[-1]:
        members.append(number)
        return members
    return array("q", sorted({*members, number}))  # another one, as a reader may be going through this one


class History(dict[int, tuple[int, T]], Generic[T]):
    """What a few keys were, and since which seq: the first entry of each. Keys without one never changed.

    `record(key, seq, value)` must be called with growing seq for one key. Most keys change once: that is
    one tuple, which the garbage collector does not look at.
    """

    __slots__ = ("_changes",)

    def __init__(self) -> None:
        super().__init__()
        self._changes: dict[int, tuple[list[int], list[T]]] = {}

    def record(self, key: int, seq: int, value: T) -> None:
        first = self.get(key)
        if first is None or (first[0] == seq and key not in self._changes):
            self[key] = (seq, value)
            return
        changes = self._changes.get(key)
        if changes is None:
            self._changes[key] = ([first[0], seq], [first[1], value])
            return
        seqs, values = changes
        if seqs[-1] == seq:
            values[-1] = value
        else:  # the value first: a reader in another thread counts by the seqs
            values.append(value)
            seqs.append(seq)

    def at(self, key: int, seq: int, otherwise: T) -> T:
        """The value of `key` after event `seq`; `otherwise` before its first entry."""
        changes = self._changes.get(key)
        if changes is not None:
            seqs, values = changes
            n = bisect_right(seqs, seq)
            return values[n - 1] if n else otherwise
        first = self.get(key)
        return otherwise if first is None or first[0] > seq else first[1]

    def since(self, key: int) -> int:
        """Seq of the last change of `key`; 0 if it never changed."""
        changes = self._changes.get(key)
        if changes is not None:
            return changes[0][-1]
        first = self.get(key)
        return first[0] if first is not None else 0

    def last(self, key: int, otherwise: T) -> T:
        changes = self._changes.get(key)
        if changes is not None:
            return changes[1][-1]
        first = self.get(key)
        return otherwise if first is None else first[1]
