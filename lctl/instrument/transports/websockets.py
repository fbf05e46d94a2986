"""websockets: live sessions with a model (OpenAI's Realtime and Responses, Google's Live).

One exchange is the life of one connection. Its chunks are lines `{"in": message}` and `{"out": message}` in
the order in which they passed, sound counted. Connections to anything else pass unseen.

A rerun cannot serve them: where the program opens one it ends, and says so.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import orjson

from lctl.clock import monotonic_ns
from lctl.guard import guard
from lctl.instrument import serving, traffic, wire
from lctl.instrument.attempts import Attempt
from lctl.instrument.codecs.bodies import loads_or_none
from lctl.instrument.codecs.live import LiveReader, without_sound
from lctl.instrument.livecalls import LiveCalls
from lctl.instrument.patches import PatchSet
from lctl.session.concurrency import lanes

_NAME = "websockets"
_HEAD = [("content-type", "application/x-ndjson")]
_lives: WeakKeyDictionary[Any, Life] = WeakKeyDictionary()


class Websockets:
    """The clients of websockets 13 and newer."""

    name = "websockets"
    supported = ">=13,<18"
    modules = ("websockets.asyncio.client", "websockets.sync.client")

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "websockets.asyncio.client":
            patches.wrap(module, "connect.__init__", _connect)
            patches.wrap(module, "ClientConnection.handshake", _handshake_async)
            patches.wrap(module, "ClientConnection.send", _send)
            patches.wrap(module, "ClientConnection.recv", _recv_async)
            patches.wrap(module, "ClientConnection.close", _close_async)
        else:
            patches.wrap(module, "connect", _connect)
            patches.wrap(module, "ClientConnection.handshake", _handshake)
            patches.wrap(module, "ClientConnection.send", _send)
            patches.wrap(module, "ClientConnection.recv", _recv)
            patches.wrap(module, "ClientConnection.close", _close)


class Life:
    """One connection that is open."""

    def __init__(self, seen: wire.Seen, attempt: Attempt, reader: LiveReader) -> None:
        self._attempt = attempt
        self._calls = LiveCalls(seen[0], reader)
        self._lock = threading.RLock()  # of the reader: one thread may send while another one receives

    def passed(self, way: str, message: Any) -> None:
        """A message; what is no JSON (sound in bytes) is counted."""
        with guard("a message of a live session"), self._lock:
            data = message.encode("utf-8", "replace") if isinstance(message, str) else message
            event = loads_or_none(data) if isinstance(data, bytes) else None
            told = without_sound(event) if isinstance(event, dict) else {"bytes": len(data or b"")}
            self._attempt.chunks.append((monotonic_ns(), orjson.dumps({way: told}) + b"\n"))
            if isinstance(event, dict):
                (self._calls.sent if way == "out" else self._calls.received)(event)

    def over(self) -> None:
        with guard("the end of a live session"), self._lock:
            self._calls.ended()
            self._attempt.end()


# -- what passes -----------------------------------------------------------------------------


def _send(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    life = _lives.get(connection)
    message = args[0] if args else kwargs.get("message")
    if life is not None and isinstance(message, str | bytes):
        life.passed("out", message)  # first: what answers it may come before this returns
    return wrapped(*args, **kwargs)


def _recv(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    life = _lives.get(connection)
    if life is None:
        return wrapped(*args, **kwargs)
    try:
        message = wrapped(*args, **kwargs)
    except Exception as error:
        _broken(connection, error)
        raise
    life.passed("in", message)
    return message


def _recv_async(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    life = _lives.get(connection)
    return wrapped(*args, **kwargs) if life is None else _received(wrapped(*args, **kwargs), connection, life)


async def _received(receiving: Awaitable[Any], connection: Any, life: Life) -> Any:
    try:
        message = await receiving
    except Exception as error:
        _broken(connection, error)
        raise
    life.passed("in", message)
    return message


def _close(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return wrapped(*args, **kwargs)
    finally:
        _end(connection)


def _close_async(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    closing = wrapped(*args, **kwargs)
    return _left(closing, connection) if connection in _lives else closing


async def _left(closing: Awaitable[Any], connection: Any) -> Any:
    try:
        return await closing
    finally:
        _end(connection)


def _broken(connection: Any, error: Exception) -> None:
    """Something was raised: the connection's end, or a wait that was given up."""
    if type(error).__name__.startswith("ConnectionClosed"):
        _end(connection)


def _end(connection: Any) -> None:
    life = _lives.pop(connection, None)
    if life is not None:
        life.over()


# -- the beginning ---------------------------------------------------------------------------


def _connect(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """In a rerun a live session is refused before the network is touched, unless it may leave."""
    url = str(args[0] if args else kwargs.get("uri"))
    player = serving.player_here()
    if player is not None and traffic.is_live(url) and not player.is_live(lanes.current()):
        serving.cross(player, _NAME, "GET", url, {}, None, editable=False, kind="live session")
    return wrapped(*args, **kwargs)


def _handshake(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    begun = _begun(connection)
    if begun is None:
        return wrapped(*args, **kwargs)
    try:
        result = wrapped(*args, **kwargs)
    except BaseException as error:
        begun[1].failed(error)
        raise
    _opened(connection, *begun)
    return result


def _handshake_async(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    begun = _begun(connection)
    return wrapped(*args, **kwargs) if begun is None else _shaken(wrapped(*args, **kwargs), connection, begun)


async def _shaken(shaking: Awaitable[Any], connection: Any, begun: _Begun) -> Any:
    try:
        result = await shaking
    except BaseException as error:
        begun[1].failed(error)
        raise
    _opened(connection, *begun)
    return result


_Begun = tuple[wire.Seen, Attempt, LiveReader]


def _begun(connection: Any) -> _Begun | None:
    """The connection to a model that is about to be opened."""
    with guard("the start of a live session"):
        uri = getattr(connection.protocol, "uri", None) or connection.protocol.wsuri
        scheme = "wss" if uri.secure else "ws"
        url = f"{scheme}://{uri.host}:{uri.port}{uri.resource_name}"
        if not traffic.is_live(url):
            return None
        seen = wire.recognise("GET", url, {})
        reader = _reader_of(url)
        attempt = None if seen is None or reader is None else wire.begin(seen, _NAME, (), b"")
        if seen is not None and attempt is not None and reader is not None:
            return seen, attempt, reader
    return None


def _opened(connection: Any, seen: wire.Seen, attempt: Attempt, reader: LiveReader) -> None:
    with guard("the start of a live session"):
        attempt.answered(101, _HEAD)
        _lives[connection] = Life(seen, attempt, reader)


def _reader_of(url: str) -> LiveReader | None:
    from lctl.instrument.codecs import livereaders  # here: few programs have any

    return livereaders.reader_of(url)
