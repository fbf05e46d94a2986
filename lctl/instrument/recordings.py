"""What capture remembers of one session in one process: its conversations, and what is still open."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING

from lctl.guard import guard
from lctl.instrument.conversation import Conversations
from lctl.instrument.digests import BodyDigests
from lctl.instrument.openstreams import OpenStreams
from lctl.record.journal import JournalStore
from lctl.session import opening
from lctl.session.concurrency import processes

if TYPE_CHECKING:
    from lctl.instrument.attempts import Attempt
    from lctl.session import LCTLSession


#: Streams that wait at most, of a program that leaves many and runs long.
_LEFT = 64


class Recording:
    """Of one session in one process.

    Attributes:
        forks: as `processes.forks` was when it was made.
        open: attempts whose response has not ended, by id().
        streams: keeps them as they come; None in a rerun, whose streams are on the tape, and of a log that is
            in memory.
    """

    __slots__ = ("_shared", "conversations", "digests", "forks", "open", "streams")

    def __init__(self, session: LCTLSession) -> None:
        self.conversations = Conversations(session.clock, session.graphs)
        if session.found:
            from lctl.instrument import reopened  # here: most logs are new, and it is slow to load

            with guard("what the log held before"):
                reopened.learn(self.conversations, session)
        self.digests = BodyDigests()
        self.forks = processes.forks
        self.open: dict[int, Attempt] = {}
        self._shared: set[Hashable] = set()
        store = session.store if opening.redirect is None else None
        self.streams = OpenStreams(store.place, session.redactor) if isinstance(store, JournalStore) else None

    def attach(self, session: LCTLSession) -> None:
        """From here on the session tells this recording, and no other of its, what happens."""
        session.on_tool_call = self.conversations.note_tool_event
        session.on_follow = partial(self.conversations.follow, lock=session.store.lock)
        if session.follower is not None:
            session.on_follow(session.tree)
        session.on_close = self.close

    def is_new(self, shared: Hashable) -> bool:
        """Whether this question with this answer is the first of its kind (see `traffic.is_shared`)."""
        before = len(self._shared)
        self._shared.add(shared)
        return len(self._shared) > before

    def keeps_left(self) -> bool:
        """Whether one more stream that was collected may wait for the end of the session."""
        return sum(attempt.left for attempt in list(self.open.values())) < _LEFT

    def close(self) -> None:
        """The session ends: what has arrived of the responses still open is recorded."""
        for attempt in list(self.open.values()):
            if attempt.status is not None:
                attempt.abandoned()
        if self.streams is not None:
            self.streams.close()


def recording_of(session: LCTLSession) -> Recording:
    """The session's own; a forked child, whose chain is another, begins anew."""
    # Kept on the session itself: it is asked for in every call and dies with the session.
    recording: Recording | None = session.__dict__.get("_recording")
    if recording is None or recording.forks != processes.forks:
        recording = _begun(session, recording)
    return recording


def awaits(session: LCTLSession, url: str) -> bool:
    """Whether an answer that has begun is sent there, as a stream."""
    recording: Recording | None = session.__dict__.get("_recording")
    return recording is not None and url in recording.conversations.begun


def _begun(session: LCTLSession, before: Recording | None) -> Recording:
    """Of threads whose first calls come at once the first one's stands: two would not know of each other's
    messages. No lock: a call may be made within the recording of an event."""
    made = Recording(session)
    if before is not None and session.__dict__.get("_recording") is before:
        session.__dict__.pop("_recording", None)
    kept: Recording = session.__dict__.setdefault("_recording", made)
    if kept is made:
        made.attach(session)
    return kept
