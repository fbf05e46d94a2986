"""Asking the player: in a rerun every request passes here before anything of the network is touched.

passage = serving.cross(player, "httpx", method, url, headers, body)
serving.ready(passage)                                       # its turn has come
attempt = serving.begin(passage, "httpx", headers, body)     # None: not recorded
passage.answer       # to be made into the library's own response; None: send, with `passage.body`

The served exchange is recorded as a live one is: by an attempt that the transport tells what it sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.guard import guard
from lctl.instrument import codecs, traffic, wire
from lctl.instrument.headers import phrase
from lctl.instrument.suppress import REPORTED, silenced
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.default import running

if TYPE_CHECKING:
    from lctl.instrument.attempts import Attempt
    from lctl.instrument.codecs.model import Codec
    from lctl.session.border import Answer, Player


class Passage(NamedTuple):
    """What the player said of one request.

    Attributes:
        answer: what to serve; None: the request is to be sent.
        body: what to send in place of the request's own body, unless None; and `url`: where.
        seen: as `wire.recognise` gives it; None: the exchange is not recorded.

    A server of the program's own answers what it is asked in a rerun, too: that passes, and the player hears
    nothing of it.
    """

    answer: Answer | None
    body: bytes | None
    match: str | None
    seen: wire.Seen | None
    url: str | None = None


def player_here() -> Player | None:
    """Who is to be asked; None while recording, and beneath a layer that has asked already."""
    player = border.playing
    return None if player is None or silenced() is REPORTED else player


def cross(
    player: Player,
    http: str,
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    editable: bool = True,
    kind: str | None = None,
) -> Passage:
    """Ask for one request. `headers` have names in lower case; a `kind` given is one never recorded.

    Raises:
        RerunStopped: the player refuses it.
    """
    found, seen, told = None, None, kind or "http"
    with guard("a request"):
        if kind is None:
            found = _model_call(method, url, headers, body)
        if found is None and wire.is_answered_here(method, url):
            return Passage(None, None, None, None)
        if kind is None:
            seen, told = _recorded(found, method, url)
    lane = (traffic.lane(method, url) if found is None else None) or lanes.current()
    said = player.exchange(
        border.WireRequest(
            http,
            method,
            url,
            headers,
            body,
            None if found is None else found[0].provider,
            "" if found is None else found[1],
            lane,
            0 if seen is None else lane.number("exchange"),
            editable,
            told,
        )
    )
    other = getattr(said, "url", None)
    if seen is not None and other:
        seen = seen[0], seen[1], other, seen[3], seen[4]
    if getattr(said, "again", False):
        seen = None
    if isinstance(said, border.Live):
        return Passage(None, said.body, said.match, seen, other)
    return Passage(said, None, getattr(said, "match", None), seen)


def _model_call(
    method: str, url: str, headers: Mapping[str, str], body: bytes | None
) -> tuple[Codec, str] | None:
    found = codecs.find(method, url, headers)
    if found is not None and body is not None:
        try:
            found[0].read_request(found[1], url, body)
        except ValueError:
            return None
    return found or wire.followed(method, url)


def _recorded(found: tuple[Codec, str] | None, method: str, url: str) -> tuple[wire.Seen | None, str]:
    """How the exchange would be recorded, and what kind of traffic it is."""
    if silenced():
        return None, "suppressed"
    kind = "telemetry" if found is None and traffic.is_upload(method, url) else "http"
    session = running() if kind == "telemetry" else wire.session_here()
    if found is not None:
        return (None if session is None else (session, method, url, *found)), "model"
    return (None if session is None else wire.other(session, method, url)), kind


def ready(passage: Passage) -> None:
    """Return when the request may be made: requests of several lanes are made in the recorded order."""
    start = getattr(passage.answer, "start", None)
    if start is not None:
        start()


async def ready_async(passage: Passage) -> None:
    """`ready` on an event loop."""
    start = getattr(passage.answer, "start_async", None)
    if start is not None:
        await start()


def begin(passage: Passage, http: str, headers: Any, body: bytes | None) -> Attempt | None:
    """Record that the request is made now, with what is really sent. `headers` are (name, value) pairs."""
    if passage.seen is None:
        return None
    sent = body if passage.body is None else passage.body
    if passage.answer is not None:
        sent = getattr(passage.answer, "body", None) or sent
    attempt = wire.begin(passage.seen, http, headers, sent)
    if attempt is not None:
        attempt.match = passage.match
    return attempt


def reason_of(answer: Answer) -> str:
    """What came with the status."""
    recorded: str | None = getattr(answer, "reason", None)
    return phrase(answer.status or 0) if recorded is None else recorded


def encoding_of(answer: Answer) -> str | None:
    """The content-encoding that the program undoes itself, if it is one that can be put back."""
    encoding = getattr(answer, "encoding", None)
    return encoding if encoding in ("gzip", "x-gzip", "deflate") else None


def encoded(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """`chunks`, each as it can be decoded when it comes."""
    import zlib

    window = zlib.MAX_WBITS if encoding == "deflate" else 16 + zlib.MAX_WBITS
    make = zlib.compressobj(wbits=window)
    for chunk in chunks:
        yield make.compress(chunk) + make.flush(zlib.Z_SYNC_FLUSH)
    yield make.flush()


def pairs(answer: Answer) -> list[tuple[str, str]]:
    """The recorded response headers as they were sent, one pair for each time."""
    spelled = {name.lower(): name for name in getattr(answer, "names", ())}
    made = []
    for name, value in answer.headers.items():
        values = value if isinstance(value, list) else [value]
        made += [(spelled.get(name, name), str(one)) for one in values]
    return made


def as_sent(text: str) -> bytes:
    """A header's bytes: they are recorded a character for each, whatever the client took them for."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")
