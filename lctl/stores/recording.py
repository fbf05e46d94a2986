"""What a session records into when its events go to a store."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any

from lctl.clock import system_ids
from lctl.errors import LogLocked, LogNotFound, StoreAway, StoreError
from lctl.guard import guard
from lctl.record.journal import Durability, JournalStore
from lctl.record.store import RecordingStore
from lctl.stores import outbox
from lctl.stores.address import Address
from lctl.stores.copying import blocks, branch, meet, send
from lctl.stores.delivered import DeliveredJournal
from lctl.stores.opening import open_store
from lctl.stores.writer import ChainWriter

#: How often, and how many seconds apart, a journal that somebody holds is tried.
_TRIES, _PAUSE = 20, 0.1


def opened(
    chain: dict[str, Any],
    path: str | Path | None,
    durability: Durability,
    to: Address,
    *,
    adopt: bool,
) -> RecordingStore:
    """The journal of a chain that goes to a store; of one in memory, the store itself.

    Args:
        path: of the journal, which then stays there; in the outbox when None.
        adopt: the chain is a new one, whose id was made up.

    Raises:
        LogLocked: another program records into `path`.
    """
    if to.scheme == "memory":
        return ChainWriter(open_store(to), chain)
    if to.scheme == "file":
        return _in_folder(chain, path, durability, to, adopt)
    journal = _journal(chain, path, durability, to, adopt)
    journal.deliver()
    return journal


def _journal(
    chain: dict[str, Any], path: str | Path | None, durability: Durability, to: Address, adopt: bool
) -> DeliveredJournal:
    if path is not None:
        return DeliveredJournal(path, chain, to=to, keep=True, durability=durability, adopt=adopt)
    place = outbox.path_of(str(chain["id"]))
    while adopt and place.exists():  # two that began in the same second
        chain["id"] = system_ids.chain_id(str(chain.get("name") or "chain"))
        place = outbox.path_of(str(chain["id"]))
    try:
        journal = _held(place, chain, durability, to)
    except LogLocked:  # another program here records the chain: when both are delivered, one is a branch
        journal = _held(_beside(place), chain, durability, to)
    if not adopt:
        try:
            journal = _fetched(journal, durability, to)
        except BaseException:
            journal.forget()
            raise
    return journal


def _held(place: Path, chain: dict[str, Any], durability: Durability, to: Address) -> DeliveredJournal:
    """The journal at `place`, which is there and this program's. Whoever delivers the outbox holds it for a
    moment, and then removes it.

    Raises:
        LogLocked: another program records into it.
    """
    tries = _TRIES
    while True:
        try:
            journal = DeliveredJournal(place, chain, to=to, durability=durability)
        except LogLocked:
            tries -= 1
            if not tries:
                raise
            time.sleep(_PAUSE)
            continue
        if journal.is_in_place():
            return journal
        journal.forget()


def _beside(place: Path) -> Path:
    return place.with_name(f"{token_hex(3)}-{place.name}")


def begin_with(to: Address, chain: dict[str, Any], lines: Iterator[bytes]) -> None:
    """Have a new chain begin with these events, before a session goes on with it."""
    if to.scheme in ("memory", "file"):
        store = open_store(to)
        store.begin(chain)
        send(store, str(chain["id"]), 1, lines)
        return
    place = outbox.path_of(str(chain["id"]))
    journal = JournalStore(place, chain)
    try:
        outbox.note(place, to)
        for block in blocks(lines):
            journal.append(b",\n".join(block), len(block))
    finally:
        journal.forget()


def _in_folder(
    chain: dict[str, Any], path: str | Path | None, durability: Durability, to: Address, adopt: bool
) -> JournalStore:
    from lctl.stores.folder import FolderStore

    if path is not None:
        return JournalStore(path, chain, durability=durability, adopt=adopt)
    store = open_store(to)
    assert isinstance(store, FolderStore)
    store.begin(chain)
    id = str(chain["id"])
    try:
        return JournalStore(store.path(id), chain, durability=durability)
    except LogLocked:
        entry = store.entry(id)
        ours = branch(entry.chain, entry.last_seq)
        begin_with(to, ours, store.read(id, stop=entry.last_seq + 1))
        told = StoreError(
            f"{to.shown}: another writer goes on with chain {id}; what this program records is stored as "
            f"chain {ours['id']}"
        )
        guard.failed(f"under chain {id}", told)
        return JournalStore(store.path(str(ours["id"])), ours, durability=durability)


def _fetched(journal: DeliveredJournal, durability: Durability, to: Address) -> DeliveredJournal:
    """The journal with what the store has of the chain, so that it can be gone on with.

    A store that is away, and one without the chain, leave things as they are: what is recorded then is
    delivered later, as a branch if the chain turns out to be there.
    """
    try:
        store = open_store(to, create=True, recording=True)
        entry = store.entry(str(journal.chain.get("id")))
    except (StoreAway, LogNotFound):
        return journal
    first, last = journal.bounds()
    if last and meet(store, entry.id, journal.line, first, last).first:
        # What was left here is a branch: it is delivered as one, and this session goes on with the other.
        place = _beside(journal.path)
        journal.path.rename(place)
        outbox.note(place, to)
        journal.forget()
        outbox.deliver(place, store)
        journal = _held(outbox.path_of(entry.id), entry.chain, durability, to)
        last = 0
    if not last:
        journal.forget()
        journal.path.unlink(missing_ok=True)  # to begin with the header that the store has
        journal = _held(journal.path, entry.chain, durability, to)
    for block in blocks(store.read(entry.id, last + 1)):
        journal.append(b",\n".join(block), len(block))
    return journal
