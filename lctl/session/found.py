"""What a log that is gone on with held when it was opened: its messages, and what was said once for all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from lctl.conversation.forest import Forest
from lctl.conversation.tree import Kept, Tree
from lctl.record.store import EventStore, Lines

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession

#: Events that make the tree of conversations.
TREE = ("message", "message_alias", "stream_start", "stream_chunk", "stream_end", "blob")
#: Events of a log beyond which it is not read: the program's first call would wait for it (25 us a message).
_MOST = 200_000
#: In these first bytes a line has said its type.
_HEAD = 64


def found_events(session: LCTLSession, types: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Events of these types that were there when the session opened its log; none of a new log, nor of one
    that is too long to read while the program waits."""
    if not 0 < session.found <= _MOST:
        return
    marks = [f'"type":"{kind}"'.encode() for kind in types]
    for line in session.store.read(1, session.found + 1):
        head = line[:_HEAD]
        if any(mark in head for mark in marks):
            yield orjson.loads(line)


def empty_tree(session: LCTLSession) -> Tree:
    """A tree for events of the session's log; large content is read there when it is asked for."""
    return Tree(Forest(Kept(partial(stored_data, recorded_here(session.store)))))


def found_tree(session: LCTLSession) -> Tree:
    """The conversations that were there when the session opened its log."""
    tree = empty_tree(session)
    for event in found_events(session, TREE):
        tree.append(event)
    return tree


def recorded_here(store: EventStore) -> Lines:
    """The events of a log that is being written, for the program that writes it: in a rerun what this run has
    recorded, whenever and in whichever order the log gets it."""
    own: Lines | None = getattr(store, "own", None)
    return store if own is None else own


def stored_data(store: Lines, seq: int) -> Mapping[str, Any]:
    """The data of a stored event.

    Raises:
        KeyError: there is no event of that seq.
    """
    for line in store.read(seq, seq + 1):
        data: Mapping[str, Any] = orjson.loads(line).get("data") or {}
        return data
    raise KeyError(seq)
