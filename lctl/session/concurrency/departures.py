"""Clients from outside that go away before they have the whole answer: somebody stops what is generated.

Servers on event loops cancel what they do for them when they lose the connection: that is when it is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lctl.guard import guard
from lctl.session.concurrency import arrivals, processes, turns
from lctl.session.concurrency.ownprotocols import ends_of

#: Is told where departures are recorded: the request by its name, its lane, and whether the client broke off.
tell: Callable[[str, str, bool], None] | None = None
#: In a rerun: the ports of clients that are about to go, until their server has lost them.
going: set[int] = set()


def _of_uvicorn(original: Callable[..., None], protocol: Any, error: Exception | None, /) -> None:
    with guard("a client that goes away"):
        cycle = protocol.cycle
        _leave(protocol.transport, cycle is not None and not cycle.response_complete, error is not None)
    original(protocol, error)


def _of_aiohttp(original: Callable[..., None], handler: Any, error: Exception | None, /) -> None:
    with guard("a client that goes away"):
        _leave(handler.transport, handler._current_request is not None, error is not None)
    original(handler, error)


def _leave(transport: Any, is_answering: bool, is_reset: bool) -> None:
    ends = None if transport is None else ends_of(transport)
    if ends is None:
        return
    request = arrivals.answered(*ends)
    port = int(ends[0][1])
    if port in going:
        going.discard(port)
        turns.arrived()
    elif is_answering and request is not None and tell is not None:
        request.is_left = True
        turns.arrived()
        tell(request.asked, request.path, is_reset)


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("uvicorn.protocols.http.h11_impl", "H11Protocol", "connection_lost", _of_uvicorn),
    ("uvicorn.protocols.http.httptools_impl", "HttpToolsProtocol", "connection_lost", _of_uvicorn),
    ("aiohttp.web_protocol", "RequestHandler", "connection_lost", _of_aiohttp),
)

processes.renewals += (going.clear,)
