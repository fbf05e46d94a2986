"""How connections of websockets are opened: living ones, and in a rerun recorded ones in their place."""

from __future__ import annotations

import sys
from typing import Any
from weakref import WeakKeyDictionary

from lctl.guard import guard
from lctl.instrument.serving import player_here
from lctl.instrument.serving import websockets as standing
from lctl.instrument.sockets import crossing, life
from lctl.instrument.sockets.life import Life
from lctl.instrument.sockets.recorded import RecordedSocket

_NAME = "websockets"
_SYNC = "websockets.sync.client"
#: Of connections that are being opened.
_begun: WeakKeyDictionary[Any, Life | None] = WeakKeyDictionary()
#: Of those that are open; and what is given in the place of others.
lives: WeakKeyDictionary[Any, Life] = WeakKeyDictionary()
served: WeakKeyDictionary[Any, RecordedSocket] = WeakKeyDictionary()


def _url_of(uri: Any) -> str:
    scheme = "wss" if uri.secure else "ws"
    return f"{scheme}://{uri.host}:{uri.port}{uri.resource_name}"


async def open_async(wrapped: Any, connecter: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    player = player_here()
    if player is None:
        return await wrapped(*args, **kwargs)
    uri = sys.modules["websockets.uri"].parse_uri(connecter.uri)
    made = await crossing.begin_async(crossing.cross(player, _NAME, _url_of(uri)), _NAME)
    if made.served is None:
        try:
            connection = await wrapped(*args, **kwargs)
        except BaseException as error:
            _failed(made.life, error)
            raise
        _begun[connection] = made.life
        return connection
    _say_refused(made)
    connection = standing.connection_async(connecter, uri)
    _begun[connection], served[connection] = made.life, made.served
    return connection


def connect(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of websockets before 17: all in one function."""
    player = player_here()
    if player is None:
        return wrapped(*args, **kwargs)
    uri = sys.modules["websockets.uri"].parse_uri(args[0] if args else kwargs["uri"])
    made = crossing.begin(crossing.cross(player, _NAME, _url_of(uri)), _NAME)
    usual = kwargs.get("create_connection") or sys.modules[_SYNC].ClientConnection
    if made.served is None:
        kwargs["create_connection"] = lambda *args, **kwargs: _noted(usual(*args, **kwargs), made)
        try:
            return wrapped(*args, **kwargs)
        except BaseException as error:
            _failed(made.life, error)
            raise
    _say_refused(made)
    cls = standing.class_of(usual, sys.modules[_SYNC].ClientConnection)
    nothing = standing.NoSocket()
    kwargs.update(sock=nothing, create_connection=lambda *args, **kwargs: _noted(cls(*args, **kwargs), made))
    if uri.secure:
        kwargs["ssl"] = nothing
    return wrapped(*args, **kwargs)


def open_again(wrapped: Any, connecter: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    player = player_here()
    if player is None:
        return wrapped(*args, **kwargs)
    made = crossing.begin(crossing.cross(player, _NAME, _url_of(connecter.ws_uri)), _NAME)
    usual, sock, ssl = connecter.create_connection, connecter.sock, connecter.ssl
    cls = usual
    if made.served is not None:
        _say_refused(made)
        cls = standing.class_of(usual, sys.modules[_SYNC].ClientConnection)
        connecter.sock = connecter.ssl = standing.NoSocket()
    connecter.create_connection = lambda *args, **kwargs: _noted(cls(*args, **kwargs), made)
    try:
        return wrapped(*args, **kwargs)
    except BaseException as error:
        _failed(made.life, error)
        raise
    finally:
        connecter.create_connection, connecter.sock, connecter.ssl = usual, sock, ssl


def _noted(connection: Any, made: crossing.Crossing) -> Any:
    _begun[connection] = made.life
    if made.served is not None:
        served[connection] = made.served
    return connection


def _say_refused(made: crossing.Crossing) -> None:
    """Raise what was raised in the recording, where the connection was not opened."""
    assert made.answer is not None
    try:
        standing.raise_refused(made.answer)
    except Exception as error:
        _failed(made.life, error)
        raise


def _failed(life: Life | None, error: BaseException) -> None:
    if life is None:
        return
    with guard("the start of a WebSocket"):
        response = getattr(error, "response", None)
        if response is None:
            life.failed(error)
        else:
            life.refused(response.status_code, response.headers.raw_items(), response.body or b"")


def _beginning(connection: Any) -> Life | None:
    if connection in _begun:
        return _begun.pop(connection)
    with guard("the start of a WebSocket"):
        uri = getattr(connection.protocol, "uri", None) or connection.protocol.wsuri
        return life.begun(_url_of(uri), _NAME)
    return None


def _opened(connection: Any, begun: Life | None) -> None:
    if begun is None:
        return
    with guard("the start of a WebSocket"):
        begun.opened(connection.response.headers.raw_items())
        if connection not in served:
            lives[connection] = begun


def handshake(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    begun, recorded = _beginning(connection), served.get(connection)
    if recorded is not None:
        standing.open_up(connection, recorded.answer, args[0] if args else kwargs.get("additional_headers"))
    else:
        try:
            wrapped(*args, **kwargs)
        except BaseException as error:
            _failed(begun, error)
            raise
    _opened(connection, begun)


async def handshake_async(
    wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    begun, recorded = _beginning(connection), served.get(connection)
    if recorded is not None:
        standing.open_up(connection, recorded.answer, args[0] if args else kwargs.get("additional_headers"))
    else:
        try:
            await wrapped(*args, **kwargs)
        except BaseException as error:
            _failed(begun, error)
            raise
    _opened(connection, begun)
