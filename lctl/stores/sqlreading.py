"""Reading from a store in SQL; see `lctl.stores.sqlstore`."""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

import orjson

from lctl.errors import LogNotFound
from lctl.stores.address import Address
from lctl.stores.chunks import EVENTS, Chunk, Packing, part
from lctl.stores.contract import Entry, Match, SessionRow
from lctl.stores.sessionrows import SessionFold
from lctl.stores.texts import texts

#: Rows of chunks that a long read takes at once.
_STRIDE = 32 * EVENTS
#: Chains whose words are indexed in one transaction.
_TOGETHER = 200
_SESSION = ", ".join("c.id" if name == "chain_id" else f"s.{name}" for name in SessionRow._fields)


class Head(NamedTuple):
    """A chain's row. `packed`: the last seq in full chunks; after it there may be small ones."""

    num: int
    first: int
    last: int
    packed: int
    closed: bool


class Work(Protocol):
    """One transaction."""

    def run(self, sql: str, *values: Any) -> Any:
        """A cursor with the result."""
        ...

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None: ...

    def insert_chunks(self, num: int, chunks: list[Chunk]) -> None: ...

    def chunks(self, num: int, start: int, stop: int) -> list[Chunk]:
        """Those of a chain that hold lines with start <= seq < stop, in order."""
        ...


