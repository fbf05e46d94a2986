"""`lctl.Session`: one run of an agent, kept in the log so that any process can take it up again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from lctl.conversation.ledger import RUNNING, Ledger
from lctl.conversation.sessions import Sessions
from lctl.errors import UsageError
from lctl.session import jsonable
from lctl.session.conversing import follower_of
from lctl.session.durable import beginning
from lctl.session.durable.calls import EarlierCalls, call_once
from lctl.session.durable.ending import Ending
from lctl.session.durable.ids import new_id
from lctl.session.durable.numbering import drafts, fresh
from lctl.session.durable.ownstate import OwnState, Reduce
from lctl.session.durable.turn import Left, Turn
from lctl.session.durable.writing import messages_data
from lctl.session.session import LCTLSession
from lctl.session.tooling.tools import call_tool

if TYPE_CHECKING:
    from lctl.chain import Chain

T = TypeVar("T")


class Session(Ending):
    """A session that is being recorded, or one read from a log.

        with lctl.Session.start(model="gpt-x", seed_messages=[system]) as s:
            s.record({"role": "user", "content": "2+2?"})
            with s.step("answer") as step:
                reply = client.chat.completions.create(model=s.model, messages=s.context)
                s.record(reply.choices[0].message, sampled=True)
                step.update(tokens={"input": 20, "output": 3})

    Leaving the block ends it: completed, or failed by the exception that left it. Everything it tells of
    itself (`messages`, `totals`, `status`, ...) is read from the log, so that a session hydrated from the log
    at any event is what this one was then.
    """

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
        """
        Args:
            live: it records into `recording`.
        """
        super().__init__(sessions, ledger, seq, recording=recording, chain=chain)
        self._log = recording if live else None
        self.turns: list[Turn] = []
        self._own = OwnState(self)
        self._earlier: EarlierCalls | None = None
        if live:
            self._own.keep(super().state)
            self._own.version = super().state_version
        if live and self.start_seq and self._ledger.steps:
            self._take_up()

    # -- beginning ---------------------------------------------------------------------------

    @classmethod
    def start(
        cls,
        *,
        conversation_id: str | None = None,
        trigger: Any = None,
        model: Any = None,
        seed_messages: Iterable[Any] = (),
        session_id: str | None = None,
        tools: Any = None,
        state: Any = None,
        log: beginning.Log = None,
        policy: Any = None,
        parent_conversation_id: str | None = None,
        state_version: Any = None,
        reduce: Reduce | None = None,
        agent: str | None = None,
    ) -> Session:
        """Begin a session, or take up the one of that id: one that is there is not begun twice.

        Args:
            conversation_id: the conversation it belongs to; a new one when None.
            trigger: what started it: (type, id), any type.
            model: id, or {id, context_window}.
            seed_messages: exactly what the model sees first. They have the numbers 1 to n.
            session_id: made up when None.
            tools: names, definitions, functions, or a mapping by name.
            state: the program's own, as JSON holds it.
            log: a recording, or the path of one (gone on with if it is there); else the running recording,
                else a new one.
            state_version: of the schema of `state`; kept with each snapshot.
            reduce: `(state, update) -> state`: the state follows from what the tool results of each step
                report (`updates`).

        Raises:
            UsageError: there is a session of that id which began otherwise, or an argument is of no sense.
            LogLocked: another process is writing this log.
        """
        seeds = beginning.seeds_in(seed_messages)
        recording, owns = beginning.opened(log, session_id)
        try:
            extra = {
                "parent_conversation_id": parent_conversation_id,
                "policy": policy,
                "state_version": state_version,
            }
            data = beginning.start_data(
                session_id or new_id("sess", recording),
                conversation_id=conversation_id,
                trigger=trigger,
                model=model,
                tools=tools,
                state=None if state is None else jsonable.plain(state),
                extra=extra,
            )
            follower = follower_of(recording)
            begun = beginning.begin(follower, recording, data, seeds, agent)
        except BaseException:
            if owns:
                recording.close()
            raise
        made = cls.live(recording, begun.id)
        made.owns, made._own.reduce = owns, reduce
        if state_version is not None:
            made._own.version = state_version
        return made

    @classmethod
    def resume(cls, log: beginning.Log, session_id: str | None = None) -> Session:
        """Take up a session where it stands: after its last event, on whatever machine that was recorded.

        Args:
            log: a log's path, or a store: the session's chain is found in it.
            session_id: None is the one that began last.

        Raises:
            UsageError, LogError: it is not there.
            LogLocked: another program records into the same file.
            StoreAway: the store cannot be reached.
        """
        recording, owns = beginning.taken_up(log, session_id)
        try:
            follower = follower_of(recording)
            made = cls.live(recording, follower.sessions.find(session_id).id)
        except BaseException:
            if owns:
                recording.close()
            raise
        made.owns = owns
        return made

    # -- recording ---------------------------------------------------------------------------

    @property
    def log(self) -> LCTLSession:
        """What it is recorded into.

        Raises:
            UsageError: it was read from a log.
        """
        if self._log is None:
            raise UsageError(
                f"session {self.id} can only be read here; fork it, or start it with its log to go on"
            )
        return self._log

    @property
    def writing(self) -> Any:
        """Held while something is numbered by what there is.

        Raises:
            UsageError: as `log`.
        """
        return follower_of(self.log).writing_of(self.id)

    @property
    def is_recording(self) -> bool:
        """Whether messages can be recorded through this object."""
        return self._log is not None

    def check_running(self) -> None:
        """Raises UsageError where nothing more can be recorded."""
        _ = self.log
        if self.status != RUNNING:
            raise UsageError(f"session {self.id} is {self.status}; fork it, or start one with another id")

    def record(self, *messages: Any, number: int | None = None, **data: Any) -> int:
        """Record messages after those there are, all or none; the number of the last one, 0 if they could not
        be.

        Args:
            messages: dicts, SDK objects, or a user's words.
            number: of the first of them. One that is there already is not recorded again.
            data: more keys for each of them: `sampled=True` for what the model of this session answered to
                its `context`, `details` of a tool's result, `call`, `status`, ...

        Raises:
            UsageError: the session has ended, another message has that number, or what is given is none.
        """
        if number is not None and (not isinstance(number, int) or number < 1):
            raise UsageError(f"number={number!r}: messages are numbered from 1, seeds included")
        with self.writing:
            self.check_running()
            new, done = fresh(self, messages_data(messages, data), number)
            if not new:
                return done
            first = self.high_water + 1 if number is None else max(number, self.high_water + 1)
            if not self.log.emit_many(lambda seq: drafts(self, new, first)):
                return 0
            return self.high_water

    def step(self, intent: str | None = None, *, agent: str | None = None, **data: Any) -> Turn:
        """One step as a block: what is recorded in it is in the log before its end is. See `Turn`."""
        if intent is not None:
            data["intent"] = intent
        return Turn(self, agent, data)

    def call_tool(
        self,
        name: str,
        input: dict[str, Any],
        run: Callable[[], T],
        *,
        call_id: str | None = None,
        once: bool = False,
    ) -> T:
        """Call `run()` as the tool `name`: recorded, and answered for in a replay. A call that an earlier
        process made gives what it gave then, as JSON holds it (see `calls`).

        Args:
            once: it must not be made twice. That it is made is in the log, and in its store, before `run()`
                runs, and its result before this returns.

        Raises:
            ToolInDoubt: with `once`, an earlier process began this call and left no result.
            StoreAway: with `once`, the store cannot be reached; `run()` has not run, or its result is in the
                local log alone.
        """
        if not once or self._log is None:
            return call_tool(name, input, run, call_id=call_id)
        return call_once(self._log, self._earlier, name, input, run, call_id)

    def settle(self, name: str, output: Any, *, call_id: str | None = None, input: Any = None) -> None:
        """Record what a call that is in doubt gave: it is taken as made then, and not made again."""
        data = {"tool": name, "input": input or {}, "output": output, "call_id": call_id, "settled": True}
        self.log.emit("tool_call", {key: value for key, value in data.items() if value is not None})
        self._take_up()

    def _take_up(self) -> None:
        """What is in the log by now was done by others, or before."""
        log = self.log
        self._earlier = EarlierCalls(self, log.last_seq)
        log.answers = self._earlier.answer

    def leave_open_step(self) -> Left | None:
        """End a step that a process left open; which, None where there is no such step."""
        step = self.pending_step
        if step is None or self.log.is_open(step):
            return None
        before = Left(step, self.at(step).high_water)
        self._own.base = self.at(step).state
        self.log.emit("step_end", {"outcome": "aborted", "session_id": self.id}, step=step)
        return before

    # -- state -------------------------------------------------------------------------------

    @property
    def state(self) -> Any:
        """The program's own state: while recording to be changed, in place or as a whole. Recorded when it is
        set, and when a step ends that changed it."""
        return super().state if self._log is None else self._own.now

    @state.setter
    def state(self, value: Any) -> None:
        with self.writing:
            self.check_running()
            self._own.put(value)
            self._own.record()

    def snapshot(self) -> None:
        """Record the state if it has changed; at the end of a step also what its tools report."""
        own = self._own
        if own.reduce is not None and self.turns:
            own.follow(own.reduce, self.turns[-1])
        own.record()
