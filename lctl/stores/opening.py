"""From an address to an open store, to a chain in it, to its log."""

from __future__ import annotations

import atexit
import os
import re
from typing import TYPE_CHECKING

from lctl.errors import LogNotFound, UsageError
from lctl.stores.address import Address, from_environment, parse

if TYPE_CHECKING:
    from lctl.codec.log import Log
    from lctl.stores.contract import ChainStore, Entry

_LAST = re.compile(r"last(?:~(\d{0,9}))?")
_SOME = 4

_open: dict[tuple[int, Address, bool], ChainStore] = {}


def open_store(address: str | Address, *, create: bool = False, recording: bool = False) -> ChainStore:
    """The store at an address; one for the whole process.

    Args:
        create: make a SQLite file where there is none. (PostgreSQL's tables are made when missing.)
        recording: for a program that records: one connection and no threads.

    Raises:
        StoreAway, StoreError: it cannot be opened.
        MissingExtra: PostgreSQL, without psycopg.
    """
    known = parse(address) if isinstance(address, str) else address
    known = known.at("")
    if known.scheme in ("file", "sqlite") and known.place:
        known = known._replace(place=os.path.abspath(known.place))  # noqa: PTH100  (the host may move)
    key = (os.getpid(), known, recording)
    found = _open.get(key)
    if found is None:
        if not _open:
            atexit.register(_close_at_exit)
        found = _open[key] = _opened(known, create, recording)
    return found


def close_stores() -> None:
    """Let go of every store this process opened. Those in memory are gone then."""
    for key in [key for key in _open if key[0] == os.getpid()]:
        _open.pop(key).close()


def _close_at_exit() -> None:
    """Not those in memory: they have nothing to let go, and recordings into them end after this."""
    for key in [key for key in _open if key[0] == os.getpid() and key[1].scheme != "memory"]:
        _open.pop(key).close()


def _opened(address: Address, create: bool, recording: bool) -> ChainStore:
    if address.scheme == "file":
        from lctl.stores.folder import FolderStore

        return FolderStore(address)
    if address.scheme == "postgresql":
        from lctl.stores.postgres import PostgresStore

        return PostgresStore(address, pooled=not recording)
    from lctl.stores.sqlite import SqliteStore

    if address.scheme == "memory" and recording:
        return open_store(address)  # there is one of a name
    return SqliteStore(address, create=create or recording)


def open_log(address: str) -> Log:
    """The log of the chain that an address names; without a name, the last one.

    Raises:
        LogNotFound: there is none of that name.
        UsageError: the name fits more than one.
        StoreError: the store cannot be opened.
    """
    from lctl.stores.source import log_of

    known = parse(address)
    if known.scheme == "file" and not known.chain and os.path.isfile(known.place):  # noqa: PTH113
        from lctl.codec import open_log as open_file

        return open_file(known.place)
    store = open_store(known)
    return log_of(store, resolve(store, known.chain or "last"))


def resolve(store: ChainStore, name: str, *, reruns: bool = True) -> Entry:
    """The chain that `name` means: an id, the start of one, `last`, `last~1`.

    Args:
        reruns: False: `last` passes over reruns.

    Raises:
        LogNotFound, UsageError: none, or more than one.
    """
    last = _LAST.fullmatch(name)
    if last is not None:
        return _newest(store, int(last[1] or (1 if name.endswith("~") else 0)), reruns)
    try:
        return store.entry(name)
    except LogNotFound:
        pass
    fitting = {entry.id: entry for entry in store.entries() if entry.id.startswith(name)}
    meant = [entry for entry in fitting.values() if entry.origin not in fitting]
    if len(meant) == 1:
        return meant[0]
    if fitting:
        some = ", ".join(list(fitting)[:_SOME]) + (", ..." if len(fitting) > _SOME else "")
        raise UsageError(f"'{name}' fits {len(fitting)} chains: {some}; type more of it")
    raise LogNotFound(
        f"{store.address.shown}: there is no chain {name!r}; 'lctl ls --store ...' lists those there are"
    )


def _newest(store: ChainStore, back: int, reruns: bool) -> Entry:
    """The newest run, or the one `back` before it; those of child processes are not counted."""
    seen = 0
    children: list[Entry] = []
    for entry in store.entries():
        parent = entry.chain.get("parent")
        if isinstance(parent, dict) and "fork" not in entry.chain and not parent.get("fork"):
            children.append(entry)
        elif reruns or "rerun" not in entry.chain:
            if seen == back:
                return entry
            seen += 1
    if not seen and back < len(children):
        return children[back]
    if seen or children:
        raise LogNotFound(f"last~{back}: {store.address.shown} has only {seen or len(children)} of them")
    raise LogNotFound(f"{store.address.shown}: there are no runs in it")


def find_session(store: ChainStore, session_id: str) -> str:
    """The chain that holds most of a session: forks hold its beginning, too.

    Raises:
        LogNotFound: none does.
    """
    found = store.sessions(session_id, limit=1)
    if not found:
        raise LogNotFound(f"{store.address.shown}: there is no session {session_id!r}")
    return found[0].chain_id


def located(address: str, session_id: str | None, *, create: bool = False) -> Address:
    """An address with the chain that holds a session; without an id, of the last run. `create` as in
    `open_store`.

    Raises:
        LogNotFound: there is none.
    """
    known = parse(address)
    store = open_store(known, create=create)
    if known.chain or session_id is None:
        return known.at(resolve(store, known.chain or "last").id)
    return known.at(find_session(store, session_id))


def configured(given: str | Address | None) -> Address | None:
    """The store a recording goes to: the one given, else the one LCTL_STORE names.

    Raises:
        UsageError: it is no store.
    """
    if given is None:
        return from_environment()
    if isinstance(given, Address):
        return given
    if not isinstance(given, str):
        raise UsageError(f"store={given!r}: a store is named by text, such as sqlite:///runs.db")
    return parse(given)
