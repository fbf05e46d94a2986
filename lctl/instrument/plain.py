"""Plain traffic: exchanges that are no model calls, kept whole so that a rerun can serve them.

One event each, when it is over. Bodies of some size are `blob` events, stored once however often they
are downloaded.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from lctl.instrument import traffic
from lctl.instrument.attempts import Attempt
from lctl.instrument.bodies import store_body
from lctl.instrument.codecs import aws
from lctl.instrument.headers import sent_headers, without_secrets
from lctl.instrument.recordings import recording_of
from lctl.instrument.uploads import MOST_KEPT
from lctl.record.recorder import Draft
from lctl.session.border import digest_of, settled
from lctl.session.concurrency import lanes

if TYPE_CHECKING:
    from lctl.session import LCTLSession, Redactor

#: A longer body that is sent is kept as its hash.
MOST_SENT = 1 << 20


class PlainExchange:
    """One exchange that is no model call; owner of its attempt."""

    # A body longer than this is a blob of its own.
    inline = 16 << 10

    def __init__(self, session: LCTLSession) -> None:
        self._session = session
        frame = session.frame()
        self._agent, self._step = frame.agent, frame.step
        self._headers: dict[str, str] = {}  # as sent
        self._is_shared = False

    def begin(self, http: str, method: str, url: str, headers: Any, body: bytes | None) -> Attempt:
        sent = sent_headers(headers)
        request: dict[str, Any] = {}
        self._headers = dict(sent)
        if body is not None:
            request = _sent(body, sent, self._session.redactor)
        elif "content-type" in sent:
            sent["content-type"] = settled(b"", sent["content-type"])[1]
        if sent:
            request["headers"] = sent
        lane = traffic.lane(method, url)
        if lane is not None:
            self._agent, self._step = self._session.agent, None
        self._is_shared = lane is lanes.SHARED
        shown = url if self._session.redactor is None else without_secrets(url)
        token = lanes.enter(lane or lanes.current())
        try:
            attempt = Attempt(self, 1, http, method, shown, request, self._session.under_way)
        finally:
            lanes.leave(token)
        attempt.chunks = Bounded()
        if body is None:
            attempt.upload = []
        recording_of(self._session).open[id(attempt)] = attempt
        return attempt

    def keeps(self, attempt: Attempt) -> None:
        """Nothing does: it is one event, when it is over."""

    def keeps_left(self) -> bool:
        return recording_of(self._session).keeps_left()

    def interrupted(self, error: BaseException) -> None:
        """It is no step, of which an end would be missed."""

    def ended(self, attempt: Attempt) -> None:
        recording = recording_of(self._session)
        recording.open.pop(id(attempt), None)
        if attempt.upload and sum(map(len, attempt.upload)) <= MOST_KEPT:
            attempt.request |= _sent(b"".join(attempt.upload), self._headers, self._session.redactor)
        redactor = self._session.redactor
        if redactor is not None and attempt.chunks and _is_events(attempt):
            attempt.conceal(redactor, None)
        elif redactor is not None and attempt.chunks:
            attempt.conceal_bytes(redactor)
        data = {"kind": "http", **attempt.data({}, attempt.error is None and not attempt.closed_early)}
        if isinstance(attempt.chunks, Bounded) and attempt.chunks.dropped:
            data["dropped"] = attempt.chunks.dropped
        body = b"" if attempt.is_stream else b"".join(attempt.body)
        asked = attempt.url, attempt.request.get("hash"), attempt.status, body
        if self._is_shared and not recording.is_new(asked):
            return
        blob = self._blob(body, attempt.headers.get("content-type")) if len(body) > self.inline else None
        made: list[int] = []

        def build(first: int) -> list[Draft]:
            drafts = self.drafts(first, attempt, data, blob)
            made[:] = [first + number for number, draft in enumerate(drafts) if draft[0] == "exchange"]
            return drafts

        returns = self._session.returns
        returning = returns.begin(attempt.lane, attempt.ended_ns)
        self._session.emit_many(build)
        returns.end(returning, made[0] if made else 0)

    def _blob(self, body: bytes, kind: Any) -> dict[str, Any]:
        """Of what will be in the log: which secret there was could be tried out by a hash of it."""
        blob, redactor = blob_of(body, kind), self._session.redactor
        if redactor is None or blob["encoding"] != "utf8":
            return blob
        clean = redactor.written(blob["content"])
        return blob if clean == blob["content"] else blob_of(clean.encode(), kind)

    def drafts(
        self, first: int, attempt: Attempt, data: dict[str, Any], blob: dict[str, Any] | None
    ) -> list[Draft]:
        """The events, the first of which gets seq `first`; under the recorder's lock.

        Args:
            data: of the exchange.
            blob: of the blob that its body is to be.
        """
        drafts: list[Draft] = [("exchange", self._agent, data, self._step)]
        if blob is not None:
            data["body"] = {"blob": blob["hash"]}
            if recording_of(self._session).conversations.note_blob(blob["hash"]):
                drafts.insert(0, ("blob", self._agent, blob, self._step))
        return drafts


def _is_events(attempt: Attempt) -> bool:
    """Whether the body is a stream of events, in which a text may come by pieces."""
    if "event-stream" in attempt.headers.get("content-type", "") or aws.is_event_stream(attempt.headers):
        return True
    return attempt.is_stream and b"".join(attempt.body[:2]).startswith(b"{")  # one on each line


def _sent(body: bytes, headers: dict[str, str], redactor: Redactor | None) -> dict[str, Any]:
    """The fields of `request` for what was sent; the headers are settled with the body."""
    size = len(body)
    if "content-type" in headers:
        body, headers["content-type"] = settled(body, headers["content-type"])
    request: dict[str, Any] = {"hash": digest_of(body, ""), "size": size}
    if body and len(body) <= MOST_SENT:
        request["body"] = store_body(body if redactor is None else redactor.body(body), {})
    return request


def blob_of(body: bytes, kind: Any) -> dict[str, Any]:
    """The data of a `blob` event. `kind`: its media type, where it says one."""
    blob: dict[str, Any] = {"hash": digest_of(body, ""), "size": len(body)}
    if isinstance(kind, str):
        blob["media_type"] = kind.partition(";")[0].strip()
    try:
        return {**blob, "encoding": "utf8", "content": body.decode()}
    except UnicodeDecodeError:
        return {**blob, "encoding": "base64", "content": base64.b64encode(body).decode()}


class Bounded(list[tuple[int, bytes]]):
    """Chunks up to `MOST_KEPT` bytes; counts the bytes it dropped after that."""

    def __init__(self) -> None:
        super().__init__()
        self._size = 0
        self.dropped = 0

    def append(self, chunk: tuple[int, bytes]) -> None:
        self._size += len(chunk[1])
        if self._size > MOST_KEPT:
            self.dropped += len(chunk[1])
        else:
            super().append(chunk)
