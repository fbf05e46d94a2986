"""aiohttp: the session's one request function, and a tee where the parser feeds the body.

The body's `StreamReader` keeps its identity; its class becomes a subclass without fields that also
hands each piece of data to the attempt. So every way of reading it (iterating, `read`, `readline`,
`json()`) works as before, and what arrived is kept however it is read.
"""

from __future__ import annotations

import sys
import weakref
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lctl.clock import monotonic_ns
from lctl.instrument import calls, serving, suppress, wire
from lctl.instrument.attempts import Attempt, never_raises
from lctl.instrument.patches import PatchSet
from lctl.instrument.serving.aiohttp import Served, without_framing
from lctl.instrument.transports import aiohttpsockets
from lctl.instrument.transports.aiohttprequests import (
    Requesting,
    begin,
    body_of,
    failed,
    headers_of,
    requesting,
    set_body,
    within,
)
from lctl.instrument.transports.arrivals import Arrivals
from lctl.session.concurrency import lanes, turns
from lctl.session.concurrency.lane import Lane
from lctl.session.runs.wrappedruns import step_aside

if TYPE_CHECKING:
    from lctl.session.border import Player


class Aiohttp:
    """The package `aiohttp`."""

    name = "aiohttp"
    supported = ">=3.9,<4"
    modules = ("aiohttp.client",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        tees = _Tees(module)
        patches.wrap(module, "ClientSession._request", tees.request)
        patches.wrap(sys.modules["aiohttp.connector"], "BaseConnector.connect", tees.connect)
        protocols = sys.modules["aiohttp.client_proto"]
        patches.wrap(protocols, "ResponseHandler.data_received", tees.arrivals.received)
        patches.wrap(module, "ClientRequest.send", tees.send)
        patches.wrap(module, "ClientResponse.start", tees.start)
        patches.wrap(module, "ClientResponse.close", tees.close)
        patches.wrap(module, "ClientResponse.release", tees.close)
        aiohttpsockets.patch(module, patches)


class _Tees:
    def __init__(self, module: ModuleType) -> None:
        reader: Any = sys.modules["aiohttp.streams"].StreamReader
        self._reader_class: type[Any] = reader
        # The readers being recorded. A reader has slots, so it cannot carry its attempt itself.
        self._attempts: dict[int, Attempt] = {}
        self._served: dict[int, Served] = {}  # what feeds them in a rerun
        # Who feeds a reader runs where its connection was opened, by whichever request came first.
        self._lanes: dict[int, Lane] = {}
        self.arrivals = Arrivals()
        attempts, made_in = self._attempts, self._lanes

        class RecordedReader(reader):  # type: ignore[misc]
            __slots__ = ()

            def feed_data(self, data: bytes, *rest: Any) -> Any:
                attempt = attempts.get(id(self))
                if attempt is not None and data:
                    attempt.chunks.append((monotonic_ns(), bytes(data)))
                    if turns.counting:
                        attempt.passed()
                return super().feed_data(data, *rest)

            def feed_eof(self) -> None:
                super().feed_eof()
                self._tell(None)

            def set_exception(self, exc: Any, *rest: Any) -> None:
                super().set_exception(exc, *rest)
                self._tell(exc)

            def _tell(self, error: Any) -> None:
                attempt = attempts.pop(id(self), None)
                if attempt is None:
                    return
                self.__class__ = reader
                token = lanes.enter(made_in.pop(id(self)))
                try:
                    if error is None:
                        attempt.end()
                    else:
                        attempt.failed(error if isinstance(error, BaseException) else error())
                finally:
                    lanes.leave(token)

        # It says that it is the library's own: programs log a reader, and its class.
        for name in ("__module__", "__name__", "__qualname__"):
            setattr(RecordedReader, name, getattr(reader, name))
        self._recorded_class = RecordedReader

    async def request(self, wrapped: Any, session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """One call, over as many attempts and redirects as it takes."""
        call = Requesting(_decompresses(session, kwargs))
        address = args[1] if len(args) > 1 else kwargs.get("str_or_url")
        opened = wire.open_call_here(address) if calls.current_call() is None else None
        mark = requesting.set(call)
        try:
            try:
                response = await wrapped(*args, **kwargs)
            except BaseException as error:
                # A timeout is a cancellation further in.
                if call.attempt is not None:
                    call.attempt.failed(error)
                raise
            finally:
                requesting.reset(mark)
                if opened is not None:
                    calls.leave(opened[1])
            if opened is not None:
                opened[0].returned()
        except BaseException as error:  # perhaps of a signal handler, which came while that was left
            if opened is not None:
                opened[0].raised(error)
            step_aside(error)
            raise
        return response

    async def connect(
        self, wrapped: Any, connector: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Called once for each request that leaves."""
        call = requesting.get()
        request = args[0] if args else kwargs["req"]
        try:
            if call is None:
                return await wrapped(*args, **kwargs)
            call.request, call.attempt, call.served = request, None, None
            player = serving.player_here()
            if player is not None:
                await self._ask(player, call, connector, request)
                if call.served is not None:
                    return call.served.connection
            elif not suppress.silenced():
                call.attempt = await begin(request)
            if call.attempt is not None:
                call.attempt.unsent = True
            return await within(call, wrapped, args, kwargs)
        except BaseException as error:
            step_aside(error)
            raise

    async def _ask(self, player: Player, call: Requesting, connector: Any, request: Any) -> None:
        """In a rerun: serve the request, or have it sent."""
        headers = headers_of(request)
        body = await body_of(request, True)
        kind = "websocket" if headers.get("upgrade", "").lower() == "websocket" else None
        passage = serving.cross(player, "aiohttp", request.method, str(request.url), headers, body, kind=kind)
        await serving.ready_async(passage)
        call.attempt = attempt = serving.begin(passage, "aiohttp", headers.items(), body)
        if passage.answer is None:
            if passage.body is not None:
                await set_body(request, passage.body)
            if passage.url is not None:
                request.url = type(request.url)(passage.url, encoded=True)
            return
        call.served = served = Served(connector, request, passage.answer)
        error = passage.answer.error
        is_unsent = getattr(passage.answer, "unsent", False) or (error is not None and error.sent is False)
        if passage.answer.status is None and is_unsent:
            if attempt is not None:
                attempt.unsent = True
            try:
                await served.wait()
            except BaseException as raised:
                failed(call, raised)
                served.connection.close()
                step_aside(raised)
                raise

    async def send(self, wrapped: Any, request: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = requesting.get()
        connection = args[0] if args else kwargs["conn"]
        try:
            if call is None or call.request is not request:  # that of a tunnel through a proxy
                return await wrapped(*args, **kwargs)
            if call.attempt is not None:
                call.attempt.unsent = False
                self.arrivals.expect(connection.protocol)
            call.response = await within(call, wrapped, args, kwargs)
        except BaseException as error:
            if call is not None and call.request is request:
                self.arrivals.take(connection.protocol)
            step_aside(error)
            raise
        return call.response

    async def start(self, wrapped: Any, response: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Reads the head."""
        call = requesting.get()
        is_ours = call is not None and call.response is response
        protocol = (args[0] if args else kwargs["connection"]).protocol
        try:
            if call is None or not is_ours:  # that of a tunnel through a proxy
                return await wrapped(*args, **kwargs)
            framed = False
            if call.served is not None:
                await within(call, call.served.written, (), {})
                framed = await within(call, call.served.begin, (), {})
            result = await within(call, wrapped, args, kwargs)
            if call.served is not None:
                call.served.begun()
                if framed:
                    without_framing(response)
            if call.attempt is not None:
                self._received(call.attempt, response, call.decompresses, protocol)
                if call.served is not None and id(response.content) in self._attempts:
                    self._served[id(response.content)] = call.served
            return result
        except BaseException as error:
            step_aside(error)
            raise
        finally:
            if is_ours:
                self.arrivals.take(protocol)

    @never_raises("a response")
    def _received(self, attempt: Attempt, response: Any, decompresses: bool, protocol: Any) -> None:
        came = self.arrivals.take(protocol)
        attempt.answered(
            response.status, response.raw_headers, response.reason, head=came[0] if came else None
        )
        content = response.content
        attempt.raw = not decompresses
        if decompresses:
            attempt.headers.pop("content-encoding", None)  # the parser undoes it before it feeds
        if type(content) is not self._reader_class:
            # No body, read already, or a reader of the host's own: what was read is all there is.
            raw = getattr(response, "_body", None)
            if raw:
                attempt.chunks.append((monotonic_ns(), raw))
            attempt.with_head = attempt.head is None
            attempt.end()
            return
        for at, piece in enumerate(content._buffer, 1):
            ns, turn = came[at] if at < len(came) else (monotonic_ns(), None)
            attempt.chunks.append((ns, bytes(piece)))
            if turns.counting:
                attempt.passed(turn)
        error = content.exception()
        if error is not None:
            attempt.failed(error)
        elif content.is_eof():
            attempt.with_head = attempt.head is None
            attempt.end()
        else:
            self._lanes[id(content)] = lanes.current()  # first: an interrupt may come between the two
            self._attempts[id(content)] = attempt
            content.__class__ = self._recorded_class
            # Neither read to its end nor closed: the response is collected.
            weakref.finalize(response, self._lost, id(content), attempt).atexit = False

    def _lost(self, reader: int, attempt: Attempt) -> None:
        self._finished(reader)
        if self._attempts.get(reader) is attempt:
            del self._attempts[reader], self._lanes[reader]
        attempt.abandoned()

    def close(self, wrapped: Any, response: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        attempt = self._taken_from(response)  # first: closing sets an exception on the reader
        try:
            return wrapped(*args, **kwargs)
        finally:
            if attempt is not None:
                attempt.closed()

    @never_raises("the close of a response")
    def _taken_from(self, response: Any) -> Attempt | None:
        content = getattr(response, "content", None)
        self._finished(id(content))
        attempt = self._attempts.pop(id(content), None)
        if attempt is not None:
            del self._lanes[id(content)]
            content.__class__ = self._reader_class
        return attempt

    @never_raises("the end of a served body")
    def _finished(self, reader: int) -> None:
        served = self._served.pop(reader, None)
        if served is not None and reader in self._attempts:
            served.finish()


def _decompresses(session: Any, kwargs: dict[str, Any]) -> bool:
    asked = kwargs.get("auto_decompress")
    return bool(getattr(session, "_auto_decompress", True) if asked is None else asked)
