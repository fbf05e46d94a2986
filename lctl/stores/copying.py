"""Bringing a chain's events into a store: from where both agree, in order, once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from secrets import token_hex
from typing import Any, NamedTuple

from lctl.stores.chunks import EVENTS
from lctl.stores.contract import ChainStore
from lctl.stores.sqlstore import conflict

#: Bytes and events of one append.
BLOCK_BYTES = 8 << 20
BLOCK_EVENTS = 64 * EVENTS


class Meeting(NamedTuple):
    """How far a chain here and in a store are the same.

    Attributes:
        seq: the last event both have; one before the first where they share none.
        stored: the last event the store has; 0 for none.
        first: the first seq they differ in; 0 where one only goes further than the other.
    """

    seq: int
    stored: int
    first: int


def meet(store: ChainStore, chain_id: str, line: Callable[[int], bytes], first: int, last: int) -> Meeting:
    """Compare a chain whose events `first` to `last` are `line(seq)` with the stored one.

    Two logs of one chain that differ somewhere differ from there on: the place is found by halving.
    """
    stored = store.entry(chain_id).last_seq
    both = min(stored, last)
    if both < first:
        return Meeting(first - 1, stored, 0)

    def same(seq: int) -> bool:
        return next(store.read(chain_id, seq, seq + 1), b"") == line(seq)

    if same(both):
        return Meeting(both, stored, 0)
    low, high = first - 1, both  # `low` is the same, `high` is not
    while high - low > 1:
        middle = (low + high) // 2
        if same(middle):
            low = middle
        else:
            high = middle
    return Meeting(low, stored, high)


def check(store: ChainStore, chain_id: str, meeting: Meeting) -> None:
    """Raises ChainConflict where the two differ."""
    if meeting.first:
        raise conflict(store.address.shown, chain_id, meeting.first)


def send(store: ChainStore, chain_id: str, first: int, lines: Iterable[bytes]) -> int:
    """Append lines numbered from `first`, some megabytes at a time; the last seq.

    Raises:
        ChainConflict, StoreError: as `append`. What was appended before stays.
    """
    last = first - 1
    for block in blocks(lines):
        last = store.append(chain_id, first, block)
        first += len(block)
    return last


def blocks(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Lines in pieces of one append each."""
    rest, block, size = iter(lines), list[bytes](), 0
    while piece := list(islice(rest, EVENTS)):
        block += piece
        size += sum(map(len, piece))
        if len(block) >= BLOCK_EVENTS or size > BLOCK_BYTES:
            yield block
            block, size = [], 0
    if block:
        yield block


def branch(chain: dict[str, Any], seq: int) -> dict[str, Any]:
    """The header of a branch that parts from its chain after event `seq`, because two wrote it."""
    id = str(chain.get("id"))
    parent = {"id": id, "seq": seq, "fork": True, "conflict": True}
    return {**chain, "id": f"{id}~{token_hex(3)}", "parent": parent}
