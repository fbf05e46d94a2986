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
from lctl.instrument.attempts import Attempt, never_raises
from lctl.instrument.calls import Call, NoModelCall, current_call, set_call
from lctl.instrument.plain import PlainExchange
from lctl.instrument.recordings import awaits
from lctl.instrument.suppress import silenced
from lctl.session import ownports
from lctl.session.default import get_session, has_ended, is_enabled, running

if TYPE_CHECKING:
    from lctl.instrument.codecs.model import Codec
    from lctl.session import LCTLSession

#: A request worth recording: (session, method, url, codec, operation). The codec is None for plain
#: traffic (`record="full"`).
Seen: TypeAlias = "tuple[LCTLSession, str, str, Codec | None, str]"

#: The method of the start of a process that makes model calls itself: what it says is all there is of them,
#: and kept in every recording.
SPAWN = "SPAWN"

#: The session that code running here records into: its context's, else the program's default, if
#: `auto_instrument()` was called; that one opens at the first event.
session_here = get_session


def open_call_here(address: object = None) -> tuple[Call, Token[Call | None]] | None:
    """For those above an SDK's retries: open a call, or None where nothing is recorded.

    Args:
        address: as of `recognise`, where the first request's is known.
    """
    try:
        if silenced() or (address is not None and running() is None and not _may_be_model_call(str(address))):
            return None
        session = session_here()
        if session is None:
            return None
        call = Call(session, within_sdk=True)
        return call, set_call(call)
    except Exception as error:
        _failed("the start of a model call", error)
        return None


def _may_be_model_call(url: str) -> bool:
    return not traffic.is_upload("POST", url) or codecs.find("POST", url, {}) is not None


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
        session = running()
        if session is None:
            session = _opened_for(method, address, headers) if is_enabled() else None
            if session is None:
                return None
        url = str(address)
        found = codecs.find(method, url, headers) or followed(method, url)
        if found is not None:
            return (session, method, url, *found)
        return other(session, method, url)
    except Exception as error:
        _failed("a request", error)
        return None


def followed(method: str, url: str) -> tuple[Codec, str] | None:
    """The codec and operation of a request by which a client follows the redirect of a model call."""
    call = current_call() if method == "GET" else None
    return None if call is None else call.follows(url)


def _opened_for(method: str, address: object, headers: Any) -> LCTLSession | None:
    """The default session. Not for what tools send when the program is over and its log closed."""
    url = str(address)
    if codecs.find(method, url, headers) is None and (has_ended() or traffic.is_upload(method, url)):
        traffic.count(method, url)
        return None
    return session_here()


def _failed(place: str, error: Exception) -> None:
    if guard.policy == "raise":
        raise error
    guard.failed(place, error)


def is_answered_here(method: str, url: str) -> bool:
    """Whether a server of this process answers what is no model call. One of models is one all the same."""
    return ownports.answers(url) and not traffic.is_kept(method, url)


def other(session: LCTLSession, method: str, url: str) -> Seen | None:
    """Traffic that is no model call."""
    if is_answered_here(method, url):
        return None
    call = current_call()
    if call is not None:
        call.saw_other_traffic = True
    if traffic.count(method, url):
        return None
    if settings.full or method == SPAWN or traffic.is_kept(method, url) or awaits(session, url):
        return session, method, url, None, ""
    return None


def begin(seen: Seen, http: str, headers: Any, body: bytes | None) -> Attempt | None:
    """Record that the request leaves now. `headers` are (name, value) pairs; `body` None if unknown."""
    session, method, url, codec, operation = seen
    call: Call | None = None
    try:
        if codec is None:
            return _plain(session, method, url).begin(http, method, url, headers, body)
        call = current_call()
        if call is None or not call.takes(session, operation):
            call = Call(session, within_sdk=False)
        return call.begin(codec, operation, http, method, url, headers, body)
    except NoModelCall:
        return _begin_other(seen, http, headers, body)
    except BaseException as error:
        if call is not None:
            call.interrupted(error)
        if not isinstance(error, Exception):
            raise
        _failed("the start of a model call", error)
        return None


def _plain(session: LCTLSession, method: str, url: str) -> PlainExchange:
    id = url if awaits(session, url) else traffic.response_of(method, url)
    if id is None:
        if traffic.is_about_threads(method, url):
            from lctl.instrument.threadtraffic import ThreadExchange

            return ThreadExchange(session)
        return PlainExchange(session)
    from lctl.instrument.background import Poll  # here: few programs have any

    return Poll(session, id, method)


@never_raises("a request")
def _begin_other(seen: Seen, http: str, headers: Any, body: bytes | None) -> Attempt | None:
    """Another service's path may end as a provider's does; the body has told."""
    session, method, url, _, _ = seen
    if not is_answered_here(method, url) and not traffic.count(method, url) and settings.full:
        return PlainExchange(session).begin(http, method, url, headers, body)
    return None
