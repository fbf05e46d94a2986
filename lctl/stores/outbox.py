"""Journals that wait to be delivered: `<LCTL_DIR or .lctl>/outbox/`, each with a note of where it goes.

A journal leaves the outbox when all of it is in its store. What a program left there, because it was
killed or the store was away, the next one that records into the same store delivers; or `lctl push`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from lctl.codec import open_log
from lctl.codec.hashing import RollingHash
from lctl.codec.journal import beside
from lctl.codec.log import Log
from lctl.errors import ChainConflict, LctlError
from lctl.filenames import file_name
from lctl.notices import tell
from lctl.record.writerlock import WriterLock
from lctl.stores.address import Address
from lctl.stores.contract import ChainStore
from lctl.stores.copying import branch, check, meet, send

SUFFIX = ".lctl.json"
_NOTE = ".to"


class Waiting(NamedTuple):
    """A journal in the outbox. `store` is the identity of where it goes (see `Address`)."""

    path: Path
    store: str


class Pushed(NamedTuple):
    """A log brought to a store. `stored_as` differs from the chain's id where another had gone on with it."""

    chain_id: str
    stored_as: str
    events: int
    new: int


def folder() -> Path:
    return Path(os.environ.get("LCTL_DIR") or ".lctl") / "outbox"


def path_of(chain_id: str) -> Path:
    """Where the journal of a chain is while it goes to a store."""
    return folder() / f"{file_name(chain_id, empty='chain')}{SUFFIX}"


def note(path: Path, to: Address) -> None:
    """Write down where a journal goes. Without the note it is a log like any other."""
    try:
        _note_of(path).write_bytes(orjson.dumps({"store": to.identity}))
    except OSError:
        pass


def forget(path: Path) -> None:
    _note_of(path).unlink(missing_ok=True)


def _note_of(path: Path) -> Path:
    return path.with_name(f".{path.name}{_NOTE}")


def say_waiting(path: Path, to: Address, reason: str) -> None:
    """The store could not be had: where the events are, and how they get there."""
    if os.environ.get("LCTL_QUIET") == "1":
        return
    tell(
        f"lctl: {reason or f'{to.shown}: no answer'}; what was recorded waits in {path}: "
        "the next recording delivers it, or: lctl push\n"
    )


def waiting(store: str | None = None) -> Iterator[Waiting]:
    """Journals in the outbox, or those for one store."""
    place = folder()
    for path in sorted(place.glob(f"*{SUFFIX}")) if place.is_dir() else ():
        try:
            told: Any = orjson.loads(_note_of(path).read_bytes())
            where = str(told["store"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if store in (None, where):
            yield Waiting(path, where)


def deliver(path: Path, store: ChainStore) -> Pushed:
    """Bring a journal of the outbox to its store and remove it.

    Raises:
        LogLocked: its program still writes it.
    """
    fd = os.open(path, os.O_RDWR)
    try:
        lock = WriterLock(fd, str(path))
        try:
            pushed = push(open_log(path), store, is_own=True)
            forget(path)
            path.unlink(missing_ok=True)
            Path(beside(str(path))).unlink(missing_ok=True)
        finally:
            lock.release()
    finally:
        os.close(fd)
    return pushed


def deliver_all(store: ChainStore) -> list[Pushed]:
    """Deliver what waits for this store and is not being written."""
    found = []
    for one in waiting(store.address.identity):
        try:
            found.append(deliver(one.path, store))
        except (LctlError, FileNotFoundError):
            continue  # being written, or delivered by another; else `lctl push` says what is wrong
    return found


def push(log: Log, store: ChainStore, *, is_own: bool = False) -> Pushed:
    """Bring a log's events and its end into a store: what is not there yet.

    Where another writer has gone on with the chain, this log becomes a branch beside it.

    Args:
        is_own: a journal that lctl alone has written, so that one event tells of all before it; a user's
            file may have been edited.
    """
    chain = {**log.chain, "id": log.id or Path(log.name).name.removesuffix(SUFFIX)}
    store.begin(chain)
    try:
        new = _push(log, store, str(chain["id"]), is_own)
    except ChainConflict as error:
        chain = _known_branch(log, store, str(chain["id"])) or branch(chain, error.seq - 1)
        store.begin(chain)
        new = _push(log, store, str(chain["id"]), is_own)
    there = store.entry(str(chain["id"]))
    if log.tail is not None and there.last_seq == log.last_seq and (new or there.open):
        store.finish(str(chain["id"]), log.tail)
    return Pushed(log.id, str(chain["id"]), len(log), new)


def _push(log: Log, store: ChainStore, id: str, is_own: bool) -> int:
    if not len(log):
        return 0
    meeting = meet(store, id, log.line, log.first_seq, log.last_seq)
    if meeting.seq == meeting.stored and not is_own and (meeting.seq == log.last_seq or log.tail is not None):
        meeting = meeting._replace(first=first_changed(log, store, id))
    check(store, id, meeting)
    send(store, id, meeting.seq + 1, log.lines(meeting.seq + 1))
    return log.last_seq - meeting.seq


def first_changed(log: Log, store: ChainStore, id: str) -> int:
    """Where a log differs from what is stored, though the last of those events is the same; 0: nowhere.

    Events are compared, not seals: who edits a file by hand leaves the old one in it. What the store was
    told of its own events spares reading them.
    """
    seal = (store.tail(id) or {}).get("hash")
    if isinstance(seal, dict) and seal.get("events") == _hash_of(log, store.entry(id).events):
        return 0
    pairs = zip(log.lines(log.first_seq), store.read(id, log.first_seq), strict=False)
    return next((seq for seq, (one, other) in enumerate(pairs, log.first_seq) if one != other), 0)


def _hash_of(log: Log, count: int) -> str:
    """The hash of a log's first events."""
    made = RollingHash()
    for line in log.lines(log.first_seq, log.first_seq + count):
        made.update(line)
    return made.hexdigest()


def _known_branch(log: Log, store: ChainStore, id: str) -> dict[str, Any] | None:
    """The branch that an earlier push of the same log made."""
    for entry in store.children(id):
        parent = entry.chain.get("parent")
        if isinstance(parent, dict) and parent.get("conflict") and entry.last_seq:
            last = min(entry.last_seq, log.last_seq)
            ours = next(log.lines(last, last + 1), b"")
            same = ours and next(store.read(entry.id, last, last + 1), b"") == ours
            if same and not first_changed(log, store, entry.id):
                return entry.chain
    return None
