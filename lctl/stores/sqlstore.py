"""What SQLite and PostgreSQL have in common: chains, chunks of events, session rows, the words in them.

Statements are written once: `@table` is a table of the store, `?` a parameter, `{mine}` what confines a
statement to the tenant. A back end says how they are run (`Work`) and what differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from lctl.codec.lines import decode, encode_value
from lctl.errors import ChainConflict, LogNotFound, RecordingError
from lctl.stores.chunks import BYTES, EVENTS
from lctl.stores.contract import origin_id
from lctl.stores.sessionrows import Row, Seed, SessionFold, fold_all
from lctl.stores.sqlreading import Head, SqlReading, Work

#: Chains whose sessions are kept folded, so that an append folds only what is new.
_FOLDS = 64
#: Chains that one transaction removes.
_TOGETHER = 200


class SqlStore(SqlReading):
    """The store contract in SQL."""

    # -- writing -----------------------------------------------------------------------------

    def begin(self, chain: dict[str, Any]) -> int:
        id = str(chain.get("id") or "")
        if not id:
            raise RecordingError(f"{self.address.shown}: a chain needs an id to be stored")
        with self.writing() as work:
            head = self._head(work, id)
            if head is None:
                self._lock_new(work, id)
                head = self._head(work, id)
            if head is not None:
                return head.last
            work.run(
                "INSERT INTO @chains (id, origin, header) VALUES (?, ?, ?)",
                id,
                origin_id(chain) or None,
                encode_value(chain, option=orjson.OPT_NON_STR_KEYS).decode(),
            )
            return 0

    def append(self, chain_id: str, first: int, lines: Sequence[bytes]) -> int:
        if not lines:
            return self._known(chain_id).last
        with self.writing() as work:
            head = self._head(work, chain_id, lock=True)
            if head is None:
                raise LogNotFound(f"{self.address.shown}: there is no chain {chain_id!r}")
            lines = self._unseen(work, chain_id, head, first, lines)
            if not lines:
                return head.last
            first = head.last + 1 if head.last else first
            last = first + len(lines) - 1
            packed = self._store(work, head, first, lines)
            work.run(
                "UPDATE @chains SET first_seq = CASE WHEN first_seq = 0 THEN ? ELSE first_seq END, "
                "last_seq = ?, packed = ?, bytes = bytes + ?, closed = 0, tail = NULL, "
                "started = CASE WHEN started = '' THEN ? ELSE started END, updated = ? WHERE num = ?",
                first,
                last,
                packed,
                sum(map(len, lines)),
                _timestamp(lines[0]),
                _timestamp(lines[-1]),
                head.num,
            )
            self._fold(work, chain_id, head, first, lines)
            self._told(work, head.num, last)
            return last

    def _unseen(
        self, work: Work, chain_id: str, head: Head, first: int, lines: Sequence[bytes]
    ) -> Sequence[bytes]:
        """Those of `lines` that are not stored yet."""
        if not head.last:
            return lines
        if first > head.last + 1:
            raise RecordingError(
                f"{self.address.shown}: chain {chain_id} ends with event {head.last}; "
                f"event {first} cannot follow"
            )
        there = head.last - first + 1
        if there <= 0:
            return lines
        stored = self._lines(work, head.num, first, head.last + 1)
        for seq, (one, other) in enumerate(zip(stored, lines, strict=False), first):
            if one != other:
                raise conflict(self.address.shown, chain_id, seq)
        return lines[there:]

    def _store(self, work: Work, head: Head, first: int, lines: Sequence[bytes]) -> int:
        """Write the lines, and those of small chunks before them with them once that makes a full one;
        the new `packed`."""
        packed = head.packed if head.last else first - 1
        last = first + len(lines) - 1
        if sum(map(len, lines)) > BYTES:
            work.insert_chunks(head.num, list(self._packing.cut(first, lines)))
            return last
        if last - packed < EVENTS:
            work.insert_chunks(head.num, list(self._packing.cut(first, lines)))
            return packed
        if packed < first - 1:
            lines = [*self._lines(work, head.num, packed + 1, first), *lines]
            work.run("DELETE FROM @chunks WHERE chain = ? AND first_seq > ?", head.num, packed)
        work.insert_chunks(head.num, list(self._packing.cut(packed + 1, lines)))
        return last - (last - packed) % EVENTS

    def finish(self, chain_id: str, tail: dict[str, Any]) -> None:
        with self.writing() as work:
            head = self._head(work, chain_id, lock=True)
            if head is None:
                raise LogNotFound(f"{self.address.shown}: there is no chain {chain_id!r}")
            summary = tail.get("summary")
            work.run(
                "UPDATE @chains SET closed = 1, tail = ?, summary = ? WHERE num = ?",
                encode_value(tail, option=orjson.OPT_NON_STR_KEYS).decode(),
                encode_value(summary if isinstance(summary, dict) else {}).decode(),
                head.num,
            )
            self._told(work, head.num, head.last)

    def _fold(self, work: Work, chain_id: str, head: Head, first: int, lines: Sequence[bytes]) -> None:
        """Bring the rows of the chain's sessions up to date."""
        fold = self._folds.pop(chain_id, None)
        if fold is None or fold.seq != head.last:
            fold = SessionFold() if not head.last else self._refold(work, head)
        fold.add(first, lines)
        rows, seeds = fold.changes()
        if rows:
            work.many(_UPSERT, [(head.num, *row) for row in rows])
        if seeds:
            work.many(_SEED, [(head.num, *seed) for seed in seeds])
        self._folds[chain_id] = fold
        while len(self._folds) > _FOLDS:
            self._folds.popitem(last=False)

    def fold_sessions(self) -> None:
        """Fill the session rows of chains that were stored before there were such rows."""
        with self.writing() as work:
            for num, first, last in work.run("SELECT num, first_seq, last_seq FROM @chains").fetchall():
                rows, seeds = fold_all(self._lines(work, num, first, last + 1), first).changes()
                work.many(_UPSERT, [(num, *row) for row in rows])
                work.many(_SEED, [(num, *seed) for seed in seeds])

    def _refold(self, work: Work, head: Head) -> SessionFold:
        """The fold of what is stored of a chain; where that names no session, it is read for nothing."""
        named = work.run("SELECT 1 FROM @sessions WHERE chain = ? LIMIT 1", head.num).fetchone()
        if named is None:
            return SessionFold(head.last)
        return fold_all(self._lines(work, head.num, head.first, head.last + 1), head.first)

    # -- removing ----------------------------------------------------------------------------

    def delete(self, chain_id: str) -> bool:
        return bool(self.remove([chain_id]))

    def remove(self, chain_ids: Sequence[str]) -> list[str]:
        removed: list[str] = []
        for start in range(0, len(chain_ids), _TOGETHER):
            removed += self._remove_some(chain_ids[start : start + _TOGETHER])
        return removed

    def _remove_some(self, ids: Sequence[str]) -> list[str]:
        """One transaction for many: each costs as much as what it removes."""
        with self.writing() as work:
            rows = work.run(
                f"SELECT num, id FROM @chains WHERE {{mine}} id IN ({_marks(ids)}) "
                f"ORDER BY num{self.for_update}",
                *ids,
            ).fetchall()
            if rows:
                self._clear(work, [num for num, _ in rows])
        for id in ids:
            self._folds.pop(id, None)
            self._nums.pop(id, None)
        there = {id for _, id in rows}
        return [id for id in dict.fromkeys(ids) if id in there]

    def expire(self, before: str) -> list[str]:
        with self.reading() as work:
            found = work.run(
                "SELECT id FROM @chains WHERE {mine} updated <> '' AND updated < ? ORDER BY started, num",
                before,
            ).fetchall()
        return self.remove([id for (id,) in found])

    def _clear(self, work: Work, nums: list[int]) -> None:
        for table in ("texts", "seed_messages", "sessions", "chunks"):
            work.run(f"DELETE FROM @{table} WHERE chain IN ({_marks(nums)})", *nums)
        work.run(f"DELETE FROM @chains WHERE num IN ({_marks(nums)})", *nums)


def conflict(store: str, chain_id: str, seq: int) -> ChainConflict:
    return ChainConflict(
        f"{store}: another writer has gone on with chain {chain_id} from event {seq}; "
        "go on under another chain id: both stay",
        chain_id,
        seq,
    )


def _marks(values: Sequence[Any]) -> str:
    """A place in a statement for each value."""
    return ", ".join("?" * len(values))


def _timestamp(line: bytes) -> str:
    value = decode(line).get("timestamp")
    return value if isinstance(value, str) else ""


_COLUMNS = ("chain", *Row._fields)
_UPSERT = (
    f"INSERT INTO @sessions ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) "
    "ON CONFLICT (chain, session_id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[2:])
)
_SEED_COLUMNS = ("chain", *Seed._fields)
_SEED = (
    f"INSERT INTO @seed_messages ({', '.join(_SEED_COLUMNS)}) VALUES ({', '.join('?' * len(_SEED_COLUMNS))}) "
    "ON CONFLICT (chain, session_id, ordinal) DO NOTHING"
)
