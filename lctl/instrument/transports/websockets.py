"""websockets: what passes over its connections, which are sessions with a model (OpenAI's Realtime and
Responses, Google's Live), and where all traffic is recorded any others.

In a rerun a connection is one of the library's own, with nothing beneath it (`lctl.instrument.serving`).
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.patches import PatchSet
from lctl.instrument.serving import websockets as standing
from lctl.instrument.sockets.life import Life
from lctl.instrument.sockets.recorded import Closed
from lctl.instrument.transports import websocketsopening
from lctl.session.concurrency import turns


class Websockets:
    """The clients of websockets 13 and newer."""

    name = "websockets"
    supported = ">=13,<18"
    modules = ("websockets.asyncio.client", "websockets.sync.client")

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "websockets.asyncio.client":
            newer = hasattr(module.connect, "open_tcp_connection")
            opens = "connect.open_tcp_connection" if newer else "connect.create_connection"
            patches.wrap(module, opens, websocketsopening.open_async)
            patches.wrap(module, "ClientConnection.handshake", websocketsopening.handshake_async)
            patches.wrap(module, "ClientConnection.send", _send_async)
            patches.wrap(module, "ClientConnection.recv", _recv_async)
            patches.wrap(module, "ClientConnection.recv_streaming", _stream_async)
            patches.wrap(module, "ClientConnection.close", _close_async)
        else:
            if hasattr(module, "reconnect"):
                patches.wrap(module, "reconnect.open_connection", websocketsopening.open_again)
            else:
                patches.wrap(module, "connect", websocketsopening.connect)
            patches.wrap(module, "ClientConnection.handshake", websocketsopening.handshake)
            patches.wrap(module, "ClientConnection.send", _send)
            patches.wrap(module, "ClientConnection.recv", _recv)
            patches.wrap(module, "ClientConnection.recv_streaming", _stream)
            patches.wrap(module, "ClientConnection.close", _close)


# -- what comes ------------------------------------------------------------------------------


def _recv(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    served, life = websocketsopening.served.get(connection), websocketsopening.lives.get(connection)
    line = served or life
    if line is None:
        return wrapped(*args, **kwargs)
    line.rests(False)
    try:
        if served is not None:
            return _decoded(served.receive(), args[1] if len(args) > 1 else kwargs.get("decode"))
        message = wrapped(*args, **kwargs)
    except Closed:
        assert served is not None
        raise standing.ended(connection, served) from None
    except Exception as error:
        _broken(connection, error)
        raise
    finally:
        line.rests(True)
    if life is not None:
        life.came(message)
    return message


async def _recv_async(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    served, life = websocketsopening.served.get(connection), websocketsopening.lives.get(connection)
    line = served or life
    if line is None:
        return await wrapped(*args, **kwargs)
    line.rests(False)
    asked = turns.now()
    try:
        if served is not None:
            return _decoded(await served.receive_async(), args[0] if args else kwargs.get("decode"))
        message = await wrapped(*args, **kwargs)
    except Closed:
        assert served is not None
        raise standing.ended(connection, served) from None
    except Exception as error:
        _broken(connection, error, asked)
        raise
    finally:
        line.rests(True)
    if life is not None:
        life.came(message, asked)
    return message


def _decoded(message: str | bytes, decode: bool | None) -> str | bytes:
    """As the program wants it: bytes where it would not have text decoded."""
    if decode is None or decode is isinstance(message, str):
        return message
    return message.decode() if isinstance(message, bytes) else message.encode()


def _stream(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """A message by its fragments: it is one message on the tape, and comes whole from there."""
    served, life = websocketsopening.served.get(connection), websocketsopening.lives.get(connection)
    if served is not None:
        yield connection.recv(decode=args[0] if args else kwargs.get("decode"))
        return
    pieces = []
    for piece in wrapped(*args, **kwargs):
        pieces.append(piece)
        yield piece
    if life is not None:
        life.came(_joined(pieces))


async def _stream_async(
    wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> AsyncIterator[Any]:
    served, life = websocketsopening.served.get(connection), websocketsopening.lives.get(connection)
    if served is not None:
        yield await connection.recv(decode=args[0] if args else kwargs.get("decode"))
        return
    pieces = []
    async for piece in wrapped(*args, **kwargs):
        pieces.append(piece)
        yield piece
    if life is not None:
        life.came(_joined(pieces))


# -- what the program does -------------------------------------------------------------------


def _send(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    served, life = websocketsopening.served.get(connection), websocketsopening.lives.get(connection)
    message: Any = args[0] if args else kwargs.get("message")
    rest = args[1:]
    if (served is None and life is None) or isinstance(message, dict):
        return wrapped(*args, **kwargs)
    kwargs.pop("message", None)
    said = _whole(message)
    if served is not None:
        try:
            return served.send(_joined(list(message)) if said is None else said)
        except Closed:
            raise standing.ended(connection, served) from None
    assert life is not None
    if said is None:
        message = _teed(message, life)
    else:
        life.sends(said)
    try:
        return wrapped(message, *rest, **kwargs)
    except Exception as error:
        _unsent(connection, life, error)
        raise


async def _send_async(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    served, life = websocketsopening.served.get(connection), websocketsopening.lives.get(connection)
    message: Any = args[0] if args else kwargs.get("message")
    rest = args[1:]
    if (served is None and life is None) or isinstance(message, dict):
        return await wrapped(*args, **kwargs)
    kwargs.pop("message", None)
    said = _whole(message)
    if served is not None:
        if said is None:
            pieces = [piece async for piece in message] if hasattr(message, "__aiter__") else list(message)
            said = _joined(pieces)
        try:
            return await served.send_async(said)
        except Closed:
            raise standing.ended(connection, served) from None
    assert life is not None
    if said is None:
        message = (_teed_async if hasattr(message, "__aiter__") else _teed)(message, life)
    else:
        life.sends(said)
    try:
        return await wrapped(message, *rest, **kwargs)
    except Exception as error:
        _unsent(connection, life, error)
        raise


def _whole(message: Any) -> str | bytes | None:
    """None of one that is sent by its fragments."""
    if isinstance(message, str):
        return message
    return bytes(message) if isinstance(message, bytes | bytearray | memoryview) else None


def _joined(pieces: list[Any]) -> str | bytes:
    return "".join(pieces) if pieces and isinstance(pieces[0], str) else b"".join(map(bytes, pieces))


def _teed(pieces: Iterable[Any], life: Life) -> Iterator[Any]:
    """Told as one message, when its last fragment goes."""
    sent = []
    for piece in pieces:
        sent.append(piece)
        yield piece
    life.sends(_joined(sent))


async def _teed_async(pieces: AsyncIterable[Any], life: Life) -> AsyncIterator[Any]:
    sent = []
    async for piece in pieces:
        sent.append(piece)
        yield piece
    life.sends(_joined(sent))


# -- the end ---------------------------------------------------------------------------------


def _close(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    served, life = websocketsopening.served.get(connection), websocketsopening.lives.get(connection)
    if served is not None:
        served.close()
        standing.shut(connection, served)
        return None
    if life is None:
        return wrapped(*args, **kwargs)
    life.note(closing=True)
    try:
        return wrapped(*args, **kwargs)
    finally:
        _end(connection)


async def _close_async(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    served, life = websocketsopening.served.get(connection), websocketsopening.lives.get(connection)
    if served is not None:
        await served.close_async()
        standing.shut(connection, served)
        return None
    if life is None:
        return await wrapped(*args, **kwargs)
    life.note(closing=True)
    asked = turns.now()
    try:
        return await wrapped(*args, **kwargs)
    finally:
        _end(connection, asked)


def _unsent(connection: Any, life: Life, error: Exception) -> None:
    if _is_end(error):
        life.note(unsent=True)
        _end(connection)


def _broken(connection: Any, error: Exception, asked: int | None = None) -> None:
    """Something was raised: the connection's end, or a wait that was given up."""
    life = websocketsopening.lives.get(connection)
    if life is not None and isinstance(error, TimeoutError):
        life.note(timeout=str(error))
    elif _is_end(error):
        _end(connection, asked)


def _is_end(error: Exception) -> bool:
    return type(error).__name__.startswith("ConnectionClosed")


def _end(connection: Any, asked: int | None = None) -> None:
    life = websocketsopening.lives.pop(connection, None)
    if life is not None:
        with guard("the end of a WebSocket"):
            life.over(standing.end_of(connection), asked)
