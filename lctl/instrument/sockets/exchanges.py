"""The exchange of a WebSocket, whose lines are kept in a file beside the log while it is open."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from lctl.clock import monotonic_ns
from lctl.instrument.keptpieces import Pieces
from lctl.instrument.plain import PlainExchange, blob_of
from lctl.instrument.recordings import recording_of
from lctl.record.recorder import Draft

if TYPE_CHECKING:
    from lctl.instrument.attempts import Attempt
    from lctl.instrument.openstreams import OpenStreams

#: What its lines are; and the headers of the answer that the file beside the log may hold.
KIND = "application/x-ndjson"
_SHOWN = ("content-type", "sec-websocket-protocol")


class SocketExchange(PlainExchange):
    """The life of one connection; owner of its attempt.

    Attributes:
        ends: called before its event is written.
    """

    ends: Callable[[], None]

    def keep_lines(self, attempt: Attempt) -> None:
        """The connection is open: its lines are kept from now on."""
        streams = recording_of(self._session).streams
        if streams is None:
            return
        exchange = {
            "kind": "http",
            "attempt": 1,
            "method": attempt.method,
            "url": attempt.url,
            "http": attempt.http,
            "request": attempt.request,
            "status": attempt.status,
            "headers": {name: attempt.headers[name] for name in _SHOWN if name in attempt.headers},
            "lane": attempt.lane,
            "at": self._session.under_way.ms(attempt.started_ns),
        }
        head = {
            "time": self._session.clock.now(),
            "agent": self._agent,
            "step": self._step,
            "exchange": exchange,
        }
        lines = streams.begin(attempt, head, Lines)
        if lines is not None:
            attempt.chunks = lines

    def store(self, sound: bytes) -> str:
        """Record a piece of the connection's sound, and say its hash."""
        blob = blob_of(sound, None)

        def build(first: int) -> list[Draft]:
            is_new = recording_of(self._session).conversations.note_blob(blob["hash"])
            return [("blob", self._agent, blob, self._step)] if is_new else []

        self._session.emit_many(build)
        return str(blob["hash"])

    def ended(self, attempt: Attempt) -> None:
        self.ends()
        super().ended(attempt)
        attempt.settled()


class Lines(Pieces):
    """`Attempt.chunks` of a connection whose lines are kept as they come, each with its time."""

    def __init__(self, streams: OpenStreams, number: int, attempt: Attempt) -> None:
        super().__init__(streams, number, attempt)
        self._started_ns = attempt.started_ns
        self._note: Callable[[bytes], None] = partial(streams.note, number)

    def append(self, piece: tuple[int, bytes]) -> None:
        if not self._ended:
            self._note(b"%d" % ((monotonic_ns() - self._started_ns) // 1000))
        super().append(piece)
