"""One chain of a store as something a recorder appends to, with no file in between."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lctl.errors import RecordingError, StoreError
from lctl.stores.contract import ChainStore


class ChainWriter:
    """Appends to a chain; each append is in the store when it returns."""

    def __init__(self, store: ChainStore, chain: dict[str, Any]) -> None:
        self.lock = threading.RLock()
        self.chain = chain
        self._store = store
        self._id = str(chain.get("id") or "")
        self._open = True
        self._last = store.begin(chain)
        if self._last:
            self.chain = store.entry(self._id).chain
        self.path = Path(self.where)

    @property
    def where(self) -> str:
        return str(self._store.address.at(self._id))

    @property
    def last_seq(self) -> int:
        return self._last

    def append(self, block: bytes, count: int = 1) -> None:
        lines = [block] if count == 1 else block.split(b",\n")
        with self.lock:
            if not self._open:
                raise RecordingError(f"{self.where}: the log is closed")
            try:
                first = self._last + 1 if self._last else _first(lines[0])
                self._last = self._store.append(self._id, first, lines)
            except StoreError as error:
                raise RecordingError(str(error)) from error

    def read(self, start: int = 1, stop: int | None = None) -> Iterator[bytes]:
        return self._store.read(self._id, start, stop)

    def since(self, position: int) -> tuple[list[bytes], int]:
        lines = list(self.read(position + 1))
        return lines, max(position, self._last)

    def count(self) -> int:
        return self._store.entry(self._id).events

    def events_hash(self) -> str:
        from lctl.codec.hashing import RollingHash

        rolled = RollingHash()
        for line in self.read():
            rolled.update(line)
        return rolled.hexdigest()

    def flush(self) -> None:
        return None

    def forget(self) -> None:
        self._open = False

    def close(self, tail: dict[str, Any] | None = None) -> None:
        with self.lock:  # an event that came behind the end would open the chain again
            if not self._open:
                return
            self._open = False
            digest = {"algorithm": "sha256", "events": self.events_hash(), "count": self.count()}
            self._store.finish(self._id, {**(tail or {}), "hash": digest})


def _first(line: bytes) -> int:
    from lctl.codec.lines import SEQ

    found = SEQ.match(line)
    return int(found[1]) if found else 1
