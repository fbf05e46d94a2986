"""Logical calls: one step for what the program asked, over as many attempts as it took.

An SDK's own retries are a loop above the transport. Where an integration opens the call above that
loop, all attempts are of one step; where none does, each attempt is a call of its own. A call is over
when the SDK's function has returned or raised *and* the body has ended, whichever is later: a stream
is read long after the function returned.

Two writes a call: prompt and `step_start` before the request leaves, so that a call that hangs or
dies is in the log; `exchange`, answer and `step_end` after. A failed attempt is written when it fails.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from lctl.clock import monotonic_ns
from lctl.guard import guard
from lctl.instrument import codecs
from lctl.instrument.attempts import Attempt, never_raises
from lctl.instrument.callevents import start_data
from lctl.instrument.concluding import Concluding
from lctl.instrument.headers import sent_headers, without_secrets
from lctl.instrument.recordings import recording_of
from lctl.interrupts import is_interrupt, is_stop, let_through
from lctl.record.recorder import Draft
from lctl.session.runs import told

if TYPE_CHECKING:
    from lctl.instrument.codecs.model import Codec, ModelRequest
    from lctl.instrument.keptpieces import Pieces
    from lctl.session import LCTLSession

_told = told.current.get

#: After these, clients ask at the new place without the body.
_REDIRECTS = (301, 302, 303)


class NoModelCall(Exception):
    """The path looked like a model call's, the body does not."""


def _unread_request(codec: Codec, operation: str) -> ModelRequest:
    """Of a streamed upload that nobody but its reader may touch."""
    from lctl.instrument.codecs.model import ModelRequest

    return ModelRequest(provider=codec.provider, operation=operation, kind="llm", model=None)


