"""Logical calls: one step for what the program asked, over as many attempts as it took.

An SDK's own retries are a loop above the transport. Where an integration opens the call above that
loop, all attempts are of one step; where none does, each attempt is a call of its own. A call is over
when the SDK's function has returned or raised *and* the body has ended, whichever is later: a stream
is read long after the function returned.

Two writes a call: prompt and `step_start` before the request leaves, so that a call that hangs or
dies is in the log; `exchange`, answer and `step_end` after. A failed attempt is written when it fails.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from functools import partial
from os import getpid
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

from lctl.guard import guard
from lctl.instrument import failures
from lctl.instrument.attempts import CANCELLATIONS, Attempt, kept_headers, never_raises, text_of
from lctl.instrument.conversation import Conversations
from lctl.instrument.digests import BodyDigests
from lctl.record.recorder import Build

if TYPE_CHECKING:
    from lctl.instrument.codecs.model import Codec, ModelAnswer, ModelRequest
    from lctl.session import LCTLSession

#: As in `lctl.record.recorder`: (type, agent, data, step).
Draft = tuple[str, str, dict[str, Any], int | None]

# What the sampled message of a call with that outcome is.
_STATUSES = {"error": "error", "aborted": "aborted", "cancelled": "aborted"}


class Recording:
    """What capture remembers of one session in one process."""

    __slots__ = ("conversations", "digests", "open", "pid")

    def __init__(self, session: LCTLSession) -> None:
        self.conversations = Conversations(session.clock, session.graphs)
        session.on_tool_call = self.conversations.note_tool_event
        session.on_follow = partial(self.conversations.follow, lock=session.store.lock)
        if session.follower is not None:
            session.on_follow(session.tree)
        self.digests = BodyDigests()
        self.pid = getpid()
        self.open: dict[int, Attempt] = {}  # by id; attempts whose response has not ended
        session.on_close = self.close

    def close(self) -> None:
        """The session ends: what has arrived of the responses still open is recorded."""
        for attempt in list(self.open.values()):
            if attempt.status is not None:
                attempt.abandoned()


def recording_of(session: LCTLSession) -> Recording:
    """The session's own; a forked child, whose chain is another, begins anew."""
    # Kept on the session itself: it is asked for in every call and dies with the session.
    recording: Recording | None = session.__dict__.get("_recording")
    if recording is None or recording.pid != getpid():
        session.__dict__["_recording"] = recording = Recording(session)
    return recording


class NoModelCall(Exception):
    """The path looked like a model call's, the body does not."""


def _unread_request(codec: Codec, operation: str) -> ModelRequest:
    """Of a streamed upload that nobody but its reader may touch."""
    from lctl.instrument.codecs.model import ModelRequest

    return ModelRequest(provider=codec.provider, operation=operation, kind="llm", model=None)


