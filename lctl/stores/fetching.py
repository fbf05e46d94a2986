"""A chain of a store as a file."""

from __future__ import annotations

from pathlib import Path

from lctl.errors import UsageError
from lctl.record.journal import JournalStore
from lctl.stores.contract import ChainStore, Entry
from lctl.stores.copying import blocks


def fetch(store: ChainStore, entry: Entry, path: Path) -> None:
    """Write a chain to a file, byte for byte; of one that holds its beginning, what is missing.

    Raises:
        UsageError: there is another log at `path`.
        LogLocked: a program writes it.
    """
    journal = JournalStore(path, entry.chain)
    try:
        last = journal.last_seq
        if last and next(store.read(entry.id, last, last + 1), b"") != next(journal.read(last), b""):
            raise UsageError(f"{path}: holds other events of chain {entry.id}; give another path (-o)")
        for block in blocks(store.read(entry.id, last + 1 if last else 0, entry.last_seq + 1)):
            journal.append(b",\n".join(block), len(block))
        tail = store.tail(entry.id)
        if tail is not None:
            journal.close(tail)
    finally:
        journal.forget()
