"""Ports at which this process itself listens.

What the program asks there is no crossing of the border, as long as it is no model call: its own server
answers, whose model calls are recorded, and in a rerun it runs again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakSet

from lctl.session.concurrency import processes
from lctl.session.runs.wrappedruns import step_aside

if TYPE_CHECKING:
    from socket import socket

_PORTS = {"http": 80, "https": 443}

_bound: WeakSet[socket] = WeakSet()
#: Of uvloop, which binds without Python's sockets.
_servers: WeakSet[Any] = WeakSet()


def answers(url: str) -> bool:
    """Whether a server of this process, and no other machine or process, is asked."""
    if not (_bound or _servers):
        return False
    parts = urlsplit(url)
    try:
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return False
    return port is not None and is_own(parts.hostname or "", port)


def is_own(host: str, port: int) -> bool:
    """Whether this process listens at that port of this machine. `host`: a name or an address."""
    return is_here(host) and any(_listens(each, port) for each in _sockets())


def is_here(host: str) -> bool:
    return host in ("localhost", "::1", "0.0.0.0", "::") or host.startswith("127.")


def _sockets() -> Iterator[socket]:
    yield from list(_bound)
    for server in list(_servers):
        yield from server.sockets or ()


def _listens(bound: socket, port: int) -> bool:
    module = sys.modules["socket"]  # a program that asks no port has not imported it
    try:
        address = bound.getsockname()
        return bool(bound.getsockopt(module.SOL_SOCKET, module.SO_ACCEPTCONN)) and address[1] == port
    except (OSError, IndexError, TypeError):
        return False  # closed, or no socket of the internet


def _bind(original: Callable[[Any, Any], None], bound: socket, address: Any, /) -> None:
    try:
        original(bound, address)
    except BaseException as error:
        step_aside(error)
        raise
    _bound.add(bound)


async def _create_server(original: Callable[..., Any], *args: Any, **options: Any) -> Any:
    try:
        server = await original(*args, **options)
    except BaseException as error:
        step_aside(error)
        raise
    _servers.add(server)
    return server


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("socket", "socket", "bind", _bind),
    ("uvloop", "Loop", "create_server", _create_server),
)

# Those of a forked child are its parent's, who may answer, too.
processes.renewals += _bound.clear, _servers.clear