class Call:
    """One logical call. Made by an integration above an SDK's retries, or by the wire for one attempt.

    Attributes:
        step: seq of its `step_start`, None until the first request leaves.
        attempts: how many requests have left so far.
        saw_other_traffic: a request that is no model call left meanwhile.
    """

    __slots__ = (
        "_active",
        "_agent",
        "_closed",
        "_codec",
        "_deferred",
        "_error",
        "_failed",
        "_held",
        "_leaf",
        "_operation",
        "_recording",
        "_request",
        "_started_ns",
        "_within_sdk",
        "attempts",
        "saw_other_traffic",
        "session",
        "step",
    )

    def __init__(self, session: LCTLSession, *, within_sdk: bool) -> None:
        self.session = session
        self.step: int | None = None
        self.attempts = 0
        self.saw_other_traffic = False
        self._within_sdk = within_sdk
        self._active: Attempt | None = None
        self._held: Attempt | None = None  # answered, while the SDK has not returned
        self._error: BaseException | None = None  # what the SDK raised while a body was open
        self._failed = False  # the attempt before
        self._closed = False
        self._deferred = False  # made inside a recording call: its events are stored after that one's

    # -- the wire: attempts ----------------------------------------------------------------

    def takes(self, session: LCTLSession, operation: str) -> bool:
        """Whether a request seen now is another attempt of this call, not a call made inside it."""
        return (
            self._within_sdk
            and self.session is session
            and (self.step is None or self._operation == operation)
            and self._active is None
        )

    def begin(
        self,
        codec: Codec,
        operation: str,
        http: str,
        method: str,
        url: str,
        headers: Any,
        body: bytes | None,
    ) -> Attempt:
        """A request is about to leave. When this returns, the step is in the log."""
        recording = recording_of(self.session)
        if self._held is not None:  # answered, and yet the SDK asks again
            self._write_exchange(self._held)
            self._held = None
        if self.step is None and not self._deferred:
            self._codec = codec
            self._operation = operation
            self._recording = recording
            if body is None:
                self._request = _unread_request(codec, operation)
            else:
                try:
                    self._request = recording.conversations.read_request(codec, operation, url, body)
                except ValueError as error:
                    raise NoModelCall(str(error)) from error
            self._start()
        request: dict[str, Any] = {}
        if body is not None:
            request = {"hash": recording.digests.digest(body), "size": len(body)}
        sent = kept_headers(headers)
        kind = sent.pop("content-type", "application/json")
        if kind != "application/json":
            request["content_type"] = kind
        if sent.get("x-stainless-retry-count") == "0":
            del sent["x-stainless-retry-count"]
        if sent:
            request["headers"] = sent
        self.attempts += 1
        self._active = attempt = Attempt(
            self, self.attempts, http, method, url, request, self.session.under_way
        )
        recording.open[id(attempt)] = attempt
        return attempt

    def _start(self) -> None:
        request = self._request
        frame = self.session.frame()
        agent, parent = frame.agent, frame.step
        self._agent = agent

        def build(first: int) -> list[Draft]:
            self._deferred = False
            conversations = self._recording.conversations
            plan = conversations.plan_request(request, first, agent, parent)
            self._leaf = plan.leaf
            drafts = plan.drafts
            self.step = first + len(drafts)
            data = _start_data(
                request, plan.leaf, conversations.tools_fields(request) if request.tools else None
            )
            drafts.append(("step_start", agent, data, parent))
            return drafts

        self._started_ns = monotonic_ns()
        stored = 0
        self._deferred = True
        try:
            stored = self._store(build)
        finally:
            if not stored:
                self.step = None  # nothing may refer to what is not in the log

    def _store(self, build: Build) -> int:
        """Record what `build` drafts; where that cannot be, the conversation is as it was before."""
        planned: list[int] = []

        def noting(first: int) -> list[Draft]:
            planned.append(first)
            return build(first)

        stored = 0
        try:
            stored = self.session.emit_many(noting, True)
        finally:
            if planned and not stored:
                self._recording.conversations.rollback(planned[0])
        return stored

    def ended(self, attempt: Attempt) -> None:
        """An attempt is over (called by the attempt)."""
        self._active = None
        self._recording.open.pop(id(attempt), None)
        self._failed = attempt.error is not None or (attempt.status or 0) >= 400
        if not self._failed:
            if self._within_sdk:
                self._held = attempt
            else:
                self._conclude(attempt, self._error)
        elif self._within_sdk:
            if self.step is not None:
                self._write_failure(attempt)  # the SDK may try again
        else:
            self._conclude(attempt, self._error)

    # -- the SDK: the call's own end -------------------------------------------------------

    def returned(self) -> None:
        """The SDK's function returned; a stream's body may still be open."""
        self._within_sdk = False
        if self._active is None:
            try:
                self._conclude(self._held, None)
            except Exception as error:
                if guard.policy == "raise":
                    raise
                guard.failed("the return of a model call", error)

    @never_raises("the failure of a model call")
    def raised(self, error: BaseException) -> None:
        """The SDK's function raised `error`."""
        self._within_sdk = False
        self._error = error
        if self._active is None:
            self._conclude(self._held, error)

    # -- events ----------------------------------------------------------------------------

    def _read(self, attempt: Attempt) -> ModelAnswer:
        answer = self._codec.read_answer(self._operation, attempt.status or 0, attempt.headers, attempt.body)
        if attempt.error is not None:
            answer.complete = False
        return answer

    def _write_exchange(self, attempt: Attempt) -> None:
        self.session.emit_many(lambda first: [("exchange", self._agent, attempt.data({}, True), self.step)])

    def _write_failure(self, attempt: Attempt) -> None:
        answer = self._read(attempt) if attempt.status is not None else None
        drafts: list[Draft] = [("exchange", self._agent, attempt.data({}, attempt.error is None), self.step)]
        drafts += self._attempt_error(attempt, answer)
        self.session.emit_many(lambda first: drafts)

    def _conclude(self, attempt: Attempt | None, error: BaseException | None) -> None:
        """Everything there is to say once both ends are known, in one write."""
        if self._closed or (self.step is None and not self._deferred) or self.session.closed:
            return
        if self._recording.pid != getpid():
            return  # in a forked child the call is its parent's
        self._closed = True
        returns = self.session.returns
        returning, seq = returns.begin(), 0
        try:
            seq = self._write_end(attempt, error)
        except Exception as failure:
            if guard.policy == "raise":
                raise
            guard.failed("the answer of a model call", failure)
            self._write_bare_end(attempt, error)
        if attempt is not None and attempt.closes and attempt is not self._held:
            attempt.returning = returns, returning, seq
        else:
            returns.end(returning, seq)

    def _write_end(self, attempt: Attempt | None, error: BaseException | None) -> int:
        """The seq of the exchange; 0 where there is none."""
        answer = None
        if attempt is not None and attempt.status is not None:
            answer = self._read(attempt)
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
        outcome = _outcome(attempt, answer, error)
        if attempt is None and self._failed and outcome == "success":
            outcome = "error"  # a library that returns error statuses instead of raising
        end: dict[str, Any] = {"outcome": outcome}
        status = _STATUSES.get(outcome, "complete" if answer is None or answer.complete else "aborted")

        def build(first: int) -> list[Draft]:
            if attempt is None:
                return [*self._sdk_error(None, error), self._end_draft(end, None, error)]
            messages: list[Draft] = []
            ids: list[str] = []
            if answer is not None:
                messages, ids = self._recording.conversations.plan_answer(
                    answer, self._request, self._leaf, first + 1, self._agent, self.step, status=status
                )
                _add_answer(end, answer, ids)
                if error is not None and not ids and outcome == "success":
                    end["outcome"] = "error"  # an answer that nobody could read
            texts = {d[2]["message_id"]: d[2] for d in messages if d[0] == "message"}
            if self.session.redactor is not None and attempt.is_pieced:
                attempt.conceal(self.session.redactor, texts.values())
            complete = attempt.error is None and (
                not attempt.closed_early or bool(answer and answer.complete)
            )
            drafts: list[Draft] = [("exchange", self._agent, attempt.data(texts, complete), self.step)]
            drafts += messages
            drafts += self._attempt_error(attempt, answer) or self._sdk_error(attempt, error)
            drafts.append(self._end_draft(end, attempt, error))
            return drafts

        first = self._store(build)
        return 0 if attempt is None else first

    def _write_success(self, attempt: Attempt, answer: ModelAnswer) -> int:
        """`_write_end` of what nearly every call is."""

        def build(first: int) -> list[Draft]:
            agent, step = self._agent, self.step
            messages, ids = self._recording.conversations.plan_answer(
                answer, self._request, self._leaf, first + 1, agent, step, status="complete"
            )
            texts = {data["message_id"]: data for kind, _, data, _ in messages if kind == "message"}
            if self.session.redactor is not None and attempt.is_pieced:
                attempt.conceal(self.session.redactor, texts.values())
            end: dict[str, Any] = {"outcome": "success"}
            _add_answer(end, answer, ids)
            messages.insert(0, ("exchange", agent, attempt.data(texts, True), step))
            messages.append(self._end_draft(end, attempt, None))
            return messages

        return self._store(build)

    def _write_bare_end(self, attempt: Attempt | None, error: BaseException | None) -> None:
        """The answer could not be written; that the call is over still can."""
        with guard("the end of a model call"):
            end = {"outcome": _outcome(attempt, None, error)}
            self.session.emit_many(lambda first: [self._end_draft(end, attempt, error)])

    def _end_draft(self, end: dict[str, Any], attempt: Attempt | None, error: BaseException | None) -> Draft:
        now = monotonic_ns()
        end["duration_ms"] = (now - self._started_ns) // 1000 / 1000
        if (
            attempt is not None
            and attempt.chunks
            and "event-stream" in attempt.headers.get("content-type", "")
        ):
            end["first_chunk_ms"] = (attempt.chunks[0][0] - self._started_ns) // 1000 / 1000
        if error is not None and not is_cancellation(error):
            end["exception"] = failures.name_of(error)
        return ("step_end", self._agent, end, self.step)

    def _attempt_error(self, attempt: Attempt, answer: ModelAnswer | None) -> list[Draft]:
        """The `error` event of an attempt that failed, [] of one that did not (or was cancelled)."""
        raised = attempt.error
        said = answer.error if answer is not None else None
        if raised is not None and (is_cancellation(raised) or isinstance(raised, GeneratorExit)):
            return []
        if (attempt.status or 0) >= 400 or (said and raised is None):
            kind = failures.of_status(attempt.status or 0, said)
            message = str((said or {}).get("message") or f"HTTP status {attempt.status}")[:2000]
        elif raised is not None:
            kind, message = failures.of_exception(raised), text_of(raised)
        else:
            return []
        facts: dict[str, Any] = {"attempt": attempt.number}
        if attempt.status is not None:
            facts["status"] = attempt.status
        if raised is not None:
            facts["exception"] = failures.name_of(raised)
        elif said:
            facts.update({key: said[key] for key in ("type", "code") if said.get(key) is not None})
        return [self._error_draft(kind, message, facts)]

    def _sdk_error(self, attempt: Attempt | None, error: BaseException | None) -> list[Draft]:
        """The `error` event of an SDK that raised at a good answer. The call stands as answered."""
        if error is None or attempt is None or is_cancellation(error):
            return []
        facts = {"attempt": attempt.number, "status": attempt.status, "exception": failures.name_of(error)}
        return [self._error_draft(failures.of_sdk(error), text_of(error), facts)]

    def _error_draft(self, kind: failures.Kind, message: str, facts: dict[str, Any]) -> Draft:
        data = {
            "category": kind.category,
            "type": kind.type,
            "message": message,
            "recoverable": kind.recoverable,
            "suggested_action": kind.suggested_action,
            "context": facts,
        }
        return ("error", self._agent, data, self.step)


