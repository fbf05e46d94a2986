"""Targets and runs in a store: what LCTL_STORE or --store names, or an address given as TARGET."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lctl.cli.runs import Run
from lctl.cli.text import plain
from lctl.errors import StoreAway, UsageError
from lctl.stores import address as addresses

if TYPE_CHECKING:
    from collections.abc import Callable

    from lctl.stores.address import Address
    from lctl.stores.contract import ChainStore, Entry

#: Seconds between two looks for a store that is away.
_AWAY = 1.0


def chosen(given: str | None) -> Address | None:
    """The store of --store, else of LCTL_STORE; None where there is none, or it is a folder.

    Raises:
        UsageError: it is no store.
    """
    known = addresses.from_environment() if given is None else addresses.parse(given)
    return None if known is None or (given is None and known.scheme == "file") else known


def required(given: str | None) -> Address:
    """As `chosen`.

    Raises:
        UsageError: none is named.
    """
    known = addresses.from_environment() if given is None else addresses.parse(given)
    if known is None:
        raise UsageError(
            "which store? give --store sqlite:///FILE, postgresql://... or file:FOLDER (file:.lctl), "
            "or set LCTL_STORE"
        )
    return known


def target_in(target: str, store: str | None = None) -> Address | None:
    """Where `target` is, if it is in a store: an address, or a name while a store is chosen."""
    if addresses.is_address(target):
        known = addresses.parse(target)
        alone = known.scheme == "file" and not known.chain
        return None if alone and Path(known.place).is_file() else known
    known_store = chosen(store)
    if known_store is None or target == "-" or (target and Path(target).exists()):
        return None
    return known_store.at(target)


def opened(address: Address) -> ChainStore:
    from lctl.stores.opening import open_store

    return open_store(address)


def entry_of(address: Address, *, reruns: bool = True) -> Entry:
    """The chain an address names."""
    from lctl.cli.target import one_of_them
    from lctl.stores.opening import resolve

    if address.chain.endswith("+"):
        raise one_of_them(address.chain)
    return resolve(opened(address), address.chain or "last", reruns=reruns)


def runs(store: Address, limit: int | None = None) -> Iterator[Run]:
    """The runs of a store, newest first."""
    from lctl.debugger.shared.entries import run_of

    there = opened(store)
    for entry in there.entries(limit):
        yield run_of(store, there, entry)


def local(address: Address, *, reruns: bool = True) -> Path:
    """A file with the chain an address names, as a program that is run again needs one.

    The chains of its child processes come with it.
    """
    from lctl.stores.contract import descendants

    store, entry = opened(address), entry_of(address, reruns=reruns)
    path = pull(store, entry, None)
    for child, _ in descendants(store, entry):
        pull(store, child, None)
    sys.stderr.write(f"lctl: {plain(entry.id)} pulled from {plain(address.shown)} to {plain(str(path))}\n")
    return path


def pull(store: ChainStore, entry: Entry, to: Path | None) -> Path:
    """Write a stored chain to a file, or bring the file of that chain up to date. Raises as `fetch`."""
    from lctl.session.naming import folder
    from lctl.stores.fetching import fetch
    from lctl.stores.outbox import path_of

    path = to or folder() / path_of(entry.id).name
    fetch(store, entry, path)
    return path


def follow(store: ChainStore, chain_id: str, seen: int, show: Callable[[bytes], None]) -> int:
    """Show a chain's events after `seen` as they come, until it is closed; the last seq.

    A store that is away meanwhile is said to be, once each time, and waited for.
    """
    is_away = False
    while True:
        try:
            last = store.wait(chain_id, seen, 5.0)
            lines = list(store.read(chain_id, seen + 1, last + 1))
            entry = store.entry(chain_id)
        except StoreAway as error:
            if not is_away:
                sys.stderr.write(f"lctl: {plain(str(error), 300)}; it is waited for\n")
            is_away = True
            time.sleep(_AWAY)
            continue
        is_away = False
        for line in lines:
            show(line)
        seen = max(seen, last)
        if not entry.open and entry.last_seq <= seen:
            return seen
