"""The door between transports and calls: is this request a model call, and into which session?

seen = wire.recognise(method, url, headers)     # None: let it pass
attempt = wire.begin(seen, "httpx", headers, body)
...                                             # attempt.answered, .chunks, .end, .closed, .failed
"""

from __future__ import annotations

from contextvars import Token
from typing import TYPE_CHECKING, Any, TypeAlias

from lctl.guard import guard
from lctl.instrument import codecs, settings, traffic
from lctl.instrument.attempts import Attempt, kept_headers, never_raises
from lctl.instrument.calls import Call, NoModelCall, current_call, set_call
from lctl.instrument.suppress import silenced
from lctl.session.default import get_session

if TYPE_CHECKING:
    from lctl.instrument.codecs.model import Codec
    from lctl.session import LCTLSession

# A download recorded as plain traffic keeps this much of its body.
_MOST_KEPT = 1_000_000


#: A request worth recording: (session, method, url, codec, operation). The codec is None for plain
#: traffic (`record="full"`).
Seen: TypeAlias = "tuple[LCTLSession, str, str, Codec | None, str]"


#: The session that code running here records into: its context's, else the program's default, if
#: `auto_instrument()` was called; that one opens at the first event.
session_here = get_session


def open_call_here() -> tuple[Call, Token[Call | None]] | None:
    """For those above an SDK's retries: open a call, or None where nothing is recorded."""
    try:
        if silenced():
            return None
        session = session_here()
        if session is None:
            return None
        call = Call(session, within_sdk=True)
        return call, set_call(call)
    except Exception as error:
        _failed("the start of a model call", error)
        return None


# `recognise` and `begin` run before every request and guard themselves: a decorator is one call more.


def recognise(method: str, address: object, headers: Any) -> Seen | None:
    """What to do with a request about to leave.

    Args:
        address: the URL, or an object whose `str()` is it; not formatted where nothing is recorded.
        headers: a mapping of names to text.
    """
    try:
        if silenced():
            return None
        session = session_here()
        if session is None:
            return None
        url = str(address)
        found = codecs.find(method, url, headers)
        if found is not None:
            return (session, method, url, *found)
        return _other(session, method, url)
    except Exception as error:
        _failed("a request", error)
        return None


def _failed(place: str, error: Exception) -> None:
    if guard.policy == "raise":
        raise error
    guard.failed(place, error)


def _other(session: LCTLSession, method: str, url: str) -> Seen | None:
    """Traffic that is no model call."""
    call = current_call()
    if call is not None:
        call.saw_other_traffic = True
    if not traffic.count(url) and settings.full:
        return session, method, url, None, ""
    return None


def begin(seen: Seen, http: str, headers: Any, body: bytes | None) -> Attempt | None:
    """Record that the request leaves now. `headers` are (name, value) pairs; `body` None if unknown."""
    session, method, url, codec, operation = seen
    try:
        if codec is None:
            return _PlainExchange(session).begin(http, method, url, headers, body)
        call = current_call()
        if call is None or not call.takes(session, operation):
            call = Call(session, within_sdk=False)
        return call.begin(codec, operation, http, method, url, headers, body)
    except NoModelCall:
        return _begin_other(seen, http, headers, body)
    except Exception as error:
        _failed("the start of a model call", error)
        return None


@never_raises("a request")
def _begin_other(seen: Seen, http: str, headers: Any, body: bytes | None) -> Attempt | None:
    """Another service's path may end as a provider's does; the body has told."""
    session, method, url, _, _ = seen
    if not traffic.count(url) and settings.full:
        return _PlainExchange(session).begin(http, method, url, headers, body)
    return None


class _PlainExchange:
    """One exchange that is no model call: a single event, when it is over."""

    def __init__(self, session: LCTLSession) -> None:
        self._session = session
        frame = session.frame()
        self._agent, self._step = frame.agent, frame.step

    def begin(self, http: str, method: str, url: str, headers: Any, body: bytes | None) -> Attempt:
        from lctl.instrument.bodies import store_body

        request: dict[str, Any] = {}
        if body is not None:
            request["size"] = len(body)
            request["body"] = store_body(body[:_MOST_KEPT], {})
        sent = kept_headers(headers)
        if sent:
            request["headers"] = sent
        attempt = Attempt(self, 1, http, method, url, request)
        attempt.chunks = _Bounded()
        return attempt

    def ended(self, attempt: Attempt) -> None:
        cut = isinstance(attempt.chunks, _Bounded) and attempt.chunks.dropped
        if attempt.is_stream and attempt.chunks and self._session.redactor is not None:
            attempt.conceal(self._session.redactor, None)
        data = {"kind": "http", **attempt.data({}, attempt.error is None and not attempt.closed_early)}
        if cut:
            data["dropped"] = cut
        self._session.emit_many(lambda first: [("exchange", self._agent, data, self._step)])


class _Bounded(list[tuple[int, bytes]]):
    """Chunks up to `_MOST_KEPT` bytes; counts the bytes it dropped after that."""

    def __init__(self) -> None:
        super().__init__()
        self._size = 0
        self.dropped = 0

    def append(self, chunk: tuple[int, bytes]) -> None:
        self._size += len(chunk[1])
        if self._size > _MOST_KEPT:
            self.dropped += len(chunk[1])
        else:
            super().append(chunk)
