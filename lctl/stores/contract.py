"""The contract of every store of chains, whatever keeps them.

One contract test suite (`tests/unit/stores/test_contract.py`) runs on all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from lctl.kinship import mark_of, starter_of
from lctl.stores.address import Address


class Entry(NamedTuple):
    """A chain as a list shows it.

    Attributes:
        chain: the header: `id`, and perhaps `name`, `parent`, `fork`, `rerun`.
        first_seq, last_seq: 0 while it has no events.
        size: bytes of its event lines.
        started, updated: timestamps of its first and last event, "" without events.
        open: not closed: being written, or its program ended abruptly.
        summary: as its writer left it at the end.
    """

    chain: dict[str, Any]
    first_seq: int
    last_seq: int
    size: int
    started: str
    updated: str
    open: bool
    summary: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.chain.get("id") or "")

    @property
    def events(self) -> int:
        return self.last_seq - self.first_seq + 1 if self.last_seq else 0

    @property
    def origin(self) -> str:
        """Id of the chain it came of: its parent, or what it is a rerun of; "" for none."""
        return origin_id(self.chain)


class Match(NamedTuple):
    """An event that a search found. `kind` is message or fact; `text` the words around the find."""

    chain_id: str
    seq: int
    kind: str
    text: str


class SessionRow(NamedTuple):
    """An agent session as its store's tables show it: of its chain's events so far."""

    session_id: str
    chain_id: str
    conversation_id: str
    parent_conversation_id: str | None
    status: str
    model_id: str | None
    to_message_number: int
    total_turns: int
    total_input_tokens: int
    total_output_tokens: int
    total_cached_tokens: int
    total_cost: float | None
    started_at: str
    completed_at: str | None


class ChainStore(Protocol):
    """Keeps chains: what was appended stays, in order, once. Usable from any thread.

    A chain id may be a prefix that fits one chain only in `resolve`; elsewhere it is whole.

    Raises (all):
        StoreAway: it cannot be reached.
        StoreError: it refuses, and why.
    """

    address: Address

    def begin(self, chain: dict[str, Any]) -> int:
        """Make the chain known if it is not; the last seq it holds."""
        ...

    def append(self, chain_id: str, first: int, lines: Sequence[bytes]) -> int:
        """Store lines numbered from `first`; returns the last seq. Those that are there already, and the
        same, are not stored again. All or none are stored when it returns; a closed chain is open again.

        Raises:
            ChainConflict: another line is stored under one of these seqs.
            RecordingError: `first` leaves a gap.
            LogNotFound: there is no such chain.
        """
        ...

    def finish(self, chain_id: str, tail: dict[str, Any]) -> None:
        """Close the chain with its tail (state, summary, hash)."""
        ...

    def entry(self, chain_id: str) -> Entry:
        """Raises LogNotFound."""
        ...

    def entries(self, limit: int | None = None) -> Iterator[Entry]:
        """All chains, the newest begun first."""
        ...

    def children(self, chain_id: str) -> list[Entry]:
        """Chains that came of it directly, oldest first."""
        ...

    def read(self, chain_id: str, start: int = 1, stop: int | None = None) -> Iterator[bytes]:
        """Lines with start <= seq < stop, in order."""
        ...

    def joined(self, chain_id: str, start: int = 1, stop: int | None = None) -> Iterator[bytes]:
        """The same lines, some at a time, joined by line feeds: for who decodes them at once."""
        ...

    def tail(self, chain_id: str) -> dict[str, Any] | None:
        """What the chain was closed with; None while it is open."""
        ...

    def wait(self, chain_id: str, after: int, timeout: float) -> int:
        """The chain's last seq: at once if it is beyond `after`, else when it is or after `timeout` s."""
        ...

    def sessions(self, session_id: str | None = None, limit: int | None = None) -> list[SessionRow]:
        """Agent sessions, or those of one id: that with most events first, else newest first."""
        ...

    def search(self, words: str, limit: int = 50) -> list[Match]:
        """Messages and facts that hold all these words, best first."""
        ...

    def delete(self, chain_id: str) -> bool:
        """Remove the chain; whether there was one."""
        ...

    def remove(self, chain_ids: Sequence[str]) -> list[str]:
        """Remove these chains, many at a time; the ids of those that were there."""
        ...

    def expire(self, before: str) -> list[str]:
        """Remove chains whose last event is older than the timestamp `before`; their ids."""
        ...

    def close(self) -> None: ...


def origin_id(chain: dict[str, Any]) -> str:
    again, parent = chain.get("rerun"), chain.get("parent")
    if isinstance(again, dict) and again.get("of"):
        return str(again["of"])
    return str(parent.get("id") or "") if isinstance(parent, dict) else ""


def descendants(store: ChainStore, entry: Entry) -> list[tuple[Entry, int]]:
    """Chains of what a run started: child processes, and theirs, parents first. Not forks, not reruns. Each
    with its parent's place in this list, counted from 1; 0 is the run."""
    waiting, seen = [entry], {entry.id}
    found: list[tuple[Entry, int]] = []
    for place, one in enumerate(waiting):  # grows while it is gone through
        for child in sorted(started_by(store, one), key=lambda child: child.id):
            if child.id not in seen:
                seen.add(child.id)
                waiting.append(child)
                found.append((child, place))
    return found


def started_by(store: ChainStore, entry: Entry) -> list[Entry]:
    """Chains of processes that the chain's program started. In a store an id is one chain's; another run of
    that id is a branch under another name, and those it started name the id that it had."""
    mark = mark_of(entry.chain)
    above = entry.chain.get("parent")
    named = str(above.get("id")) if isinstance(above, dict) and above.get("conflict") else entry.id
    near = store.children(named)
    marks = {mark_of(one.chain) for one in near if _parts_from(one.chain)}
    if named == entry.id:
        others = marks - {mark}
        return [one for one in near if (link := starter_of(one.chain)) and link.run not in others]
    own = [one for one in store.children(entry.id) if starter_of(one.chain)]
    if _is_of_another_run(store, named, mark):
        own += [one for one in near if (link := starter_of(one.chain)) and link.run == mark]
    return own


def _parts_from(chain: dict[str, Any]) -> bool:
    parent = chain.get("parent")
    return isinstance(parent, dict) and bool(parent.get("conflict"))


def _is_of_another_run(store: ChainStore, id: str, mark: str) -> bool:
    """Whether that mark is not the one of the chain of that id."""
    from lctl.errors import LogNotFound

    try:
        return bool(mark) and mark_of(store.entry(id).chain) != mark
    except LogNotFound:
        return bool(mark)


def lineage(store: ChainStore, chain_id: str) -> list[tuple[Entry, int]]:
    """The whole tree a chain is in, with depths: its oldest ancestor that is there, then what came of it."""
    from lctl.errors import LogNotFound

    root = store.entry(chain_id)
    seen = {root.id}
    while root.origin and root.origin not in seen:
        try:
            root = store.entry(root.origin)
        except LogNotFound:
            break
        seen.add(root.id)
    placed: list[tuple[Entry, int]] = []
    done: set[str] = set()
    waiting = [(root, 0)]
    while waiting:
        entry, depth = waiting.pop()
        if entry.id in done:
            continue
        done.add(entry.id)
        placed.append((entry, depth))
        waiting += [(child, depth + 1) for child in reversed(store.children(entry.id))]
    return placed
