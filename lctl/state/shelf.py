"""A mapping that keeps what is old on disk: for the index of a log that is too long to hold.

What was put lately stays as it is, the rest is rows of a temporary database that goes with the mapping. A
value that is taken out to be changed (`setdefault`) is among the newest again until it is put away anew.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

if TYPE_CHECKING:
    import sqlite3

K = TypeVar("K", int, str)
V = TypeVar("V")
Key = TypeVar("Key")

_HOT = 2048
_BITS = 1 << 22
_MASK = _BITS - 1
#: Rows on disk that were read ahead and are kept, at most; keys of one question for them.
_NEAR = 1024
_AT_ONCE = 256
_ROUND = 16
_UNREAD: Any = object()


class Shelves:
    """Where shelves stand: one temporary database.

    Args:
        hot: values of a shelf that are not on disk, before the older of them are put there.
        path: a file for it that another process may take up; "" is one that nobody sees.
    """

    def __init__(self, hot: int = _HOT, path: str = "") -> None:
        import sqlite3

        self.hot = hot
        self.lock = threading.RLock()
        # Without a name it is a file of its own that goes when the connection does.
        self.database: sqlite3.Connection = sqlite3.connect(
            path, check_same_thread=False, isolation_level=None
        )
        weakref.finalize(self, self.database.close)
        for setting in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-2048", "temp_store=FILE"):
            self.database.execute(f"PRAGMA {setting}")
        self._count = 0

    def shelf(self, encode: Callable[[Any], Any], decode: Callable[[Any], Any]) -> Shelf[Any, Any]:
        """A new one. `encode` gives bytes or an int, or None of a value that cannot be put away."""
        self._count += 1
        return Shelf(self, f"shelf{self._count}", encode, decode)


class Packed(NamedTuple):
    """What of a shelf is not on disk."""

    hot: dict[Any, Any]
    number: dict[Any, int]
    length: int
    greatest: int
    texts: bool  # there are texts among the keys on disk


class Shelf(MutableMapping[K, V]):
    """Keys in the order in which they were first put. One thread writes, any may read."""

    def __init__(
        self, shelves: Shelves, table: str, encode: Callable[[V], Any], decode: Callable[[Any], V]
    ) -> None:
        self._shelves = shelves
        self._encode = encode
        self._decode = decode
        self._hot: dict[K, V] = {}
        self._number: dict[K, int] = {}  # place of each hot key among all
        self._length = 0
        self._limit = shelves.hot
        self._near: dict[K, tuple[Any, int] | None] = {}  # what `at_hand` found on disk
        #: What tells that a key is not on disk, mostly: the greatest number, a bloom filter of the texts.
        self._greatest = -1
        self._met = bytearray()
        self._all_met = False  # the filter is another process's: any text may be on disk
        shelves.database.execute(f"CREATE TABLE IF NOT EXISTS {table}(n INTEGER PRIMARY KEY, k UNIQUE, v)")
        self._get = f"SELECT v, n FROM {table} WHERE k = ?"
        self._put = f"INSERT OR REPLACE INTO {table} VALUES(?, ?, ?)"
        self._keys = f"SELECT k, n FROM {table} WHERE n >= ? AND n < ?"
        self._some = f"SELECT k, v, n FROM {table} WHERE k IN "

    def _row(self, key: K) -> tuple[Any, int] | None:
        """What is on disk."""
        near: Any = self._near.get(key, _UNREAD)
        if near is not _UNREAD:
            return cast("tuple[Any, int] | None", near)
        if type(key) is int:
            if key > self._greatest:
                return None
        elif not self._all_met:
            mixed = hash(key)
            met, one, other = self._met, mixed & _MASK, mixed >> 30 & _MASK
            if not met or not (met[one >> 3] >> (one & 7) & 1 and met[other >> 3] >> (other & 7) & 1):
                return None
        with self._shelves.lock:
            found: tuple[Any, int] | None = self._shelves.database.execute(self._get, (key,)).fetchone()
            return found

    def at_hand(self, keys: Iterable[K]) -> None:
        """Read what is on disk of these in one go, for who looks them up one by one: a question each is what
        takes the time."""
        hot, near, greatest = self._hot, self._near, self._greatest
        missing = [
            key
            for key in keys
            if key not in hot and key not in near and (type(key) is not int or key <= greatest)
        ]
        if len(missing) > 1:
            for first in range(0, min(len(missing), _NEAR), _AT_ONCE):
                self._read(missing[first : min(first + _AT_ONCE, _NEAR)])

    def _read(self, keys: list[K]) -> None:
        # Few lengths: the database knows the question.
        places: int = (len(keys) + _ROUND - 1) // _ROUND * _ROUND
        asked = [*keys, *[keys[-1]] * (places - len(keys))]
        with self._shelves.lock:
            rows = self._shelves.database.execute(f"{self._some}({','.join('?' * places)})", asked).fetchall()
            if len(self._near) + len(keys) > _NEAR:
                self._near = {}
            self._near.update(dict.fromkeys(keys))
            self._near.update((key, (value, n)) for key, value, n in rows)

    def packed(self) -> Packed:
        """To be taken up over the same file, in this process or another."""
        self._put_away(0)
        return Packed(self._hot, self._number, self._length, self._greatest, bool(self._met))

    def take_up(self, packed: Packed) -> None:
        """Go on where a shelf of the same file was packed."""
        self._hot, self._number, self._length, self._greatest, self._all_met = packed
        self._limit = len(self._hot) + self._shelves.hot
        self._near = {}

    def get(self, key: Any, default: Any = None) -> Any:
        value = self._hot.get(key)
        if value is not None:
            return value
        row = self._row(key)
        return default if row is None else self._decode(row[0])

    def __getitem__(self, key: K) -> V:
        value: V | None = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return key in self._hot or self._row(key) is not None  # type: ignore[arg-type]

    def setdefault(self, key: K, default: V) -> V:  # pyright: ignore[reportIncompatibleMethodOverride]
        """As of a dict; what is given may be changed."""
        value = self._hot.get(key)
        if value is not None:
            return value
        row = self._row(key)
        if row is None:
            self._add(key, default, self._length)
            self._length += 1
            return default
        value = self._decode(row[0])
        self._add(key, value, row[1])
        return value

    def __setitem__(self, key: K, value: V) -> None:
        if key in self._hot:
            self._hot[key] = value
        elif (row := self._row(key)) is not None:
            self._add(key, value, row[1])
        else:
            self._add(key, value, self._length)
            self._length += 1

    def __delitem__(self, key: K) -> None:
        raise TypeError("what was put stays")

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[K]:
        return iter(self.between(0, self._length))

    def between(self, first: int, stop: int) -> list[K]:
        """Keys by place, from 0: first <= place < stop."""
        with self._shelves.lock:
            rows: dict[K, int] = dict(self._shelves.database.execute(self._keys, (first, stop)).fetchall())
            hot = dict(self._number)
        rows.update((key, n) for key, n in hot.items() if first <= n < stop)
        return sorted(rows, key=rows.__getitem__)

    def _add(self, key: K, value: V, number: int) -> None:
        self._hot[key] = value
        self._number[key] = number
        if len(self._hot) > self._limit:
            self._put_away(self._shelves.hot // 4)

    def _put_away(self, keep: int) -> None:
        """What is not among the newest goes to disk. It is there before it is gone here."""
        old = list(self._hot)[: max(0, len(self._hot) - keep)]
        rows = []
        for key in old:
            value = self._encode(self._hot[key])
            if value is not None:
                rows.append((self._number[key], key, value))
        with self._shelves.lock:
            database = self._shelves.database
            database.execute("BEGIN")
            database.executemany(self._put, rows)
            database.execute("COMMIT")
            for key in old:
                self._near.pop(key, None)
        self._note([key for _, key, _ in rows])
        for _, key, _ in rows:
            del self._hot[key]
            del self._number[key]
        self._limit = len(self._hot) + 3 * self._shelves.hot // 4  # what cannot be put away stays

    def _note(self, keys: list[K]) -> None:
        """Keys that are on disk now."""
        if not self._met and any(type(key) is not int for key in keys):
            self._met = bytearray(_BITS >> 3)
        met = self._met
        for key in keys:
            if type(key) is int:
                self._greatest = max(self._greatest, key)
                continue
            mixed = hash(key)
            for place in (mixed & _MASK, mixed >> 30 & _MASK):
                met[place >> 3] |= 1 << (place & 7)


def at_hand(cells: Mapping[Key, Any], keys: Iterable[Key]) -> None:
    """Have what a mapping says of some keys at hand, where it is one that reads."""
    if isinstance(cells, Shelf):
        cells.at_hand(keys)


def keys_between(cells: Mapping[Key, Any], first: int, stop: int) -> list[Key]:
    """Keys by place. A copy, made in one go: a view may be iterated while more is added."""
    if isinstance(cells, Shelf):
        return cells.between(first, stop)
    return list(islice(cells, first, stop))
