"""Servers that do not read by Python's sockets (uvloop's), or read in one context and answer in another.

Their protocols are told of what comes, as `ownrequests` is by sockets.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any
from weakref import WeakKeyDictionary

from lctl.guard import guard
from lctl.session import ownports
from lctl.session.concurrency import arrivals, lanes, ownrequests, talks
from lctl.session.concurrency.lane import Request
from lctl.session.runs.wrappedruns import step_aside

#: Of aiohttp's connections, which read in one context and answer in another.
_read: WeakKeyDictionary[Any, Request] = WeakKeyDictionary()


async def _create_server(
    original: Callable[..., Any], loop: Any, protocol_factory: Any, *args: Any, **options: Any
) -> Any:
    """uvloop accepts and reads without Python's sockets: its protocols are told of what came."""

    def make() -> Any:
        protocol = protocol_factory()
        with guard("a connection to a server of the program's own"):
            _follow(protocol)
        return protocol

    try:
        server = await original(loop, make, *args, **options)
    except BaseException as error:
        step_aside(error)
        raise
    ownports.note(server)
    return server


async def _create_connection(original: Callable[..., Any], *args: Any, **options: Any) -> Any:
    try:
        transport, protocol = await original(*args, **options)
    except BaseException as error:
        step_aside(error)
        raise
    with guard("a connection to a server of the program's own"):
        if ownports.is_at(transport.get_extra_info("peername")):
            ownrequests.unseen[transport] = transport.get_extra_info("sockname")
    return transport, protocol


def _follow(protocol: Any, transport: Any = None) -> None:
    """`transport`: where it has been given one already, in the place of the protocol before it."""
    received = getattr(protocol, "data_received", None)
    if received is None or not hasattr(protocol, "__dict__"):
        return
    made, lost, ended = protocol.connection_made, protocol.connection_lost, protocol.eof_received
    ends = None if transport is None else ends_of(transport)

    def connection_made(made_to: Any) -> None:
        nonlocal ends, transport
        with guard("a connection to a server of the program's own"):
            ends, transport = ends_of(made_to), made_to
            if ends is not None:
                arrivals.forget(*ends)
        made(made_to)

    def data_received(data: bytes) -> None:
        with guard("a request to a server of the program's own"):
            if ends is not None:
                ownrequests.take(*ends, data)
        received(data)
        if talks.are_open():
            with guard("a WebSocket to a server of the program's own"):
                _follow_next(transport, protocol)

    def eof_received() -> Any:
        with guard("a request to a server of the program's own"):
            if ends is not None:
                ownrequests.take(*ends, b"")
        return ended()

    def connection_lost(error: Exception | None) -> None:
        with guard("a request to a server of the program's own"):
            if ends is not None:
                _lose(ends, error)
        lost(error)

    protocol.connection_made, protocol.data_received = connection_made, data_received
    protocol.connection_lost, protocol.eof_received = connection_lost, eof_received


def _follow_next(transport: Any, protocol: Any) -> None:
    """What has come may have been for another protocol, which reads from now on."""
    following = transport.get_protocol()
    if following is not protocol and not following.__dict__.get("data_received"):
        _follow(following, transport)
        transport.set_protocol(following)  # which it asks for its methods


def _lose(ends: tuple[Any, Any], error: Exception | None) -> None:
    """A connection is no more: the server has closed it, where nothing has told of the client before."""
    if error is None and arrivals.is_talk(*ends):
        arrivals.forget(*ends)
    else:
        arrivals.end(*ends, is_reset=error is not None)


def ends_of(transport: Any) -> tuple[Any, Any] | None:
    """The addresses of client and server."""
    client, server = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
    return (client, server) if isinstance(client, tuple) and isinstance(server, tuple) else None


def _take_of(transport: Any, data: bytes) -> None:
    with guard("a request to a server of the program's own"):
        ends = ends_of(transport)
        if ends is not None:
            ownrequests.take(*ends, data)


def _data_received(original: Callable[[Any, bytes], None], handler: Any, data: bytes) -> None:
    if type(handler.transport).__module__.startswith("uvloop"):  # whose reading is not seen
        _take_of(handler.transport, data)
    here = lanes.raw()
    if type(here) is Request:
        with guard("a request to a server of the program's own"):
            _read[handler.transport] = here  # the handler has slots, and no weak references
    original(handler, data)


def _handle_request(
    original: Callable[..., Coroutine[Any, Any, Any]], handler: Any, *args: Any, **options: Any
) -> Coroutine[Any, Any, Any]:
    answer = original(handler, *args, **options)
    request = None if handler.transport is None else _read.pop(handler.transport, None)
    return answer if request is None else _answer(answer, request)


async def _answer(answer: Coroutine[Any, Any, Any], request: Request) -> Any:
    lanes.enter(request)
    return await answer


def _exit(original: Callable[[], None]) -> None:
    """aiohttp's server is ended by a signal."""
    with guard("the end of a server"):
        if talks.on_end is not None:
            talks.on_end("SIGINT")
    original()


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("uvloop", "Loop", "create_server", _create_server),
    ("uvloop", "Loop", "create_connection", _create_connection),
    ("aiohttp.web_protocol", "RequestHandler", "data_received", _data_received),
    ("aiohttp.web_protocol", "RequestHandler", "_handle_request", _handle_request),
    ("aiohttp.web_runner", "", "_raise_graceful_exit", _exit),
)
