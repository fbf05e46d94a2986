"""A chain of a store as a file."""

from __future__ import annotations

from pathlib import Path

from lctl.codec import open_log
from lctl.codec.log import Log
from lctl.errors import UsageError
from lctl.record.journal import JournalStore
from lctl.stores.contract import ChainStore, Entry
from lctl.stores.copying import blocks, meet
from lctl.stores.outbox import first_changed


def fetch(store: ChainStore, entry: Entry, path: Path) -> None:
    """Write a chain to a file, byte for byte; of one that holds its beginning, what is missing.

    A file that is refused, or that has all of it, stays as it is.

    Raises:
        UsageError: there is another log at `path`, or one that goes further.
        LogLocked: a program writes it.
    """
    if path.is_file() and path.stat().st_size and _has_all(store, entry, path):
        return
    journal = JournalStore(path, entry.chain)
    try:
        last = journal.last_seq
        for block in blocks(store.read(entry.id, last + 1 if last else 0, entry.last_seq + 1)):
            journal.append(b",\n".join(block), len(block))
        tail = store.tail(entry.id)
        if tail is not None:
            journal.close(tail)
    finally:
        journal.forget()


def _has_all(store: ChainStore, entry: Entry, path: Path) -> bool:
    """Whether the log that is there is the chain as the store has it; raises UsageError for another."""
    log = open_log(path)
    if log.id not in ("", entry.id):
        raise UsageError(f"{path}: is the log of chain {log.id}; give another path (-o)")
    if not len(log):
        return False
    _compare(store, entry, log, path)
    return log.last_seq == entry.last_seq and (entry.open or log.tail == store.tail(entry.id))


def _compare(store: ChainStore, entry: Entry, log: Log, path: Path) -> None:
    meeting = meet(store, entry.id, log.line, log.first_seq, log.last_seq)
    changed = meeting.first or first_changed(log, store, entry.id)
    if changed:
        raise UsageError(
            f"{path}: holds other events of chain {entry.id}, from event {changed} on; give another path (-o)"
        )
    if log.last_seq > entry.last_seq:
        raise UsageError(
            f"{path}: goes further than the store's chain, to event {log.last_seq} ({entry.last_seq} there); "
            "bring it there with: lctl push"
        )