class Call(Concluding):
    """One logical call. Made by an integration above an SDK's retries, or by the wire for one attempt.

    Attributes:
        step: seq of its `step_start`, None until the first request leaves.
        attempts: how many requests have left so far.
        saw_other_traffic: a request that is no model call left meanwhile.
        sdk: the module of the SDK's function that asked.
    """

    # Defaults stand on the class: making a call then sets what differs, and no more.
    attempts = 0
    saw_other_traffic = False
    sdk = ""
    _active: Attempt | None = None
    _parent: int | None

    def __init__(self, session: LCTLSession, *, within_sdk: bool) -> None:
        self.session = session
        self._within_sdk = within_sdk

    @property
    def is_asked(self) -> bool:
        """Whether the SDK's function runs, which may make attempts of it."""
        return self._within_sdk

    # -- the wire: attempts ----------------------------------------------------------------

    def takes(self, session: LCTLSession, operation: str) -> bool:
        """Whether a request seen now is another attempt of this call, not a call made inside it."""
        return (
            self._within_sdk
            and self.session is session
            and (self.step is None or self._operation == operation)
            and self._active is None
        )

    def follows(self, url: str) -> tuple[Codec, str] | None:
        """How the answer is read of a GET to `url`, where that is what a client makes of this call by
        following a redirect; None of any other."""
        held = self._held
        if held is None or held.status not in _REDIRECTS or not self._within_sdk:
            return None
        there = urljoin(held.url, str(held.headers.get("location", "")))
        return (self._codec, self._operation) if urlsplit(there).path == urlsplit(url).path else None

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
                    let_through(error)
                    raise NoModelCall(str(error)) from error
            self._start()
        request: dict[str, Any] = {}
        if body is not None:
            request = {
                "hash": recording.digests.digest(body, self._request.read_from),
                "size": len(body),
            }
        sent = sent_headers(headers)
        kind = sent.pop("content-type", "application/json")
        if kind != "application/json":
            request["content_type"] = kind
        if sent.get("x-stainless-retry-count") == "0":
            del sent["x-stainless-retry-count"]
        if sent:
            request["headers"] = sent
        self.attempts += 1
        shown = url if self.session.redactor is None else without_secrets(url)
        self._active = attempt = Attempt(
            self, self.attempts, http, method, shown, request, self.session.under_way
        )
        recording.open[id(attempt)] = attempt
        return attempt

    def _start(self) -> None:
        if _told() is not None:
            told.seen()
        frame = self.session.frame()
        self._agent, self._parent = frame.agent, frame.step
        self._started_ns = monotonic_ns()
        stored = 0
        self._deferred = True
        try:
            stored = self._store(self._start_drafts)
        except BaseException:
            self._deferred = False  # it does not come later
            raise
        finally:
            if not stored and not self._is_stored():
                self.step = None  # nothing may refer to what is not in the log
        if self.step is not None:
            self.session.leaving.calls[self.step] = frame

    def _start_drafts(self, first: int) -> list[Draft]:
        self._planned = first
        self._deferred = False
        request, agent, parent = self._request, self._agent, self._parent
        conversations = self._recording.conversations
        plan = conversations.plan_request(request, first, agent, parent)
        self._leaf = leaf = plan.leaf
        drafts = plan.drafts
        self.step = first + len(drafts)
        tools = conversations.tools_fields(request) if request.tools else None
        data = start_data(request, leaf, tools)
        if plan.reserialized:
            data["reserialized"] = plan.reserialized
        drafts.append(("step_start", agent, data, parent))
        return drafts

    def keeps(self, attempt: Attempt) -> Pieces | None:
        """An answer begins to be streamed: what comes of it is kept until its message is in the log."""
        streams = self._recording.streams
        if streams is None or self.step is None or codecs.find("POST", attempt.url, {}) is None:
            return None
        head = {
            "time": self.session.clock.now(),
            "agent": self._agent,
            "step": self.step,
            "attempt": attempt.number,
            "parent": self._leaf,
            "fields": self._recording.conversations.fields_below(self._leaf),
            "redacted": self.session.redactor is not None,
            "url": attempt.url,
            "headers": {"content-type": attempt.headers.get("content-type", "")},
        }
        return streams.begin(attempt, head)

    def keeps_left(self) -> bool:
        return self._recording.keeps_left()

    def ended(self, attempt: Attempt) -> None:
        """An attempt is over (called by the attempt)."""
        self._active = None
        self._recording.open.pop(id(attempt), None)
        self._failed = attempt.error is not None or (attempt.status or 0) >= 400
        if not self._failed:
            if attempt.closed_early and not attempt.left and self._error is None and self.sdk:
                self._error = _raised_by(self.sdk)
            if self._within_sdk:
                self._held = attempt
            else:
                self._conclude(attempt, self._error)
        elif self._within_sdk:
            if self.step is not None and not self.session.closed:
                self._write_failure(attempt)  # the SDK may try again
        else:
            self._conclude(attempt, self._error)

    # -- the SDK: the call's own end -------------------------------------------------------

    def interrupted(self, error: BaseException) -> None:
        """`error`, a signal handler's perhaps, came while a request began or an attempt ended, and its
        transport may not have got to know of either. (Of an SDK's call the end is told by the SDK.)"""
        if self._within_sdk or not is_stop(error):
            return
        active = self._active
        if active is not None and active.over:  # all of its answer was there
            self.ended(active)
        else:
            self.raised(error)

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
        active = self._active
        if active is None:
            self._conclude(self._held, error)
        elif active.over:  # interrupted while it told us
            self.ended(active)
        elif (active.status is None and is_stop(error)) or _is_signal(error):
            active.failed(error)  # which came before the transport had begun with it, or nobody has its body


def _is_signal(error: BaseException) -> bool:
    return isinstance(error, KeyboardInterrupt) or is_interrupt(error)


def _raised_by(sdk: str) -> BaseException | None:
    """What the SDK's reader of a stream raises, which closes the response on its way out: there the exception
    has come no further than the reader. One of the program's own is there, too, but comes from elsewhere."""
    error = sys.exc_info()[1]
    if error is None or error.__traceback__ is None or isinstance(error, GeneratorExit):
        return None
    module = str(error.__traceback__.tb_frame.f_globals.get("__name__"))
    return error if module.partition(".")[0] == sdk.partition(".")[0] else None


# -- the call that the running code is inside of ---------------------------------------------

_current: ContextVar[Call | None] = ContextVar("lctl_call", default=None)
#: `set_call(call)`: attempts made in this context are its own, until `leave(token)`.
set_call = _current.set


def current_call() -> Call | None:
    """Not one that is over, which an interrupt has kept from being left."""
    call = _current.get()
    return call if call is not None and call.is_asked else None


def leave(token: Token[Call | None]) -> None:
    """What ends the call comes behind it in a `finally`: an interrupt may come here."""
    try:
        _current.reset(token)
    except ValueError as error:  # a coroutine closed by the garbage collector, in another context
        let_through(error)