def is_cancellation(error: BaseException) -> bool:
    """Whether `error` is the host stopping the call (a cancelled task, Ctrl-C, exit), not a failure."""
    return type(error).__name__ in CANCELLATIONS


def _outcome(attempt: Attempt | None, answer: ModelAnswer | None, error: BaseException | None) -> str:
    seen = attempt.error if attempt is not None else None
    for raised in (seen, error):
        if raised is not None and is_cancellation(raised):
            return "cancelled"
    if attempt is None:
        return "success" if error is None else "error"
    if isinstance(seen, GeneratorExit):
        return "aborted"
    if seen is not None or (attempt.status or 0) >= 400 or (answer is not None and answer.error):
        return "error"
    if attempt.closed_early and not (answer is not None and answer.complete):
        return "aborted"
    return "success"


def _start_data(request: ModelRequest, leaf: str | None, tools: dict[str, Any] | None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "kind": request.kind,
        "intent": request.operation,
        "model": request.model,
        "provider": request.provider,
        "operation": request.operation,
    }
    if leaf is not None:
        data["prompt"] = leaf
    if tools:
        data.update(tools)
    if request.params:
        data["params"] = request.params
    if request.stream:
        data["stream"] = True
    if request.input is not None:
        data["input"] = request.input
    return data


def _add_answer(end: dict[str, Any], answer: ModelAnswer, ids: list[str]) -> None:
    if ids:
        end["message"] = ids[0]
        if len(ids) > 1:
            end["messages"] = ids
    if answer.model is not None:
        end["model"] = answer.model
    if answer.response_id is not None:
        end["response_id"] = answer.response_id
    if answer.finish_reason is not None:
        end["finish_reason"] = answer.finish_reason
    if answer.tokens is not None:
        end["tokens"] = answer.tokens
    if answer.embedding is not None:
        end["embedding"] = answer.embedding


# -- the call that the running code is inside of ---------------------------------------------

_current: ContextVar[Call | None] = ContextVar("lctl_call", default=None)
current_call = _current.get
#: `set_call(call)`: attempts made in this context are its own, until `leave(token)`.
set_call = _current.set


def leave(token: Token[Call | None]) -> None:
    try:
        _current.reset(token)
    except ValueError:  # a coroutine closed by the garbage collector, in another context
        pass