class SqlReading:
    """What is read from a store."""

    #: Goes behind the SELECT of a chain's row that is about to change.
    for_update = ""

    def __init__(self, address: Address, packing: Packing) -> None:
        self.address = address
        self._packing = packing
        self._folds: OrderedDict[str, SessionFold] = OrderedDict()
        self._nums: dict[str, int] = {}  # of chains that were read, by id

    @abstractmethod
    def reading(self) -> AbstractContextManager[Work]:
        """For statements that change nothing."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Work]:
        """A transaction; what fails in it changes nothing."""

    @abstractmethod
    def _index(self, work: Work, rows: list[tuple[int, int, str, str]]) -> None:
        """Add (chain, seq, kind, words)."""

    @abstractmethod
    def _found(self, work: Work, words: str, limit: int) -> list[Match]: ...

    def _told(self, work: Work, num: int, last: int) -> None:
        """The chain goes as far as `last` now."""

    def _lock_new(self, work: Work, chain_id: str) -> None:
        """Two that begin the same chain at once come one after the other."""

    # -- reading -----------------------------------------------------------------------------

    def entry(self, chain_id: str) -> Entry:
        with self.reading() as work:
            found = work.run(f"SELECT {_CAST} FROM @chains WHERE {{mine}} id = ?", chain_id).fetchone()
        if found is None:
            raise LogNotFound(f"{self.address.shown}: there is no chain {chain_id!r}")
        return _entry(found)

    def entries(self, limit: int | None = None) -> Iterator[Entry]:
        last: tuple[str, int] | None = None
        left = limit
        while left is None or left > 0:
            size = 500 if left is None else min(left, 500)
            with self.reading() as work:
                found = work.run(
                    f"SELECT {_CAST}, num FROM @chains WHERE {{mine}} (? = '' OR (started, num) < (?, ?)) "
                    "ORDER BY started DESC, num DESC LIMIT ?",
                    *(("", "", 0) if last is None else ("more", *last)),
                    size,
                ).fetchall()
            yield from map(_entry, found)
            if len(found) < size:
                return
            last = (found[-1][4], found[-1][8])
            left = None if left is None else left - len(found)

    def children(self, chain_id: str) -> list[Entry]:
        with self.reading() as work:
            found = work.run(
                f"SELECT {_CAST} FROM @chains WHERE {{mine}} origin = ? AND id <> ? ORDER BY started, num",
                chain_id,
                chain_id,
            ).fetchall()
        return [_entry(one) for one in found]

    def read(self, chain_id: str, start: int = 1, stop: int | None = None) -> Iterator[bytes]:
        for text in self.joined(chain_id, start, stop):
            yield from text.split(b"\n")

    def joined(self, chain_id: str, start: int = 1, stop: int | None = None) -> Iterator[bytes]:
        at, end = start, stop
        while end is None or at < end:
            to = at + _STRIDE if end is None else min(at + _STRIDE, end)
            found = self._range(chain_id, at, to)
            if not found:  # beyond either end, or no such chain
                head = self._known(chain_id)
                if at >= head.first:
                    return
                at = head.first
                continue
            for chunk in found:
                yield part(chunk, at, to)
            at = min(found[-1].last + 1, to)
            if at < to:
                return

    def _range(self, chain_id: str, start: int, stop: int) -> list[Chunk]:
        """Chunks with lines start <= seq < stop, by one statement where the chain has been seen before."""
        num = self._nums.get(chain_id)
        if num is None:
            num = self._nums[chain_id] = self._known(chain_id).num
        with self.reading() as work:
            found = work.chunks(num, start, stop)
        if not found:
            self._nums.pop(chain_id, None)  # it may have been removed, and another be there by its id
        return found

    def tail(self, chain_id: str) -> dict[str, Any] | None:
        with self.reading() as work:
            found = work.run(
                "SELECT CAST(tail AS TEXT) FROM @chains WHERE {mine} id = ?", chain_id
            ).fetchone()
        return orjson.loads(found[0]) if found is not None and found[0] else None

    def sessions(self, session_id: str | None = None, limit: int | None = None) -> list[SessionRow]:
        sql = f"SELECT {_SESSION} FROM @sessions s JOIN @chains c ON c.num = s.chain WHERE {{mine_of_c}} "
        if session_id is None:
            sql, values = sql + "1 = 1 ORDER BY s.started_at DESC, s.session_id", []
        else:
            sql, values = sql + "s.session_id = ? ORDER BY s.last_seq DESC, c.num", [session_id]
        with self.reading() as work:
            found = work.run(sql + " LIMIT ?", *values, limit or 1_000_000).fetchall()
        return [SessionRow(*one) for one in found]

    def search(self, words: str, limit: int = 50) -> list[Match]:
        """What came since the last search is indexed first: recording pays nothing for it."""
        self._catch_up()
        with self.reading() as work:
            return self._found(work, words, limit)

    def _catch_up(self) -> None:
        with self.reading() as work:
            behind = work.run(
                "SELECT num, last_seq - indexed FROM @chains WHERE {mine} indexed < last_seq ORDER BY num"
            ).fetchall()
        some: list[int] = []
        events = 0
        for num, missing in behind:
            if some and (events + missing > _STRIDE or len(some) == _TOGETHER):
                self._index_all(some)
                some, events = [], 0
            some.append(num)
            events += missing
        if some:
            self._index_all(some)

    def _index_all(self, nums: list[int]) -> None:
        """Index these chains to their ends: a long one is alone, and takes several transactions."""
        while nums:
            nums = self._index_some(nums)

    def _index_some(self, nums: list[int]) -> list[int]:
        """Index the next events of some chains in one transaction; those that have more."""
        with self.writing() as work:
            places = ", ".join("?" * len(nums))
            found = work.run(
                "SELECT num, indexed, last_seq FROM @chains WHERE {mine} indexed < last_seq "
                f"AND num IN ({places}) ORDER BY num{self.for_update}",
                *nums,
            ).fetchall()
            words: list[tuple[int, int, str, str]] = []
            ends: list[tuple[int, int]] = []
            for num, done, last in found:
                stop = min(done + _STRIDE, last) + 1
                lines = self._lines(work, num, done + 1, stop)
                words += [(num, one.seq, one.kind, one.words) for one in texts(lines)]
                ends.append((stop - 1, num))
            if found:
                self._index(work, words)
                work.many("UPDATE @chains SET indexed = ? WHERE num = ?", ends)
            return [num for (num, _, last), (end, _) in zip(found, ends, strict=True) if end < last]

    # -- of the tables -----------------------------------------------------------------------

    def _known(self, chain_id: str) -> Head:
        with self.reading() as work:
            head = self._head(work, chain_id)
        if head is None:
            raise LogNotFound(f"{self.address.shown}: there is no chain {chain_id!r}")
        return head

    def _head(self, work: Work, chain_id: str, lock: bool = False) -> Head | None:
        found = work.run(
            "SELECT num, first_seq, last_seq, packed, closed FROM @chains WHERE {mine} id = ?"
            + (self.for_update if lock else ""),
            chain_id,
        ).fetchone()
        if found is None:
            return None
        num, first, last, packed, closed = found
        return Head(num, first, last, packed, bool(closed))

    def _lines(self, work: Work, num: int, start: int, stop: int) -> list[bytes]:
        """Lines with start <= seq < stop, as far as they are stored."""
        chunks = work.chunks(num, start, stop)
        return [line for chunk in chunks for line in part(chunk, start, stop).split(b"\n")]


_CAST = "CAST(header AS TEXT), first_seq, last_seq, bytes, started, updated, closed, CAST(summary AS TEXT)"


def _entry(row: Sequence[Any]) -> Entry:
    return Entry(
        orjson.loads(row[0]),
        row[1],
        row[2],
        row[3],
        row[4],
        row[5],
        not row[6],
        orjson.loads(row[7]) if row[7] else {},
    )
