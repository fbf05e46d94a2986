"""`lctl.replay`: an agent run again from some message of a session, its tools answered, and compared."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, TextIO, get_args

from lctl.analysis.sessiondiff import SessionDiff
from lctl.chain import Chain
from lctl.conversation.hydrated import Hydrated
from lctl.errors import RerunError, RerunStopped, UsageError
from lctl.rerun.tooling.toolanswers import (
    Answered,
    Drift,
    Matching,
    Mocks,
    Recorded,
    ToolAnswers,
    Tools,
    recordings,
)
from lctl.session import border
from lctl.session.durable.linking import parent_log
from lctl.session.durable.session import Session
from lctl.stores.opening import open_store
from lctl.stores.source import log_of

if TYPE_CHECKING:
    from lctl.session.concurrency.lane import Lane
    from lctl.session.tooling.served import Served
    from lctl.session.tooling.toolcalls import ToolCall

_one_at_a_time = threading.Lock()


class Replayed:
    """A replay that was run.

    Attributes:
        session: what was recorded of it, in a log of its own.
        source: the session it was forked from, as it went on then.
        result: what the agent returned.
        error: what it raised; None where it returned.
        answered: the calls of tools, with who answered them.
        drifts: recorded results that were given for other arguments.
        unconsumed: recorded tool calls that were not made.
    """

    def __init__(self, session: Session, source: Session, answers: ToolAnswers) -> None:
        self.session = session
        self.source = source
        self.result: Any = None
        self.error: BaseException | None = None
        self.answered: list[Answered] = answers.answered
        self.drifts: list[Drift] = answers.drifts
        self.unconsumed: list[Recorded] = answers.unconsumed

    @property
    def ok(self) -> bool:
        """The agent came to its end, with every recorded result given, and for the same arguments."""
        return self.error is None and not self.drifts and not self.unconsumed

    def diff(self, other: Hydrated | None = None) -> ReplayDiff:
        """The comparison with a session: the one it was forked from when None."""
        return ReplayDiff(self.source if other is None else other, self.session, self)

    def __repr__(self) -> str:
        how = "ended" if self.error is None else f"{type(self.error).__name__}"
        return f"<Replayed {self.session.id}: {how}, {len(self.answered)} tool calls>"


class ReplayDiff(SessionDiff):
    """A session compared with its replay, and how the tools of the replay were answered."""

    def __init__(self, left: Hydrated, right: Hydrated, replayed: Replayed) -> None:
        super().__init__(left, right)
        self.replayed = replayed

    def lines(self) -> list[str]:
        """For people to read."""
        from lctl.analysis.wording import plain

        found, made = super().lines(), self.replayed
        found += [
            f"  {drift.tool}: recorded for {plain(drift.recorded, 60)}, given {plain(drift.given, 60)}"
            for drift in made.drifts
        ]
        found += [f"  {one.tool}({plain(one.input, 60)}) was not called" for one in made.unconsumed]
        if made.error is not None:
            found.append(f"  ended by {type(made.error).__name__}: {plain(str(made.error), 300)}")
        return found

    def show(self, file: TextIO | None = None) -> None:
        """Print it."""
        (file or sys.stdout).write("\n".join(self.lines()) + "\n")


def replay(
    session: Session,
    agent: Callable[[Session], Any],
    tools: Tools = "recorded",
    mocks: Mocks | None = None,
    *,
    matching: Matching = "fifo",
    pure: Collection[str] = (),
    source: Session | None = None,
) -> Replayed:
    """Run `agent(session)` on a fork, and say what came out.

    The agent goes on from `session.context`, records what it does, and calls its models as ever. Its tools,
    as far as they go through `@lctl.tool`, `session.call_tool` or an integration, are answered by the first
    of: a mock; the recording of the session it was forked from; themselves, for those in `pure`; nobody,
    which ends the replay.

    Args:
        session: a fork; of a session that was only read, a fork is made after its seeds.
        agent: a function or coroutine function.
        tools: "recorded"; "dry-run": what is not recorded is not run either, and gives a note that says so;
            "live": all but mocks run.
        mocks: by tool: a value, an exception to raise, or a function of the call's arguments by name.
        matching: "fifo": a call with other arguments gets the result of the tool's next recorded call (see
            `drifts`); "strict": only the same arguments do.
        source: the session with the recordings, where its log is not beside the fork's.

    Raises:
        UsageError: it is no session, an option that there is not, or the source cannot be found.
        RerunError: another replay is running in this process.
    """
    if tools not in get_args(Tools) or matching not in get_args(Matching):
        raise UsageError(
            f"tools={tools!r}, matching={matching!r}: tools is one of {', '.join(get_args(Tools))}, "
            f"matching of {', '.join(get_args(Matching))}"
        )
    if not isinstance(session, Session):
        raise UsageError(
            f"replay({session!r:.80}): it takes a session, such as Session.hydrate(PATH).fork(at=4)"
        )
    if not _one_at_a_time.acquire(blocking=False):
        raise RerunError("another replay is running in this process; one at a time")
    before = border.player()
    try:
        if not session.is_recording:
            source = source or session
            session = session.fork(at=session.seed_count)
        source = source or session.source or _source_of(session)
        after = (session.forked_from or {}).get("message_number", session.seed_count)
        answers = ToolAnswers(recordings(source, after), tools, mocks or {}, matching, pure)
        made = Replayed(session, source, answers)
        border.set_player(answers if before is None else _again(answers, before))
        with session:
            _run(made, agent)
    finally:
        border.set_player(before)
        _one_at_a_time.release()
    return made


class _Again:
    """In a rerun of a program that replays: what it does there is on the tape as all else. Who answered which
    tool is worked out once more."""

    def __init__(self, answers: ToolAnswers, rerun: border.Player) -> None:
        self._answers = answers
        self._rerun = rerun

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rerun, name)

    def tool(self, call: ToolCall, lane: Lane, number: int) -> Served | None:
        found = self._answers.tool(call, lane, number)
        served = self._rerun.tool(call, lane, number)
        return found if served is None else served


def _again(answers: ToolAnswers, rerun: border.Player) -> border.Player:
    made: Any = _Again(answers, rerun)
    player: border.Player = made
    return player


def _run(made: Replayed, agent: Callable[[Session], Any]) -> None:
    try:
        found = agent(made.session)
        made.result = asyncio.run(found) if inspect.iscoroutine(found) else found
    except (Exception, RerunStopped) as error:
        made.error = error
        made.session.end("failed", error)


def _source_of(session: Session) -> Session:
    given = session.forked_from
    if given is None:
        return session.at(None)
    if session.log.destination is not None:
        store = open_store(session.log.destination)
        chain = Chain.of(log_of(store, store.entry(str(given.get("chain_id")))))
        return Session.hydrate(chain, str(given.get("session_id")))
    path = parent_log(session.log.store.chain, str(session.log.path))
    if path is None:
        raise UsageError(
            f"session {session.id} was forked from {given.get('session_id')} of chain "
            f"{given.get('chain_id')}, whose log is not in its folder; "
            "give source=lctl.Session.hydrate(its log)"
        )
    return Session.hydrate(path, str(given.get("session_id")))
