"""`LCTLSession`: one recording of one chain into one log."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lctl.clock import Clock, IdSource, system_clock, system_ids
from lctl.guard import guard
from lctl.interrupts import put_off
from lctl.kinship import link_to
from lctl.record.journal import Durability
from lctl.record.recorder import Recorder
from lctl.record.store import RecordingStore
from lctl.session import ending, hooks, jsonable, naming, opening
from lctl.session.concurrency import processes, threads
from lctl.session.concurrency.pooljobs import PoolJobs
from lctl.session.concurrency.returns import Returns
from lctl.session.concurrency.underway import UnderWay
from lctl.session.entering import Entering
from lctl.session.forked import ClosedRecorder, UnopenedRecorder
from lctl.session.keeping import Keeping
from lctl.session.llm import Prompts
from lctl.session.redaction.redact import Redactor
from lctl.session.redaction.scrub import MAX_STRING, Scrubber
from lctl.session.runs import context
from lctl.session.runs.context import Frame
from lctl.session.runs.leaving import Leaving
from lctl.session.trusting import Trusting
from lctl.session.verbs import Verbs

if TYPE_CHECKING:
    from lctl.conversation.tree import Tree
    from lctl.session.conversing import Follower
    from lctl.stores.address import Address


class LCTLSession(Trusting, Entering, Verbs, Keeping):
    """Records one chain. Every recording call returns a seq, or 0 when it could not record; none raises.

    Attributes:
        chain_id: the chain's id.
        path: its log.
        lost: events that could not be recorded (disk full, session closed).
        on_tool_call: given the data of each tool call that is reported, so that capture does not derive
            the same call from the messages.
        on_follow: called with the tree when it is first asked for, so that capture knows what the program
            records itself.
        on_close: called before the log is closed, so that capture can record what is still open.
        under_way: the calls that have begun and not ended.
        returns: when the program went on after calls that ended at the same time.
        pool_jobs: what is known of the jobs of its thread pools.
        changes: how many events told what a tool changed of the program's objects.
        before_event: called before each event but ambient reads, which it writes if some were gathered.
        body_ended: called with the lane of a tool's body as that ends, before the call's event: it writes
            what was gathered there.
        after_event: called after each event but ambient reads.
        found: seq of the last event that was in the log when it was opened; 0 of a new one.
        answers: asked before a tool runs: (tool, input, call id) to what an earlier process had from it.
        made_up: the ids that lctl has made up for what is in the log.
        follower: what folds the events into `tree`, once that was asked for.
    """

    on_follow: Callable[[Tree], None] | None = None
    on_close: Callable[[], None] | None = None
    follower: Follower | None = None
    answers: Callable[[str, dict[str, Any], str | None], Any] | None = None

    def __init__(
        self,
        chain_id: str | None = None,
        path: str | Path | None = None,
        *,
        store: str | Address | None = None,
        durability: Durability = "process",
        redact: bool | Redactor = True,
        max_string: int = MAX_STRING,
        agent: str = "main",
        confidence: Mapping[str, Any] | None = None,
        header: Mapping[str, Any] | None = None,
        clock: Clock = system_clock,
        ids: IdSource = system_ids,
    ) -> None:
        """Open the log; an existing one is gone on with.

        Args:
            chain_id: made from the program's name and the time when None.
            path: `<LCTL_DIR or .lctl>/<time>-<program>.lctl.json` when None.
            store: where the events go: `file:FOLDER`, `memory:`, `sqlite:///FILE`, `postgresql://...`;
                LCTL_STORE when None. A chain it has under `chain_id`, or that follows `#`, is gone on with.
            durability: what is safe when a recording call returns; see `JournalStore`.
            redact: False, and nothing else, records secrets as they are; a `Redactor` says what else is one.
            max_string: characters of one string that are kept (its head and its tail).
            agent: of events outside any step.
            confidence: how facts are treated: decay_rate, sources, facts, thresholds, tolerance (see
                `lctl.trust.policy`). It stands in the header of a new log.
            header: more of what the log's header says; a `parent` in place of the one the environment names.

        Raises:
            UsageError: an argument is what it cannot be.
            LogLocked: another session is writing this log.
            LctlError: the log cannot be opened, and why.
        """
        self._to = opening.destination(store)
        if self._to is not None and self._to.chain:
            chain_id, self._to = chain_id or self._to.chain, self._to.at("")
        self._durability: Durability = durability
        self._redactor = opening.redactor(redact)
        self._max_string = opening.max_string(max_string)
        if path is not None:
            opening.path(path)
        if self._redactor is not None:
            guard.clean = self._redactor.text
        self._clock, self._ids = clock, ids
        said = {**opening.header(header, self._redactor), **hooks.header(self._redactor)}
        chain = opening.chain(chain_id, ids, said, confidence)
        self._store = opening.store(chain, path, durability, clock, adopt=chain_id is None, to=self._to)
        self.agent = agent
        self.lost = 0
        self.closed = False
        self._forked = False
        # As on the classes; of its own they are found faster, and every event asks for them.
        self.before_event = self.after_event = self.on_tool_call = self._watch = None
        self._recorder: Recorder | UnopenedRecorder | ClosedRecorder = self._recorder_of(self._store)
        self.found = self._recorder.seq
        self._frames = {}
        self.made_up = set()
        self._entered = []
        self._begin()
        self.under_way.go_on(self.log_id, self.found > 0)
        self._keep_behind_tape()
        self.changes = 0
        self._streams = {}
        self._checkpoints = ending.Checkpoints()
        self._closing = threading.Lock()
        self._before = hooks.recording()
        ending.keep(self)
        processes.close_at_end_of_child(ending.close_all)
        processes.watch(self)
        processes.announce(self, opening.given(self._store, path))
        threads.install()
        hooks.opened(self)

    def _begin(self) -> None:
        """What is of this process: before the first event, and again in a forked child."""
        self._root = Frame(self, None, self.agent, None)
        self.under_way = UnderWay(self._clock)
        self.leaving = Leaving(self._frames)
        self.returns = Returns(self.under_way)
        self.pool_jobs = PoolJobs(self.under_way.now, lambda: self.last_seq)
        self._prompts = Prompts()

    def _recorder_of(self, store: RecordingStore) -> Recorder:
        scrubber = Scrubber(self._redactor, self._max_string)
        kind: type[Recorder] = getattr(store, "recorder", Recorder)  # a rerun's numbers otherwise
        return kind(
            store,
            clock=self._clock,
            default=jsonable.default,
            encode=jsonable.encode,
            scrub=scrubber.scrub,
            passes=scrubber.passes,
        )

    def _keep_behind_tape(self) -> None:
        moment: Callable[[], float] | None = getattr(self._store, "moment", None)  # of a rerun
        if moment is not None:
            self.under_way.follow(moment)

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def redactor(self) -> Redactor | None:
        """What takes secrets out of events; None when they are recorded as they are."""
        return self._redactor

    @property
    def max_string(self) -> int:
        """Characters of one string that are kept."""
        return self._max_string

    @property
    def last_seq(self) -> int:
        """Seq of the newest event; 0 before the first."""
        return self._recorder.seq

    def is_open(self, step: int) -> bool:
        """Whether this process has begun that step and not ended it."""
        return step in self._frames

    def _session(self) -> LCTLSession:
        return self

    def _place(self) -> tuple[str, int | None]:
        frame = self.frame()
        return frame.agent, frame.step

    def _milliseconds(self) -> float:
        return self._clock.monotonic_ns() / 1e6

    # -- closing ---------------------------------------------------------------------------------

    def close(self) -> None:
        """End what is open, write the log's tail and let the file go. May be called again."""
        with self._closing:
            if self.closed:
                return
            try:
                with self.undisturbed(), guard(f"the end of {self.path}"):
                    self._end()
            finally:  # where failures of ours raise, too
                self.closed = True
                threads.uninstall()
                processes.withdraw(self)
                ending.drop(self)

    def undisturbed(self) -> AbstractContextManager[None]:
        """What handlers of signals do, they do behind this: a log that is half closed has no end. Not where a
        store is waited for, which may be away."""
        return put_off() if getattr(self._store, "delivery", None) is None else nullcontext()

    def _end(self) -> None:
        if self.on_close is not None:
            self.on_close()
        for frame in self._open_frames():
            self.finish_step(frame, None, {"outcome": "aborted"})
        self._end_watch()
        unopened = self._forked and isinstance(self._recorder, UnopenedRecorder)
        if not unopened:
            hooks.closing(self)
            for order in (self.pool_jobs.data(self), self.returns.data()):
                if order is not None:
                    self._record("ambient", self.agent, order, None)
            hooks.closed(self)
        if not unopened:  # what other threads still record would be missing from the tail
            self._recorder.end(self._store.where)
            self._recorder = ClosedRecorder(self._recorder.seq, self._store.where)
        self.closed = True
        self._root.open = False
        ending.close(self._store, self._before, unopened, self.ended_as, self.lost)

    # -- after fork() ------------------------------------------------------------------------------

    def after_fork(self) -> None:
        """In the child: nothing more into the parent's log; a chain of its own from the first event on."""
        self._closing = threading.Lock()
        if self.closed:
            self._store.lock = threading.RLock()
            self._store.forget()  # a thread of the parent may be about to close it
            return
        self._forked = True
        self.found = 0
        self.follower = self._conversations = None
        self._watch = self._facts = None
        self.after_event = None
        self._frames.clear()
        self._streams.clear()
        self._begin()
        seq = self._recorder.seq
        self._recorder = UnopenedRecorder(lambda: self._open_child(seq))
        self._store.lock = threading.RLock()
        self._store.forget()
        frame = context.raw()
        if frame is not None and frame.session is self:
            context.set_current(self._root)

    def _open_child(self, seq: int) -> Recorder:
        """The forked child's own log, linked to its parent's at `seq`."""
        pid = os.getpid()
        above = link_to(self._store.chain, self.log_id, seq)
        if processes.born is not None:
            above["lane"] = processes.born
        chain = {**self._store.chain, "id": f"{self.log_id}-{pid}", "parent": above, "seed": opening.seed()}
        chain.pop("opened", None)
        path = naming.with_suffix(self._store.path, str(pid))
        self._store = opening.child_store(path, chain, self._durability, self._to)
        self._recorder = recorder = self._recorder_of(self._store)
        self._keep_behind_tape()
        self._checkpoints = ending.Checkpoints()
        self._watch = self._facts = None  # of facts asked for before the log was there
        processes.refresh(self)
        processes.close_at_end_of_child(ending.close_all)
        return recorder
