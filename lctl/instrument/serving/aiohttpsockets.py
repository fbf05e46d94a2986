"""Served WebSockets of aiohttp: of the session's own class, with nothing beneath them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from lctl.instrument.serving import pairs, reason_of
from lctl.instrument.serving.errors import revive
from lctl.instrument.sockets.recorded import Closed, RecordedSocket
from lctl.session.border import RecordedError

_SWITCHING = 101


def socket_of(session: Any, served: RecordedSocket, url: Any, protocols: Iterable[str]) -> Any:
    """What `ws_connect` gives; raises what it raised."""
    answer = served.answer
    client = sys.modules["aiohttp.client"]
    if answer.status is None:
        assert answer.error is not None
        raise revive(answer.error, client.ClientError)
    headers = sys.modules["multidict"].CIMultiDict(pairs(answer))
    if answer.status != _SWITCHING:
        info = sys.modules["aiohttp.client_reqrep"].RequestInfo(url, "GET", headers, url)
        raise client.WSServerHandshakeError(
            info, (), message="Invalid response status", status=answer.status, headers=headers
        )
    response = SimpleNamespace(
        status=answer.status, reason=reason_of(answer), headers=headers, url=url, connection=None
    )
    return _class_of(session._ws_response_class)(served, response, set(protocols))


@lru_cache
def _class_of(base: type[Any]) -> type[Any]:
    class ServedSocket(base):  # type: ignore[misc]
        def __init__(self, served: RecordedSocket, response: Any, protocols: set[str]) -> None:
            self._served = served
            self._response = response
            chosen = response.headers.get("Sec-WebSocket-Protocol")
            self._protocol = chosen if chosen in protocols else None
            self._closed = self._closing = False
            self._close_code = self._exception = None
            self._compress, self._client_notakeover = 0, False

        async def receive(self, timeout: float | None = None) -> Any:  # noqa: ASYNC109  (as its base)
            self._served.rests(False)
            try:
                message = await self._served.receive_async()
            except Closed:
                return self._ended()
            finally:
                self._served.rests(True)
            types = sys.modules["aiohttp"].WSMsgType
            kind = types.TEXT if isinstance(message, str) else types.BINARY
            return sys.modules["aiohttp"].WSMessage(kind, message, "" if kind is types.TEXT else None)

        async def send_str(self, data: str, compress: int | None = None) -> None:
            if not isinstance(data, str):
                raise TypeError(f"data argument must be str ({type(data)!r})")
            await self._send(data)

        async def send_bytes(self, data: Any, compress: int | None = None) -> None:
            if not isinstance(data, bytes | bytearray | memoryview):
                raise TypeError(f"data argument must be byte-ish ({type(data)!r})")
            await self._send(bytes(data))

        async def _send(self, data: str | bytes) -> None:
            try:
                await self._served.send_async(data)
            except Closed as error:
                module, name, text = error.args or (
                    "aiohttp.client_exceptions",
                    "ClientConnectionResetError",
                    "Cannot write to closing transport",
                )
                raise revive(RecordedError(module, name, text), ConnectionError) from None

        async def send_frame(self, *args: Any, **kwargs: Any) -> None: ...
        async def ping(self, message: bytes = b"") -> None: ...
        async def pong(self, message: bytes = b"") -> None: ...

        async def close(self, *, code: int = 1000, message: bytes = b"") -> bool:
            if self._closed:
                return False
            await self._served.close_async()
            self._shut()
            return True

        def get_extra_info(self, name: str, default: Any = None) -> Any:
            return default

        def _ended(self) -> Any:
            """The message that tells of the end: the recorded one, and then always the same."""
            was, closed = self._closed, self._served.closed
            self._shut()
            aiohttp = sys.modules["aiohttp"]
            if was or closed is None or closed[0] is None:
                return aiohttp.WSMessage(aiohttp.WSMsgType.CLOSED, None, None)
            return aiohttp.WSMessage(aiohttp.WSMsgType[closed[0]], closed[1], closed[2])

        def _shut(self) -> None:
            self._closed = self._closing = True
            if self._served.closed is not None:
                self._close_code = self._served.closed[3]

    ServedSocket.__name__ = ServedSocket.__qualname__ = base.__name__
    ServedSocket.__module__ = base.__module__
    return ServedSocket


def end_of(socket: Any, message: Any) -> Sequence[Any]:
    """How it ended, as the above gives it again."""
    told: list[Any] = [None, None, None]
    if message is not None:
        data = message.data
        if data is not None and not isinstance(data, int | str):
            data = str(data)
        told = [message.type.name, data, message.extra]
    code = socket.close_code
    return [*told, None if code is None else int(code)]
