"""The conversations of a session, as a tree that grows with it, and the agent sessions in them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from lctl.codec.document import collector_paused
from lctl.conversation.forest import Forest
from lctl.conversation.sessionfolding import KEPT
from lctl.conversation.sessions import Sessions
from lctl.conversation.tree import Kept, Tree
from lctl.session.found import recorded_here, stored_data

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession


class Follower:
    """Folds the events of a session into a tree: all so far, then each one as it has been recorded.

    Events are taken from the log, so that the tree is what a reader of the log will see.

    Attributes:
        sessions: the agent sessions of the log so far.
        writing: held by whoever places a reply by what there is.
    """

    def __init__(self, session: LCTLSession) -> None:
        self._store = recorded_here(session.store)
        self._position = 0
        self._lock = threading.RLock()
        self._lines: deque[bytes] = deque()
        self.writing = threading.RLock()
        self._writing: dict[str, threading.RLock] = {}
        self._kept: dict[int, Mapping[str, Any]] = {}
        self.tree = Tree(Forest(Kept(partial(stored_data, self._store))), writer=session)
        self.sessions = Sessions(self.tree.forest, self._kept.__getitem__)

    def writing_of(self, session_id: str) -> threading.RLock:
        """Held by whoever numbers what it records of a session by what there is. Each has its own: of those
        in several threads none waits for another, also where that waits, in a rerun, for its turn."""
        return self._writing.setdefault(session_id, threading.RLock())

    def follow(self) -> None:
        """Take what was recorded since the last time.

        Who is told of an event may record another: then that one's turn takes what is left, in order.
        """
        with self._lock:
            lines, self._position = self._store.since(self._position)
            self._lines += lines
            while self._lines:
                event = orjson.loads(self._lines.popleft())
                if event["type"] in KEPT:
                    self._kept[event["seq"]] = event.get("data") or {}
                self.tree.append(event)
                self.sessions.append(event)


def tree_of(session: LCTLSession) -> Tree:
    """The session's tree. From the first time it is asked for, every event costs its folding as well."""
    return follower_of(session).tree


def follower_of(session: LCTLSession) -> Follower:
    """What folds the session's events, from now on."""
    follower = session.follower
    return _begun(session) if follower is None else follower


def _begun(session: LCTLSession) -> Follower:
    """Several threads may ask for the first time at once; and none may record what is not followed."""
    with session.store.lock:
        if session.follower is not None:
            return session.follower
        follower = Follower(session)
        with collector_paused():  # it would walk a long log's tree over and over while that grows
            follower.follow()
        if session.on_follow is not None:
            session.on_follow(follower.tree)
        session.after_event = follower.follow
        session.follower = follower
        return follower
