"""What came back on an attempt, read once it is over: the body as it was meant, and the `exchange` event."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lctl.instrument import bodies, encodings, settings
from lctl.instrument.codecs import aws
from lctl.instrument.headers import phrase
from lctl.interrupts import RAISED, let_through

if TYPE_CHECKING:
    from lctl.session.concurrency.underway import Moment, UnderWay
    from lctl.session.redaction.redact import Redactor

# By name, because anyio, trio and asyncio each have their own and none may be imported here.
CANCELLATIONS = frozenset({"CancelledError", "Cancelled", "KeyboardInterrupt", "SystemExit"})


class Received:
    """The reading side of an attempt, whose attributes it has.

    Attributes:
        url: as it may be recorded.
        reason: that was sent with the status; and `spelled`: names of headers as they were, where they have
            other letters than small ones. Kept where all that a program reads is.
        chunks: (monotonic ns, raw bytes) as they passed; transports append to it themselves.
        error: what the transport raised, before or in the middle of the body.
        is_stream: the body is a stream of events, whose chunks and times are kept; known when answered.
        turns: of an event loop that each chunk reached, counted from what reached that before.
        behinds: of the head (0) and of chunks (from 1), how many of the program's own callbacks ran behind
            them in their turns, where any did (see `lctl.session.concurrency.turnplaces`).
        head: when the head of a stream came (monotonic ns), and as `turns`.
        closed_early: the host closed the response before its end was read.
        left: of a stream: it did not even that. It was collected, or open when the session ended.
        raw: the host reads the body as it came, content-encoding not undone.
        with_head: the body was there when the head was taken, by a program that had waited for that.
        unsent: the request has not left yet; transports that can tell say so.
        match: in a rerun, how it was answered, unless exactly.
    """

    # Defaults stand on the class: making an attempt then sets what differs, and no more.
    status: int | None = None
    reason: str | None = None
    spelled: Mapping[str, str] = MappingProxyType({})
    error: BaseException | None = None
    closed_early = False
    left = False
    match: str | None = None
    unsent = False
    with_head = False
    raw = False
    ended_ns = 0
    is_stream = False
    turns: list[int] | None = None
    behinds: dict[int, int] | None = None
    head: tuple[int, int | None] | None = None
    _body: list[bytes] | None = None
    _encoding: str | None = None

    number: int
    http: str
    method: str
    url: str
    request: dict[str, Any]
    headers: dict[str, Any]
    chunks: list[tuple[int, bytes]]
    started_ns: int
    _under_way: UnderWay
    _moment: Moment

    @property
    def body(self) -> list[bytes]:
        """The chunks with content-encoding undone; then that header is gone. Kept: raw, if it cannot be."""
        if self._body is None:
            chunks = self.chunks
            raw = [chunks[0][1]] if len(chunks) == 1 else [chunk for _, chunk in chunks]
            encoding = self.headers.get("content-encoding")
            if not encoding:
                self._body = raw
                return raw
            decoded = encodings.decode_chunks(raw, encoding) if encoding else raw
            if encoding and decoded is not None:
                self._encoding = self.headers.pop("content-encoding")
                self.headers.pop("content-length", None)  # of the encoded body
            self._body = raw if decoded is None else decoded
        return self._body

    @property
    def is_pieced(self) -> bool:
        """Whether the body says in pieces what its message says whole."""
        if self.is_stream:
            return True
        body = self._body or self.body
        if body and body[0].lstrip()[:1] == b"[":  # Google's chunks, where nobody asked for events
            return True
        if len(body) == 1:
            return b'"logprob"' in body[0]
        return any(b'"logprob"' in chunk for chunk in body)

    def conceal(self, redactor: Redactor, messages: Collection[Mapping[str, Any]] | None) -> None:
        """Take out secrets spread over the body's pieces; `messages` are what it says (None: unknown)."""
        from lctl.instrument import concealment

        frames = aws.is_event_stream(self.headers)
        if messages is None or concealment.may_hold_secret(redactor, self.body, messages, frames=frames):
            if self.is_stream:
                self._body = concealment.conceal(redactor, self.body, frames=frames)
            else:
                self._body = [concealment.conceal_tokens(redactor, b"".join(self.body))]

    def conceal_bytes(self, redactor: Redactor) -> None:
        """Take out secrets of a body that is no text as a whole, before it becomes base64."""
        body = b"".join(self.body)
        clean = redactor.body(body)
        if clean is not body:
            self._body = [clean]

    def data(self, messages: Mapping[str, Mapping[str, Any]], complete: bool) -> dict[str, Any]:
        """The data of the `exchange` event; long values of `messages` are referred to, not repeated."""
        data: dict[str, Any] = {
            "attempt": self.number,
            "method": self.method,
            "url": self.url,
            "http": self.http,
            "request": self.request,
        }
        if self.status is not None:
            body = self._body or self.body
            data["status"] = self.status
            if self.reason is not None and self.reason != phrase(self.status):
                data["reason"] = self.reason
            data["headers"] = self.headers
            if self.spelled:
                data["names"] = [self.spelled[name] for name in self.headers if name in self.spelled]
            if self.is_stream:
                times = self._under_way.times(self.started_ns, (at for at, _ in self.chunks))
                data.update(bodies.store_chunks(times, body))
                if self.turns is not None and len(self.turns) == len(times) == len(body):
                    data["turns"] = self.turns
            else:
                data["body"] = bodies.store_body(body[0] if len(body) == 1 else b"".join(body), messages)
            if self.raw and self._encoding is not None:
                data["encoded"] = self._encoding
        if self.error is not None:
            data["error"] = error_data(self.error)
            if self.unsent:
                data["error"]["sent"] = False
        data["complete"] = complete
        if self.closed_early and not complete:  # after the terminal event it is how SDKs end a stream
            data["closed_early"] = True
        if self.left:
            data["left"] = True
        data["duration_ms"] = self._under_way.between(self.started_ns, self.ended_ns)
        moment = self._moment
        if moment.lane != "0" or not moment.alone or settings.full:
            data.update(self._under_way.fields(moment, settings.full))
            if self.head is not None:
                ns, turn = self.head
                data["head_ms"] = self._under_way.between(self.started_ns, ns)
                if turn is not None:
                    data["head_turn"] = turn
            if self.with_head and moment.turn is not None:
                data["with_head"] = True
            if self.turns is not None:
                data["behinds"] = [list(one) for one in (self.behinds or {}).items()]
        if self.match is not None:
            data["match"] = self.match
        return data


def error_data(error: BaseException, depth: int = 4) -> dict[str, Any]:
    """An exception as an exchange holds it, with those it was raised from."""
    cls = type(error)
    data: dict[str, Any] = {
        "type": cls.__qualname__,
        "module": cls.__module__,
        # That of a cancellation names a scope or a task by its address.
        "message": "" if cls.__name__ in CANCELLATIONS else text_of(error),
    }
    if error.__cause__ is not None and depth > 1:
        data["cause"] = error_data(error.__cause__, depth - 1)
    return data


def text_of(error: BaseException, limit: int = 2000) -> str:
    """`str(error)`, at most `limit` characters; its class where even that raises."""
    try:
        return str(error)[:limit]
    except RAISED as failure:
        let_through(failure)
        return type(error).__name__
