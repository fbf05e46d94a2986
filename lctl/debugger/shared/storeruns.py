"""The runs of a store, as the debugger's views take them. A key is a chain's id; `ID+` is a run with all that
it started.

A run is fetched as it is looked at: its list row from the store's tables, events around the one that was
asked for in one read. Only a long one is brought to a temporary file first.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from lctl.analysis.prices import Prices
from lctl.analysis.run import LATELY, Run
from lctl.codec import Log, open_log
from lctl.debugger.catalogue import Catalogue
from lctl.debugger.failing import Refused, no_run
from lctl.debugger.opened import LONG, Opened
from lctl.debugger.shared.entries import run_of, seconds
from lctl.debugger.shared.spool import Spool
from lctl.errors import LctlError, LogNotFound
from lctl.stores.address import Address
from lctl.stores.contract import ChainStore, Entry, descendants
from lctl.stores.opening import open_store, resolve
from lctl.stores.source import log_of

#: Runs that a list shows, newest first; others open by their id.
_MOST = 10_000
#: How many are looked at again, after how many seconds; and after how many all of them.
_NEWEST, _PAUSE, _LONG_PAUSE = 500, 2.0, 60.0
_OPEN = 24


class StoreRuns(Catalogue):
    """Args:
        address: of the store, and of the run it is opened for.
        waiting: there need not be a run yet.
        spool: where long ones are brought to.
        helped: as of `Opened`.

    Raises:
        StoreAway, StoreError: it cannot be opened.
        LogNotFound, UsageError: there is no such run, or more than one.
    """

    def __init__(
        self, address: Address, *, waiting: bool = False, spool: Spool | None = None, helped: bool = True
    ) -> None:
        super().__init__([], helped=helped)
        self._address = address.at("")
        self._store = open_store(self._address)
        self._spool = spool or Spool()
        self._whole = -_LONG_PAUSE
        self._rows: dict[str, Run] = {}
        try:
            self._default = _default(self._store, address.chain)
        except LogNotFound:
            if not waiting:
                raise
            self._default = None

    def recipe(self) -> dict[str, Any]:
        return {"store": list(self._address), "spool": str(self._spool.folder)}

    @property
    def place(self) -> str:
        return self._address.shown

    @property
    def default(self) -> str | None:
        return self._default

    def paths(self) -> dict[str, Path]:
        return {key: run.path for key, run in self.runs()}

    def key(self, path: Path, *, now: bool = False) -> str | None:
        return path.name if path.name in self._rows else None

    def runs(self) -> list[tuple[str, Run]]:
        with self._lock:
            now = time.monotonic()
            if now - self._whole >= _LONG_PAUSE:
                self._rows = self._listed(_MOST)
                self._whole = self._looked = now
            elif now - self._looked >= _PAUSE:
                newest = self._listed(_NEWEST)
                # Of those that came before, what was removed is seen at the next look at all.
                kept = list(self._rows.items())[: _MOST - len(newest)]
                self._rows = {**newest, **{key: run for key, run in kept if key not in newest}}
                self._looked = now
            return list(self._rows.items())

    def _listed(self, most: int) -> dict[str, Run]:
        return {entry.id: run_of(self._address, self._store, entry) for entry in self._store.entries(most)}

    def run(self, key: str) -> Run:
        try:
            return run_of(self._address, self._store, self._store.entry(key.removesuffix("+")))
        except LogNotFound:
            raise no_run(key) from None

    def open(self, key: str | None) -> Opened:
        key = key or self.default or next((key for key, _ in self.runs()), None)
        if key is None:
            raise Refused("not_found", f"no recorded runs in {self.place}")
        with self._lock:
            opened = self._opened.get(key)
        if opened is None:
            made = self._made(key)
            with self._lock:
                opened = self._opened.setdefault(key, made)
        with self._lock:
            self._opened.move_to_end(key)
            while len(self._opened) > _OPEN:
                gone, _ = self._opened.popitem(last=False)
                self._spool.drop(gone)
        return opened.refresh()

    def _made(self, key: str) -> Opened:
        entry = _entry(self._store, key)
        if entry is not None:
            return StoredRun(key, self._store, entry, self.prices, self._spool, helped=self._helped)
        root = _entry(self._store, key[:-1]) if key.endswith("+") else None
        if root is None:
            raise no_run(key)
        return TreeRun(key, self._store, root, self.prices)


class StoredRun(Opened):
    """One run of a store."""

    def __init__(
        self, key: str, store: ChainStore, entry: Entry, prices: Prices, spool: Spool, *, helped: bool = True
    ) -> None:
        self._store, self._entry, self._spool = store, entry, spool
        self._gone = False
        self._stamp = None
        super().__init__(key, Path(entry.id), prices, helped=helped)

    def _open(self) -> Log:
        self._stamp = self._stamped()
        if self._entry.events <= LONG:
            return log_of(self._store, self._entry)
        self.path = self._spool.bring(self._store, self._entry)
        log = open_log(self.path)
        log.name = self.place
        return log

    def _stamped(self) -> tuple[object, int, object] | None:
        try:
            self._entry = self._store.entry(self._entry.id)
        except LogNotFound:
            self._gone = True
            return self._stamp
        except LctlError:
            return self._stamp  # away: what was read is still there to see
        return self._entry.started, self._entry.last_seq, self._entry.open

    @property
    def place(self) -> str:
        return str(self._store.address.at(self._entry.id))

    @property
    def size(self) -> int:
        return self._entry.size

    @property
    def is_gone(self) -> bool:
        return self._gone

    @property
    def live(self) -> bool:
        return self.log.open and time.time() - seconds(self._entry.updated) < LATELY


class TreeRun(Opened):
    """A run with all that it started, as it was when it was opened."""

    def __init__(self, key: str, store: ChainStore, root: Entry, prices: Prices) -> None:
        from lctl.analysis.merging import merged, parts_of

        parts = [(log_of(store, entry), parent) for entry, parent in descendants(store, root)]
        self._place = f"{store.address.at(root.id)}+"
        super().__init__(key, Path(root.id), prices, merged(parts_of(log_of(store, root), parts)))

    @property
    def place(self) -> str:
        return self._place

    @property
    def is_gone(self) -> bool:
        return False


def _default(store: ChainStore, name: str) -> str | None:
    """Key of the run an address names."""
    if not name:
        return None
    whole = name.endswith("+")
    return resolve(store, name.removesuffix("+") or "last").id + "+" * whole


def _entry(store: ChainStore, id: str) -> Entry | None:
    try:
        return store.entry(id)
    except LogNotFound:
        return None
