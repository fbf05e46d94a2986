"""Served answers for aiohttp: a connection whose transport is the tape.

aiohttp's own protocol and parser read HTTP that is written anew from the recording, so responses,
readers, cookies, redirects, timeouts and retries are the library's.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from lctl.instrument.serving import as_sent, pairs, reason_of
from lctl.instrument.serving.aiohttppool import Pooled, reclaim
from lctl.instrument.serving.errors import revive
from lctl.session.border import Answer


class Served:
    """One answer on its way. `connection` is given to aiohttp in place of one of its connector."""

    def __init__(self, connector: Any, request: Any, answer: Answer) -> None:
        self._answer = answer
        self._request = request
        self._loop = asyncio.get_running_loop()
        self._feeder: asyncio.Task[None] | None = None
        self._over = False  # what there is has been fed
        self._begun = asyncio.Event()
        self._protocol: Any = sys.modules["aiohttp.client_proto"].ResponseHandler(self._loop)
        self._transport = _Transport(self)
        self._protocol.connection_made(self._transport)
        connection = sys.modules["aiohttp.connector"].Connection
        key = request.connection_key
        reclaim(connector, key)
        self.connection = connection(Pooled(connector), key, self._protocol, self._loop)

    async def wait(self) -> None:
        """Until the answer's turn; raises the recorded error where there is no response."""
        await self._answer.wait_async()
        if self._answer.status is None:
            raise self._error()

    async def begin(self) -> bool:
        """Until the head's turn; True if the protocol was told a framing of ours. Raises the recorded error
        where there is no response.

        As with a network, somebody else waits: what came with the head, or after it in the same turn, is
        there when the program goes on in its next one. What needs no waiting comes with the head; the rest
        in its own time, read or not. Where the turn is that in which the program went on, it goes on in it.
        """
        head, framed = _head(self._answer, self._request.method)
        self._chunked = framed or b"\r\ntransfer-encoding:" in head.lower()
        is_never = self._answer.status is None and getattr(self._answer, "endless", False)
        if is_never or getattr(self._answer, "with_head", False):
            await self.wait()  # in the task that asked: who cancels that has it cancelled a turn later
            self._feed_whole(head)
            return framed
        came = self._loop.create_future()
        self._feeder = self._loop.create_task(self._feed(head, came))
        try:
            await came
        except asyncio.CancelledError:
            if not came.done() or came.cancelled():
                self._feeder.cancel()
                await asyncio.wait([self._feeder])
            raise
        return framed

    async def written(self) -> None:
        """Until the request has been written: aiohttp cancels the writing of one that is answered. To be
        awaited before the answer's turn, in which those are answered that came together."""
        request: Any = self._request
        if request._continue is not None and not request._continue.done():
            request._continue.set_result(True)
        writer = getattr(request, "_writer", None)
        if writer is not None:
            await asyncio.wait([writer])

    async def _feed(self, head: bytes, came: asyncio.Future[None]) -> None:
        try:
            await self.wait()
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # the recorded one, or the player's: for whoever asked
            if not came.done():
                came.set_exception(error)
            return
        self._protocol.data_received(head)
        if not came.done():
            came.set_result(None)
        await self._feed_body()

    def _feed_whole(self, head: bytes) -> None:
        protocol = self._protocol
        protocol.data_received(head)
        payload = protocol._payload
        for piece in self._answer.rest():
            self._give(piece)
            payload = protocol._payload or payload
        self._end(payload)

    async def _feed_body(self) -> None:
        answer, protocol = self._answer, self._protocol
        payload = protocol._payload
        try:
            async for piece in answer.chunks_async():
                await self._transport.reading.wait()
                self._give(piece)
                payload = protocol._payload or payload
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # the player's: for whoever reads on
            self._over = True
            if payload is not None:
                payload.set_exception(error)
            return
        if answer.error is not None:
            await self._begun.wait()
        self._end(payload)

    def finish(self) -> None:
        """The program leaves the body. What comes before that is the network's to say: in the recording these
        pieces had come, read or not."""
        if self._feeder is None or self._over or self._loop.is_closed():
            return
        self._feeder.cancel()  # perhaps by the end of the loop already
        payload = self._protocol._payload
        for piece in self._answer.rest():
            self._give(piece)
        if not getattr(self._answer, "endless", False):
            self._end(payload)

    def _give(self, piece: bytes) -> None:
        if piece:
            data = b"%x\r\n%b\r\n" % (len(piece), piece) if self._chunked else bytes(piece)
            self._protocol.data_received(data)

    def _end(self, payload: Any) -> None:
        answer, protocol = self._answer, self._protocol
        self._over = True
        if getattr(answer, "closed_early", False):
            return
        if answer.error is not None:
            if payload is not None and not payload.is_eof():
                protocol.force_close()
                payload.set_exception(self._error())
        elif self._chunked:
            protocol.data_received(b"0\r\n\r\n")
        elif payload is not None and not payload.is_eof():
            protocol.connection_lost(None)  # a body that the connection's end was to end

    def _error(self) -> BaseException:
        error = self._answer.error
        assert error is not None
        errors = sys.modules["aiohttp.client_exceptions"]
        made: Any = revive(error, errors.ClientError)
        if isinstance(made, errors.ClientConnectorError):
            beneath = made.__cause__ if isinstance(made.__cause__, OSError) else OSError(error.message)
            made._conn_key, made._os_error = self._request.connection_key, beneath
            made.errno, made.strerror = beneath.errno, beneath.strerror
        elif isinstance(made, errors.ServerDisconnectedError):
            made.message = error.message
        return made  # type: ignore[no-any-return]

    def begun(self) -> None:
        """The head was taken; what is wrong with the body may come."""
        self._begun.set()

    def lose(self) -> None:
        """The pool closes it: the protocol hears of it a turn later; over TLS, whose own hears first, two."""
        if self._loop.is_closed():
            return
        call_soon, lost = self._loop.call_soon, self._protocol.connection_lost
        if self._request.is_ssl():
            call_soon(call_soon, lost, None)
        else:
            call_soon(lost, None)

    def stop(self) -> None:
        """The connection was closed."""
        if self._feeder is not None and not self._loop.is_closed():
            self._feeder.cancel()


