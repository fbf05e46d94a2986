"""aiohttp's WebSockets (`ClientSession.ws_connect`): sessions with a model, and any others where all traffic
is recorded. What passes is seen at the methods through which the others go."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from lctl.guard import guard
from lctl.instrument import suppress
from lctl.instrument.patches import PatchSet
from lctl.instrument.serving import aiohttpsockets as standing
from lctl.instrument.serving import player_here
from lctl.instrument.sockets import crossing, life
from lctl.instrument.sockets.life import Life
from lctl.session.concurrency import turns

_NAME = "aiohttp"
_WEB = {"http": "ws", "https": "wss"}
_lives: WeakKeyDictionary[Any, Life] = WeakKeyDictionary()
#: The library itself closes what it receives the end of.
_receiving: ContextVar[bool] = ContextVar("lctl_socket_receiving", default=False)


def patch(module: ModuleType, patches: PatchSet) -> None:
    """Of `aiohttp.client`."""
    patches.wrap(module, "ClientSession._ws_connect", _connect)
    sockets = sys.modules["aiohttp.client_ws"]
    patches.wrap(sockets, "ClientWebSocketResponse.receive", _receive)
    patches.wrap(sockets, "ClientWebSocketResponse.send_str", _send)
    patches.wrap(sockets, "ClientWebSocketResponse.send_bytes", _send)
    patches.wrap(sockets, "ClientWebSocketResponse.close", _close)


async def _connect(wrapped: Any, session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    player, url, told = player_here(), None, None
    with guard("the start of a WebSocket"):
        url = _url_of(session, args[0] if args else kwargs["url"], kwargs.get("params"))
        told = str(url.with_scheme(_WEB.get(url.scheme, url.scheme)))
    if told is None:  # the library says what is wrong with it
        return await wrapped(*args, **kwargs)
    if player is None:
        begun, made = life.begun(told, _NAME), None
    else:
        made = await crossing.begin_async(crossing.cross(player, _NAME, told), _NAME)
        begun = made.life
    try:
        if made is not None and made.served is not None:
            socket = standing.socket_of(session, made.served, url, kwargs.get("protocols") or ())
        else:
            socket = await _opened(wrapped, args, kwargs, begun if made is None else made)
    except BaseException as error:
        if begun is not None:
            _failed(begun, error)
        raise
    if begun is not None:
        with guard("the start of a WebSocket"):
            begun.opened(socket._response.headers.items())
            if made is None or made.served is None:
                _lives[socket] = begun
    return socket


async def _opened(wrapped: Any, args: tuple[Any, ...], kwargs: dict[str, Any], known: Any) -> Any:
    """`known`: what has seen it, so that the request beneath it is not seen again."""
    if known is None:
        return await wrapped(*args, **kwargs)
    token = suppress.silence(suppress.REPORTED)
    try:
        return await wrapped(*args, **kwargs)
    finally:
        suppress.end_silence(token)


def _url_of(session: Any, url: Any, params: Any) -> Any:
    made = session._build_url(url)
    return made.extend_query(params) if params else made


def _failed(begun: Life, error: BaseException) -> None:
    with guard("the start of a WebSocket"):
        headers = getattr(error, "headers", None)
        if type(error).__name__ == "WSServerHandshakeError" and headers is not None:
            begun.refused(getattr(error, "status", 0), headers.items(), b"")
        else:
            begun.failed(error)


async def _receive(wrapped: Any, socket: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    begun = _lives.get(socket)
    if begun is None:
        return await wrapped(*args, **kwargs)
    begun.rests(False)
    token, asked = _receiving.set(True), turns.now()
    try:
        message = await wrapped(*args, **kwargs)
    except TimeoutError as error:
        begun.note(timeout=str(error))
        raise
    finally:
        _receiving.reset(token)
        begun.rests(True)
    if message.type.name in ("TEXT", "BINARY"):
        begun.came(message.data, asked)
    elif message.type.name not in ("PING", "PONG"):
        _end(socket, message, asked)
    return message


async def _send(wrapped: Any, socket: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    begun = _lives.get(socket)
    message: Any = args[0] if args else kwargs.get("data")
    if begun is None or not isinstance(message, str | bytes | bytearray | memoryview):
        return await wrapped(*args, **kwargs)
    begun.sends(message if isinstance(message, str) else bytes(message))
    try:
        return await wrapped(*args, **kwargs)
    except Exception as error:
        begun.note(unsent=[type(error).__module__, type(error).__qualname__, str(error)])
        raise


async def _close(wrapped: Any, socket: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    begun = _lives.get(socket)
    if begun is None or _receiving.get():
        return await wrapped(*args, **kwargs)
    begun.note(closing=True)
    asked = turns.now()
    try:
        return await wrapped(*args, **kwargs)
    finally:
        _end(socket, None, asked)


def _end(socket: Any, message: Any, asked: int | None) -> None:
    """`message`: that told of the end, where one did."""
    begun = _lives.pop(socket, None)
    if begun is not None:
        with guard("the end of a WebSocket"):
            begun.over(standing.end_of(socket, message), asked)
