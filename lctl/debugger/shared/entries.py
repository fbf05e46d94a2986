"""Chains of a store as lists of runs take them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from lctl.analysis.run import Run
from lctl.stores.address import Address
from lctl.stores.contract import ChainStore, Entry
from lctl.stores.source import log_of


def run_of(address: Address, store: ChainStore, entry: Entry) -> Run:
    """A chain as lists of runs take it."""
    return Run(
        Path(entry.id),
        entry.chain,
        seconds(entry.started or entry.updated),
        entry.size,
        entry.events,
        entry.summary,
        entry.open,
        where=str(address.at(entry.id)),
        source=lambda: log_of(store, entry),
        updated=seconds(entry.updated),
    )


def seconds(timestamp: str) -> float:
    """Since the epoch; 0 of what is no timestamp."""
    try:
        return datetime.fromisoformat(timestamp).replace(tzinfo=UTC).timestamp() if timestamp else 0.0
    except ValueError:
        return 0.0
