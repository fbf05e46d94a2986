"""One WebSocket that is open: what passes is put on the tape, and told to who reads the model's calls."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from lctl.clock import monotonic_ns
from lctl.guard import guard
from lctl.instrument import settings, wire
from lctl.instrument.attempts import Attempt
from lctl.instrument.codecs.live import LiveReader
from lctl.instrument.livecalls import LiveCalls
from lctl.instrument.sockets import spelling
from lctl.instrument.sockets.exchanges import KIND, SocketExchange
from lctl.session.concurrency import turns

#: Bytes of sound that are one event; and of all of a connection's that are kept.
_PIECE, _MOST = 48 << 10, 64 << 20
#: What an answer to a handshake says of it, which is as the library says.
_OF_HANDSHAKE = frozenset({"connection", "content-type", "date", "sec-websocket-accept", "upgrade"})


class Life:
    """One connection, from the moment it is being opened.

    Args:
        seen: as of `wire.recognise`.
        http: the library.
        match: of a rerun, as of `Passage`.
    """

    def __init__(self, seen: wire.Seen, http: str, match: str | None = None) -> None:
        session, method, url, _, _ = seen
        self._exchange = SocketExchange(session)
        self._exchange.ends = self._ends
        self._attempt: Attempt = self._exchange.begin(http, method, url, (), b"")
        self._attempt.match = match
        reader = _reader_of(url)
        self._calls = None if reader is None else LiveCalls(session, reader)
        self._keep = self._kept if settings.full else spelling.counted
        self._sound: list[bytes] = []
        self._sounded = self._stored = 0  # bytes of sound so far, and of that in events
        self._lock = threading.RLock()  # of the reader: one thread may send while another one receives

    # -- the beginning -------------------------------------------------------------------------

    def opened(self, headers: Iterable[tuple[str, str]]) -> None:
        """The server has taken it."""
        with guard("the start of a WebSocket"):
            told = [pair for pair in headers if pair[0].lower() not in _OF_HANDSHAKE]
            self._attempt.answered(101, [("content-type", KIND), *told])
            self._exchange.keep_lines(self._attempt)
            self._attempt.rests(True)

    def refused(self, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> None:
        """The server answered with something else."""
        with guard("the start of a WebSocket"):
            self._attempt.answered(status, headers)
            self._attempt.chunks.append((monotonic_ns(), body))
            self._attempt.end()

    def failed(self, error: BaseException) -> None:
        """It was not opened."""
        self._attempt.failed(error)

    # -- what passes ---------------------------------------------------------------------------

    def came(self, message: str | bytes, asked: int | None = None) -> None:
        """`asked`: the turn of its loop in which the program asked for it (`turns.now`)."""
        self._passed("in", message, None, asked)

    def sends(self, message: str | bytes) -> None:
        """Before it does: what answers it may come before that returns."""
        self._passed("out", message, turns.AT_ONCE)

    def told(self, message: str | bytes) -> dict[str, Any]:
        """The line of a message that is sent."""
        return spelling.line_of("out", message, spelling.event_of(message), spelling.hashed)

    def note(self, **line: Any) -> None:
        """Another line."""
        with guard("a WebSocket"), self._lock:
            self._add(line, None if "timeout" in line else turns.AT_ONCE)

    def _passed(self, way: str, message: str | bytes, turn: int | None, asked: int | None = None) -> None:
        with guard("a message of a WebSocket"), self._lock:
            event = spelling.event_of(message)
            keep = self._keep if way == "in" else spelling.hashed
            self._add(spelling.line_of(way, message, event, keep), turn, asked)
            if event is not None and self._calls is not None:
                (self._calls.sent if way == "out" else self._calls.received)(event)
            if self._sounded - self._stored >= _PIECE:
                self._store()

    def _add(self, line: dict[str, Any], turn: int | None, asked: int | None = None) -> None:
        """`turn`: as of `Attempt.passed`; what the program does reaches no loop."""
        self._attempt.chunks.append((monotonic_ns(), orjson.dumps(line) + b"\n"))
        if turns.counting and turns.now() is not None:
            self._attempt.passed(turn, asked)

    def _kept(self, sound: str) -> dict[str, Any] | str:
        data = spelling.bytes_of(sound)
        if data is None:
            return sound
        if self._sounded + len(data) > _MOST:
            return spelling.counted(sound)
        begins, self._sounded = self._sounded, self._sounded + len(data)
        self._sound.append(data)
        return {"bytes": len(data), "$sound": begins}

    def _store(self) -> None:
        self._add({"blob": self._exchange.store(b"".join(self._sound))}, turns.AT_ONCE)
        self._sound, self._stored = [], self._sounded

    # -- the end -------------------------------------------------------------------------------

    def over(self, closed: Sequence[Any], asked: int | None = None) -> None:
        """It has ended: `closed` is what its library says of how. `asked`: as of `came`."""
        with guard("the end of a WebSocket"), self._lock:
            self._add({"closed": list(closed)}, None, asked)
            self._attempt.end(asked)

    def _ends(self) -> None:
        """It has, or the session does."""
        with guard("the end of a WebSocket"), self._lock:
            if self._sound:
                self._store()
            if self._calls is not None:
                self._calls.ended()

    def rests(self, rests: bool) -> None:
        """The program has what came, or else waits for more."""
        self._attempt.rests(rests)


def begun(url: str, http: str) -> Life | None:
    """A connection to `url` is about to be opened; None where that is not recorded."""
    with guard("the start of a WebSocket"):
        seen = wire.recognise("GET", url, {})
        return None if seen is None else Life(seen, http)
    return None


def _reader_of(url: str) -> LiveReader | None:
    from lctl.instrument.codecs import livereaders  # here: few programs have any

    return livereaders.reader_of(url)
