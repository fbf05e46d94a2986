"""A session of a log or of a running recording, for reading, forking and taking elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import orjson

from lctl.conversation.hydrated import Hydrated
from lctl.conversation.ledger import Ledger
from lctl.conversation.sessions import Sessions
from lctl.elsewhere import is_elsewhere
from lctl.errors import UsageError
from lctl.session import opening
from lctl.session.conversing import follower_of
from lctl.session.found import recorded_here
from lctl.session.redaction.redact import Redactor
from lctl.session.session import LCTLSession
from lctl.values import index_number

if TYPE_CHECKING:
    from lctl.chain import Chain
    from lctl.codec import Log

Repair = Literal["error", "truncate", "synthesize"]
SystemPatch = str | Callable[[str], str] | None


class Reading(Hydrated):
    """What a session is, and what can be made of it.

    Attributes:
        recording: the running recording it is in; None where it was read from a log.
        chain: the chain it was read from; None where it is in a running recording.
        source: of a fork made here: the session it came of, with all that came later.
        owns: whether its recording was opened for it.
    """

    owns: bool

    def __init__(
        self,
        sessions: Sessions,
        ledger: Ledger,
        seq: int | None = None,
        *,
        recording: LCTLSession | None = None,
        chain: Chain | None = None,
        live: bool = False,
    ) -> None:
        super().__init__(sessions, ledger, seq)
        self.recording = recording
        self.chain = chain
        self.source: Self | None = None

    def record(self, *messages: Any, number: int | None = None, **data: Any) -> int:
        raise NotImplementedError

    @classmethod
    def live(cls, log: LCTLSession, id: str) -> Self:
        """The session of that id, to be gone on with."""
        follower = follower_of(log)
        return cls(follower.sessions, follower.sessions.ledgers[id], recording=log, live=True)

    @classmethod
    def hydrate(
        cls,
        source: str | os.PathLike[str] | Chain | LCTLSession,
        session_id: str | None = None,
        at: int | None = None,
    ) -> Self:
        """The session as it was after event `at` (None: as it is), to be read and forked.

        Args:
            source: a log's path, a store, a chain, or a running recording.
            session_id: None is the one that began last.

        Raises:
            LogError: the log cannot be read, or the store has no such session.
            UsageError: it has no such session, or `at` is no number.
        """
        if isinstance(source, LCTLSession):
            found = follower_of(source).sessions.find(session_id)
            return cls.live(source, found.id).at(at)
        from lctl.chain import Chain
        from lctl.session.durable.linking import whole

        chain = source if isinstance(source, Chain) else Chain.of(_log(source, session_id))
        chain = whole(chain)
        known = chain.sessions if at is None else chain.sessions.at(at)
        ledger = chain.sessions.ledgers[known.find(session_id).id]
        return cls(chain.sessions, ledger, at, chain=chain)

    def at(self, seq: int | None) -> Self:
        """The same session after event `seq`, for reading.

        Raises:
            UsageError: `seq` is no number.
        """
        if seq is not None and index_number(seq) is None:
            raise UsageError(f"at({seq!r}): it takes the number of an event, such as {self.seq}")
        return type(self)(self._sessions, self._ledger, seq, recording=self.recording, chain=self.chain)

    @property
    def origin_chain(self) -> Chain:
        """The chain it was read from."""
        assert self.chain is not None
        return self.chain

    # -- other sessions of it ----------------------------------------------------------------

    def fork(
        self,
        at: int | str | None = None,
        *,
        seq: int | None = None,
        model: Any = None,
        system_patch: SystemPatch = None,
        tools: Any = None,
        repair: Repair = "error",
        path: str | os.PathLike[str] | None = None,
        session_id: str | None = None,
        conversation_id: str | None = None,
    ) -> Self:
        """A session that begins with this one's messages up to `at`, that one included, and goes on in a log
        of its own. The log of this one is only read.

        Args:
            at: a message's number or id, or "#41" for event 41; None: all there is.
            seq: an event, in place of `at`.
            system_patch: another system prompt, or a function of the old one. The messages are carried below
                it; one that says the same changes nothing.
            model, tools: others than this session's (see `start`).
            repair: what to do where `at` cuts off the results of tool calls, or the end of a stream: "error",
                "truncate" (fork before them) or "synthesize" (results that say they were not made).
            path: of the new log; beside this one's when None.

        Raises:
            UsageError: it has no such message, or one that cannot be the last.
        """
        from lctl.session.durable.forking import fork

        return fork(
            self,
            at,
            seq,
            model=model,
            system_patch=system_patch,
            tools=tools,
            repair=repair,
            path=path,
            session_id=session_id,
            conversation_id=conversation_id,
        )

    def export(self, path: str | os.PathLike[str], *, redact: bool | Redactor = True) -> Path:
        """Write this session as a bundle: a log of its own, with what it was forked from.

        Args:
            redact: what takes out secrets that the log itself may hold.

        Raises:
            UsageError: the file exists, or `redact` is nothing that takes secrets out.
            RecordingError: it cannot be written.
        """
        from lctl.session.durable import bundles

        return bundles.export(self, path, opening.redactor(redact))

    @classmethod
    def load_bundle(cls, bundle: str | os.PathLike[str], path: str | os.PathLike[str] | None = None) -> Self:
        """A bundle's session in a new log, with new ids: a bundle may be brought in any number of times.

        Args:
            path: of the new log; a name is found when None.

        Raises:
            LogError: the bundle cannot be read, or holds no session.
            UsageError: there is a file at `path`.
        """
        from lctl.session.durable import bundles

        log, id = bundles.load(bundle, path)
        made = cls.live(log, id)
        made.owns = True
        return made

    def members(self) -> Iterator[tuple[str, int]]:
        """Itself and the sessions it was forked from: (id, the last event that counts)."""
        yield self.id, self.seq
        ledger = self._ledger
        while ledger.source is not None:
            yield ledger.source.id, ledger.source_seq
            ledger = ledger.source

    def seed_references(self) -> list[Mapping[str, Any]]:
        """Its seeds as its start names them, where they are messages of the log."""
        seeds = self.start_data.get("seed_messages") or ()
        return [one for one in seeds if isinstance(one, Mapping) and "message_id" in one]

    def raw_events(self) -> Iterator[dict[str, Any]]:
        origin = self.recording
        if origin is not None:
            yield from (orjson.loads(line) for line in recorded_here(origin.store).read(1, self.seq + 1))
        else:
            yield from (event.to_dict() for event in self.origin_chain.log.events(0, self.seq + 1))


def _place(source: str | os.PathLike[str]) -> str | Path:
    """Of a log's file; in a rerun, of what this run has recorded there."""
    named = source if isinstance(source, str) else Path(source)
    return named if opening.moved is None else opening.moved(named)


def _log(source: str | os.PathLike[str], session_id: str | None) -> Log:
    """The log at a path; of a store, the one that holds the session."""
    from lctl.codec import open_log

    if not is_elsewhere(source):
        return open_log(_place(source))
    from lctl.stores.opening import located, open_store
    from lctl.stores.source import log_of

    address = located(str(source), session_id)
    store = open_store(address)
    return log_of(store, store.entry(address.chain))