def _head(answer: Answer, method: str) -> tuple[bytes, bool]:
    status = answer.status or 0
    lines = [f"HTTP/1.1 {status} {reason_of(answer)}"]
    framed = status not in (204, 304) and method != "HEAD"
    for name, value in pairs(answer):
        if name.lower() in ("content-length", "transfer-encoding"):
            framed = False
        lines.append(f"{name}: {value}".replace("\r", " ").replace("\n", " "))
    if framed:
        lines.append("transfer-encoding: chunked")
    return b"\r\n".join([*map(as_sent, lines), b"", b""]), framed


def without_framing(response: Any) -> None:
    """Take the header that only framed the body out of a response."""
    headers = response._headers.copy()
    headers.popall("transfer-encoding", None)
    proxy = sys.modules["multidict"].CIMultiDictProxy
    response._headers = proxy(headers)
    response._raw_headers = tuple(
        (name, value) for name, value in response._raw_headers if name.lower() != b"transfer-encoding"
    )


class _Transport(asyncio.Transport):
    """Swallows what is written. `is_kept`: its answer was read, and it is in the connector's pool."""

    def __init__(self, served: Served) -> None:
        super().__init__()
        self._served = served
        self._closed = self.is_kept = False
        self.reading = asyncio.Event()
        self.reading.set()

    def write(self, data: Any) -> None:
        pass

    def writelines(self, list_of_data: Any) -> None:
        pass

    def is_closing(self) -> bool:
        return self._closed or self.is_kept

    def close(self) -> None:
        if self.is_kept and not self._closed:
            self._served.lose()
        self._closed = True
        self._served.stop()

    abort = close

    def pause_reading(self) -> None:
        self.reading.clear()

    def resume_reading(self) -> None:
        self.reading.set()
