"""The log as a whole: its tail, its checkpoints, copies of it, and closing at exit."""

from __future__ import annotations

import atexit
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from lctl.errors import RecordingError
from lctl.guard import guard
from lctl.record.journal import JournalStore
from lctl.record.store import RecordingStore
from lctl.session import exits, hooks

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession
    from lctl.state.model import State

#: Beyond this many events the tail holds no state: folding them would hold up the program's exit.
_STATE_LIMIT = 100_000


class Closed(NamedTuple):
    """A log whose session was closed.

    Attributes:
        where: its path, or a store's address.
        place: where its file is, wherever the program has gone since.
        astray: as of `JournalStore`, where the log is a file that is to stay.
    """

    path: Path
    where: str
    events: int
    is_child: bool
    place: Path
    astray: str = ""

    @classmethod
    def of(cls, session: LCTLSession) -> Closed:
        store = session.store
        is_file = store.where == str(session.path)
        place, astray = session.path, ""
        if is_file and isinstance(store, JournalStore):
            place, astray = Path(store.place), store.astray
        return cls(session.path, store.where, session.last_seq, session.parent is not None, place, astray)


_open: list[LCTLSession] = []
#: Of the session that this process closed last, and how many it closed; for who says where logs are.
latest: Closed | None = None
closed = 0
_registered = _any_opened = False
#: The program has come to its end, and what it records is being closed.
is_over = False


def keep(session: LCTLSession) -> None:
    """Close `session` at exit, if nobody does before."""
    global _any_opened
    _any_opened = True
    _open.append(session)
    exits.begin()
    register()


def register() -> None:
    """Close at exit what is open then, after the exit functions that the program registers from now on."""
    global _registered
    if not _registered:
        _registered = True
        atexit.register(_close_at_exit)


def any_opened() -> bool:
    """Whether this process has opened a session at all."""
    return _any_opened


def drop(session: LCTLSession) -> None:
    global latest, closed
    if session in _open:
        _open.remove(session)
    if session.last_seq:
        latest = Closed.of(session)
        closed += 1
        if latest.astray:
            from lctl.session import announcing  # here: it imports this

            announcing.say_astray(latest)


def _close_at_exit() -> None:
    global is_over
    is_over = True
    for session in _open[:]:
        tell(session)
    close_all()


def tell(session: LCTLSession) -> None:
    """At exit: record in `session` what Python ends the program for, if it does, or with which code."""
    if session.closed or session.ended_as is not None:
        return
    with guard("the exception that ends the program"):
        from lctl.session import crashes  # here: most programs end well

        error = crashes.ending()
        left = exits.ending() if error is None else None
        if left is not None:
            error = SystemExit(left.code)
            session.end_steps(error)
            session.fail(error, "program", places=left.places)
        elif error is not None:
            session.end_steps(error)
            session.fail(error, "program")


def close_all() -> None:
    for session in reversed(_open[:]):
        session.close()


def tail(store: RecordingStore, ended_as: str | None = None, lost: int = 0) -> dict[str, Any]:
    """State and summary of the log, folded from it; of a long one the little that is known without.

    Args:
        ended_as: "error" or "interrupted" where an exception ended it.
        lost: how many events are not in it, as they could not be recorded.
    """
    count = store.count()
    # A thread's step that ended after the one that failed would hide how it ended.
    known: dict[str, Any] = {"outcome": ended_as} if ended_as else {}
    if lost:
        known["lost"] = lost
    if count > _STATE_LIMIT:
        return {"summary": {"events": count, **known}}
    from lctl.state.summary import tail_of

    made = tail_of(store.read(), store.chain)
    made["summary"] |= known
    return made


def close(
    store: RecordingStore,
    before: dict[str, Any],
    unopened: bool = False,
    ended_as: str | None = None,
    lost: int = 0,
) -> None:
    """Close the log with its tail; with the hash alone if the tail cannot be made.

    Args:
        before: `hooks.recording()` when the session was opened.
        unopened: a forked child that recorded nothing: the store is still its parent's.
        ended_as, lost: as of `tail`.
    """
    if unopened:
        return
    made: dict[str, Any] = {}
    with guard(f"the summary of {store.path}"):
        made = tail(store, ended_as, lost)
    store.close(_noted(made, before))


def _noted(made: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """The tail with what was not recorded, where there is something."""
    recording = hooks.recording_since(before)
    return {"recording": recording, **made} if recording else made


class Checkpoints:
    """Folds a log as far as its newest checkpoint, so that the next one folds only what is new."""

    def __init__(self) -> None:
        self._state: State | None = None

    def take(self, store: RecordingStore) -> dict[str, Any]:
        """`state_hash`, `facts_snapshot` and `events_hash` of the log so far."""
        made: dict[str, Any] = {"events_hash": store.events_hash()}
        from lctl.events import Event
        from lctl.state.hashing import state_hash
        from lctl.state.reducer import fold, initial

        state = self._state or initial(str(store.chain.get("id", "")))
        events = (Event.from_dict(orjson.loads(line)) for line in store.read(state.seq + 1))
        self._state = state = fold(events, start=state)
        facts = {fact.id: {"text": fact.text, "confidence": fact.confidence} for fact in state.facts.values()}
        return {"state_hash": state_hash(state), "facts_snapshot": facts, **made}


def document(store: RecordingStore) -> dict[str, Any]:
    """The whole log as one object."""
    events = [orjson.loads(line) for line in store.read()]
    return {"lctl": "4.0", "chain": store.chain, "events": events, **tail(store)}


def export(store: RecordingStore, path: Path, before: dict[str, Any]) -> Path:
    """A closed copy of the log at `path`, which appears whole or not at all."""
    if path.exists() and store.path.exists() and path.samefile(store.path):
        store.flush()
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    copy: JournalStore | None = None
    try:
        copy = JournalStore(part, store.chain)
        block: list[bytes] = []
        for line in store.read():
            block.append(line)
            if len(block) == 1000:
                copy.append(b",\n".join(block), len(block))
                block = []
        if block:
            copy.append(b",\n".join(block), len(block))
        copy.close(_noted(tail(copy), before))
        part.replace(path)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        if copy is not None:
            copy.forget()
        part.unlink(missing_ok=True)
    return path
