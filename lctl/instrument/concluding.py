"""How a call is written to its end: the exchange, what was sampled, what failed, the end of the step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lctl.clock import monotonic_ns
from lctl.guard import guard
from lctl.instrument.attempts import Attempt
from lctl.instrument.callevents import (
    STATUSES,
    add_answer,
    attempt_error,
    is_cancellation,
    no_answer,
    outcome_of,
    sdk_error,
)
from lctl.interrupts import is_stop
from lctl.record.recorder import Build, Draft
from lctl.session.concurrency import processes
from lctl.trust import taxonomy

if TYPE_CHECKING:
    from lctl.instrument.codecs.model import Codec, ModelAnswer, ModelRequest
    from lctl.instrument.recordings import Recording
    from lctl.session import LCTLSession


#: In these first bytes a line has said its step, which a name of an agent stands before.
_ENVELOPE = 256


class Concluding:
    """Mixed into `Call`, which knows when."""

    # Defaults stand on the class: making a call then sets what differs, and no more.
    step: int | None = None
    session: LCTLSession
    _held: Attempt | None = None  # answered, while the SDK has not returned
    _error: BaseException | None = None  # what the SDK raised while a body was open
    _failed = False  # the attempt before
    _closed = False
    _deferred = False  # made inside a recording call: its events are stored after that one's
    _planned = 0  # the first seq of what is being written, once that is known
    _leaf: str | None = None
    _operation = ""
    _agent: str
    _codec: Codec
    _recording: Recording
    _request: ModelRequest
    _started_ns: int

    def _store(self, build: Build) -> int:
        """Record what `build` drafts, which notes the first seq in `_planned`; where that cannot be, the
        conversation is as it was before."""
        self._planned = stored = 0
        try:
            stored = self.session.emit_many(build, True)
        finally:
            if not stored and self._planned and not self._is_stored():
                self._recording.conversations.rollback(self._planned)
        return stored

    def _is_stored(self) -> bool:
        """Whether what was planned is in the log though writing it was interrupted."""
        planned, step = self._planned, self.step or 0
        if not planned:
            return False
        if step < planned:
            mark = b'"step":%d,' % step
            return any(mark in line[:_ENVELOPE] for line in self.session.store.read(planned, planned + 1))
        mark = b'"prompt":"%b"' % (self._leaf or "").encode()  # its beginning, of which the step comes last
        return any(mark in line for line in self.session.store.read(step, step + 1))

    def _write_exchange(self, attempt: Attempt) -> None:
        self.session.emit_many(lambda first: [("exchange", self._agent, attempt.data({}, True), self.step)])
        if attempt.is_stream:
            attempt.settled()

    def _write_failure(self, attempt: Attempt) -> None:
        answer = None
        if attempt.status is not None:
            answer = self._codec.read_answer(self._operation, attempt.status, attempt.headers, attempt.body)
            answer.complete = answer.complete and attempt.error is None
        drafts: list[Draft] = [("exchange", self._agent, attempt.data({}, attempt.error is None), self.step)]
        drafts += self._errors(attempt_error(attempt, answer))
        self.session.emit_many(lambda first: drafts)
        if attempt.is_stream:
            attempt.settled()

    def _conclude(self, attempt: Attempt | None, error: BaseException | None) -> None:
        """Everything there is to say once both ends are known, in one write."""
        session = self.session
        if self._closed or (self.step is None and not self._deferred) or session.closed:
            return
        if self._recording.forks != processes.forks:
            return  # in a forked child the call is its parent's
        returns = session.returns
        interrupt: BaseException | None = None
        seq = 0
        if attempt is None:
            returning = returns.begin()
        else:  # what was left of a stream is written when the session ends
            returning = returns.begin(attempt.lane, 0 if attempt.left else attempt.ended_ns)
        self._planned = 0
        self._closed = True  # not sooner: an interrupt may come that has this done again
        try:
            seq = self._write_end(attempt, error)
        except BaseException as failure:
            if is_stop(failure):
                interrupt = failure
                seq = self._write_interrupted(attempt, error)
            elif guard.policy == "raise":
                raise
            else:
                guard.failed("the answer of a model call", failure)
                self._write_bare_end(attempt, error)
        if self.step is not None:
            session.call_ended(self.step, late=attempt is not None and attempt.left)
        if attempt is not None and attempt.is_stream:
            attempt.settled()
        if attempt is not None and attempt.closes and attempt is not self._held:
            attempt.returning = returns, returning, seq
        else:
            returns.end(returning, seq)
        self._held = self._error = None  # each holds us: nothing is to be left to the garbage collector
        if interrupt is not None:
            raise interrupt

    def _write_interrupted(self, attempt: Attempt | None, error: BaseException | None) -> int:
        """A signal came while the end was written, which is the program's; the answer had been received."""
        if self._planned and self._is_stored():
            return self._planned
        with guard("the answer of a model call"):
            return self._write_end(attempt, error)
        return 0

    def _write_end(self, attempt: Attempt | None, error: BaseException | None) -> int:
        """The seq of the exchange; 0 where there is none."""
        answer = None
        if attempt is not None and attempt.status is not None:
            answer = self._codec.read_answer(self._operation, attempt.status, attempt.headers, attempt.body)
            if attempt.error is not None:
                answer.complete = False
            elif not answer.messages and error is None and answer.says_nothing:
                answer.error = no_answer(attempt)
        if (
            error is None
            and attempt is not None
            and answer is not None
            and answer.complete
            and answer.error is None
            and attempt.error is None
            and attempt.status == 200
        ):
            return self._write_success(attempt, answer)
        outcome = outcome_of(attempt, answer, error)
        if attempt is None and self._failed and outcome == "success":
            outcome = "error"  # a library that returns error statuses instead of raising
        end: dict[str, Any] = {"outcome": outcome}
        status = STATUSES.get(outcome, "complete" if answer is None or answer.complete else "aborted")

        def build(first: int) -> list[Draft]:
            self._planned = first
            if attempt is None:
                return [*self._errors(sdk_error(None, error)), self._end_draft(end, None, error)]
            messages: list[Draft] = []
            ids: list[str] = []
            if answer is not None:
                messages, ids = self._recording.conversations.plan_answer(
                    answer, self._request, self._leaf, first + 1, self._agent, self.step, status=status
                )
                add_answer(end, answer, ids)
                if error is not None and not ids and outcome == "success":
                    end["outcome"] = "error"  # an answer that nobody could read
            complete = attempt.error is None and (
                not attempt.closed_early or bool(answer and answer.complete)
            )
            drafts: list[Draft] = [
                ("exchange", self._agent, self._exchange(attempt, messages, complete), self.step)
            ]
            drafts += messages
            drafts += self._errors(attempt_error(attempt, answer) or sdk_error(attempt, error))
            drafts.append(self._end_draft(end, attempt, error))
            return drafts

        first = self._store(build)
        return 0 if attempt is None else first

    def _write_success(self, attempt: Attempt, answer: ModelAnswer) -> int:
        """`_write_end` of what nearly every call is."""

        def build(first: int) -> list[Draft]:
            self._planned = first
            agent, step = self._agent, self.step
            messages, ids = self._recording.conversations.plan_answer(
                answer, self._request, self._leaf, first + 1, agent, step, status="complete"
            )
            end: dict[str, Any] = {"outcome": "success"}
            add_answer(end, answer, ids)
            messages.insert(0, ("exchange", agent, self._exchange(attempt, messages, True), step))
            messages.append(self._end_draft(end, attempt, None))
            return messages

        return self._store(build)

    def _exchange(self, attempt: Attempt, messages: list[Draft], complete: bool) -> dict[str, Any]:
        """The data of the attempt's event, referring to what the drafts of its messages hold."""
        texts = {}
        for kind, _, data, _ in messages:
            if kind == "message":
                texts[data["message_id"]] = data
        redactor = self.session.redactor
        if redactor is not None and (attempt.is_stream or attempt.is_pieced):
            attempt.conceal(redactor, texts.values())
        return attempt.data(texts, complete)

    def _write_bare_end(self, attempt: Attempt | None, error: BaseException | None) -> None:
        """The answer could not be written; that the call is over still can."""
        with guard("the end of a model call"):
            end = {"outcome": outcome_of(attempt, None, error)}
            self.session.emit_many(lambda first: [self._end_draft(end, attempt, error)])

    def _end_draft(self, end: dict[str, Any], attempt: Attempt | None, error: BaseException | None) -> Draft:
        ended_ns = attempt.ended_ns if attempt is not None and attempt.left else monotonic_ns()
        end["duration_ms"] = (ended_ns - self._started_ns) // 1000 / 1000
        if (
            attempt is not None
            and attempt.is_stream
            and attempt.chunks
            and "event-stream" in attempt.headers.get("content-type", "")
        ):
            end["first_chunk_ms"] = (attempt.chunks[0][0] - self._started_ns) // 1000 / 1000
        if error is not None and not is_cancellation(error):
            end["exception"] = taxonomy.name_of(error)
        return ("step_end", self._agent, end, self.step)

    def _errors(self, data: dict[str, Any] | None) -> list[Draft]:
        return [] if data is None else [("error", self._agent, data, self.step)]
