"""A folder of log files as a store: what every recording without a store is."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lctl.clock import monotonic
from lctl.codec import open_log
from lctl.codec.log import Log
from lctl.errors import LctlError, LogNotFound, RecordingError
from lctl.events import Event
from lctl.record.journal import JournalStore
from lctl.stores.address import Address
from lctl.stores.contract import Entry, Match, SessionRow, origin_id
from lctl.stores.copying import blocks
from lctl.stores.sessionrows import fold_all
from lctl.stores.sqlstore import conflict
from lctl.stores.texts import around, terms, texts

#: Name and inode.
File = tuple[str, int]
SUFFIX = ".lctl.json"
_POLL = 0.05


class FolderStore:
    """The chains in one folder, a file each. A file is held by its writer: other appends raise LogLocked."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.folder = Path(address.place or os.environ.get("LCTL_DIR") or ".lctl")
        self._headers: dict[File, tuple[str, str]] = {}  # -> chain id, and what the chain came of
        self._files_of: dict[str, File] = {}  # chain id -> where it was found

    # -- writing -----------------------------------------------------------------------------

    def begin(self, chain: dict[str, Any]) -> int:
        id = str(chain.get("id") or "")
        if not id:
            raise RecordingError(f"{self.address.shown}: a chain needs an id to be stored")
        path = self._find(id)
        if path is not None:
            return open_log(path).last_seq
        path = self._free(id)
        JournalStore(path, chain).forget()
        file = (path.name, path.stat().st_ino)
        self._headers[file], self._files_of[id] = (id, origin_id(chain)), file
        return 0

    def append(self, chain_id: str, first: int, lines: Sequence[bytes]) -> int:
        store = JournalStore(self.path(chain_id), {"id": chain_id})
        try:
            last = store.last_seq
            if lines and last and first > last + 1:
                raise RecordingError(
                    f"{store.path}: chain {chain_id} ends with event {last}; event {first} cannot follow"
                )
            there = max(last - first + 1, 0) if last else 0
            for seq, (one, other) in enumerate(zip(store.read(first), lines, strict=False), first):
                if there and one != other:
                    raise conflict(str(store.path), chain_id, seq)
            fresh = lines[there:]
            if fresh:
                store.append(b",\n".join(fresh), len(fresh))
            return store.last_seq
        finally:
            store.forget()

    def finish(self, chain_id: str, tail: dict[str, Any]) -> None:
        JournalStore(self.path(chain_id), {"id": chain_id}).close(tail)

    # -- reading -----------------------------------------------------------------------------

    def entry(self, chain_id: str) -> Entry:
        return _entry(open_log(self.path(chain_id)))

    def entries(self, limit: int | None = None) -> Iterator[Entry]:
        found = []
        for path in self._files():
            try:
                log = open_log(path)
            except LctlError:
                continue  # what is no log is not listed
            found.append(_entry(log))
        found.sort(key=lambda entry: (entry.started, entry.id), reverse=True)
        yield from found[:limit]

    def children(self, chain_id: str) -> list[Entry]:
        found = []
        for file in self._looked_at():
            id, origin = self._headers.get(file, ("", ""))
            if origin == chain_id != id:
                try:
                    found.append(_entry(open_log(self.folder / file[0])))
                except LctlError:
                    continue  # removed meanwhile
        return sorted(found, key=lambda entry: (entry.started, entry.id))

    def read(self, chain_id: str, start: int = 1, stop: int | None = None) -> Iterator[bytes]:
        return open_log(self.path(chain_id)).lines(start, stop)

    def joined(self, chain_id: str, start: int = 1, stop: int | None = None) -> Iterator[bytes]:
        return (b"\n".join(block) for block in blocks(self.read(chain_id, start, stop)))

    def tail(self, chain_id: str) -> dict[str, Any] | None:
        return open_log(self.path(chain_id)).tail

    def wait(self, chain_id: str, after: int, timeout: float) -> int:
        path, until = self.path(chain_id), monotonic() + timeout
        seen, log = -1, open_log(path)
        while True:
            size = path.stat().st_size
            if size != seen:
                seen, log = size, open_log(path)
                if log.last_seq > after or not log.open:
                    return log.last_seq
            left = until - monotonic()
            if left <= 0:
                return log.last_seq
            time.sleep(min(_POLL, left))

    def sessions(self, session_id: str | None = None, limit: int | None = None) -> list[SessionRow]:
        found: list[tuple[int, SessionRow]] = []
        for entry in self.entries():
            rows, _ = fold_all(self.read(entry.id), entry.first_seq).changes()
            for row in rows:
                if session_id in (None, row.session_id):
                    values = {**row._asdict(), "chain_id": entry.id}
                    found.append((row.last_seq, SessionRow(*(values[name] for name in SessionRow._fields))))
        if session_id is None:
            found.sort(key=lambda one: one[1].started_at, reverse=True)
        else:
            found.sort(key=lambda one: -one[0])
        return [row for _, row in found[:limit]]

    def search(self, words: str, limit: int = 50) -> list[Match]:
        """Reads every log: nothing is indexed in a folder."""
        asked, found = terms(words), list[Match]()
        for entry in self.entries() if asked else ():
            for text in texts(self.read(entry.id)):
                if set(asked) <= set(terms(text.words)):
                    found.append(Match(entry.id, text.seq, text.kind, around(text.words, asked)))
                    if len(found) == limit:
                        return found
        return found

    # -- removing ----------------------------------------------------------------------------

    def delete(self, chain_id: str) -> bool:
        path = self._find(chain_id)
        if path is None:
            return False
        store = JournalStore(path, {"id": chain_id})  # refused while its program writes it
        self._forget(self._files_of.get(chain_id))  # a new file of that name may have the same inode
        path.unlink()
        store.forget()
        return True

    def remove(self, chain_ids: Sequence[str]) -> list[str]:
        return [id for id in chain_ids if self.delete(id)]

    def expire(self, before: str) -> list[str]:
        old = [entry.id for entry in self.entries() if entry.updated and entry.updated < before]
        return self.remove(old[::-1])

    def close(self) -> None:
        return None

    # -- files -------------------------------------------------------------------------------

    def path(self, chain_id: str) -> Path:
        """The file of a chain.

        Raises:
            LogNotFound: there is none.
        """
        found = self._find(chain_id)
        if found is None:
            raise LogNotFound(f"{self.address.shown}: there is no chain {chain_id!r}")
        return found

    def _find(self, chain_id: str) -> Path | None:
        return self._known(chain_id) or self._searched(chain_id)

    def _known(self, chain_id: str) -> Path | None:
        """The file the chain was found in before, if it still is the same one."""
        file = self._files_of.get(chain_id)
        if file is None:
            return None
        path = self.folder / file[0]
        try:
            if path.stat().st_ino == file[1] and open_log(path).id == chain_id:
                return path
        except (OSError, LctlError):
            pass
        self._forget(file)
        return None

    def _searched(self, chain_id: str) -> Path | None:
        fitting = [file for file in self._looked_at() if self._headers.get(file, ("",))[0] == chain_id]
        if not fitting:
            return None
        found = self._files_of[chain_id] = min(fitting)
        return self.folder / found[0]

    def _looked_at(self) -> set[File]:
        """The log files. Headers are read of those not seen before: of thousands, all would cost too much."""
        listed = self._listed()
        for file in listed - self._headers.keys():
            try:
                log = open_log(self.folder / file[0])
            except LctlError:
                continue
            if log.id:
                self._headers[file] = log.id, origin_id(log.chain)
        return listed

    def _forget(self, file: File | None) -> None:
        if file is not None:
            self._files_of.pop(self._headers.pop(file, ("",))[0], None)

    def _listed(self) -> set[File]:
        try:
            with os.scandir(self.folder) as found:
                return {(one.name, one.inode()) for one in found if one.name.endswith(SUFFIX)}
        except FileNotFoundError:
            return set()

    def _files(self) -> list[Path]:
        return [self.folder / name for name, _ in sorted(self._listed())]

    def _free(self, id: str) -> Path:
        safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in id).strip(".")[:80] or "chain"
        path, n = self.folder / f"{safe}{SUFFIX}", 1
        while path.exists():
            n += 1
            path = self.folder / f"{safe}-{n}{SUFFIX}"
        return path


def _entry(log: Log) -> Entry:
    summary = (log.tail or {}).get("summary")
    ends: list[Event] = []
    if len(log):
        ends = [log.event(log.first_seq), log.event(log.last_seq)]
    size = Path(log.path).stat().st_size if log.path else 0
    return Entry(
        {"id": log.id, **log.chain},
        log.first_seq,
        log.last_seq,
        size,
        ends[0].timestamp if ends else "",
        ends[-1].timestamp if ends else "",
        log.open,
        summary if isinstance(summary, dict) else {},
    )
