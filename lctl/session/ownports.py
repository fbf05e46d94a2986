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

from lctl.guard import guard
from lctl.interrupts import step_out
from lctl.session.concurrency import processes

if TYPE_CHECKING:
    from socket import socket

_PORTS = {"http": 80, "https": 443}

_bound: WeakSet[socket] = WeakSet()
#: Of uvloop, which binds without Python's sockets.
_servers: WeakSet[Any] = WeakSet()
#: Of a forked child: those of its parent, who may answer there, too.
_inherited: WeakSet[socket] = WeakSet()
#: Is called when the program binds for the first time: what is only of use where there is a server may begin.
at_first: Callable[[], object] | None = None
#: Binds a socket to a port that the system draws, by what is given first, or gives the error; where such
#: draws are recorded.
draw: Callable[[Callable[[Any, Any], None], Any, tuple[Any, ...]], OSError | None] | None = None
#: Binds one to a port that is named, where a rerun may find it waiting for late packets of the recording.
take: Callable[[Callable[[Any, Any], None], Any, Any], None] | None = None


def answers(url: str) -> bool:
    """Whether a server of this process, and no other machine or process, is asked."""
    if not are_any():
        return False
    parts = urlsplit(url)
    try:
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return False
    return port is not None and is_own(parts.hostname or "", port)


def are_any() -> bool:
    """Whether this process has bound a socket that is still there."""
    return bool(_bound or _servers)


def is_own(host: str, port: int) -> bool:
    """Whether this process listens at that port of this machine. `host`: a name or an address."""
    return is_here(host) and any(_listens(each, port) for each in _sockets())


def is_at(address: Any) -> bool:
    """As `is_own`, of an address as sockets take it."""
    return are_any() and isinstance(address, tuple) and is_own(str(address[0]), address[1])


def listening() -> list[int]:
    """The ports at which this process listens, or may answer beside its parent."""
    known = [*_sockets(), *_inherited]
    return [int(each.getsockname()[1]) for each in known if _is_listening(each)]


def inherited() -> list[socket]:
    """Of a forked child: the sockets at which its parent listens."""
    return [each for each in _inherited if _is_listening(each)]


def places() -> list[str]:
    """Where it listens, for people: `127.0.0.1:8000`, or the name of a unix socket. Not multiprocessing's."""
    found = [_place(each) for each in _sockets()]
    return [place for place in found if place and "pymp-" not in place]


def _place(bound: socket) -> str | None:
    module = sys.modules["socket"]
    try:
        address = bound.getsockname()
        if not bound.getsockopt(module.SOL_SOCKET, module.SO_ACCEPTCONN):
            return None
    except (OSError, TypeError):
        return None
    if isinstance(address, tuple):
        return f"{address[0]}:{address[1]}"
    return address if isinstance(address, str) else None  # bytes: one that is in no file


def is_here(host: str) -> bool:
    return host in ("localhost", "::1", "0.0.0.0", "::") or host.startswith("127.")


def _sockets() -> Iterator[socket]:
    yield from list(_bound)
    for server in list(_servers):
        yield from server.sockets or ()


def _listens(bound: socket, port: int) -> bool:
    return _is_listening(bound) and bound.getsockname()[1] == port


def _is_listening(bound: socket) -> bool:
    module = sys.modules["socket"]  # a program that asks no port has not imported it
    try:
        address = bound.getsockname()
        return bool(bound.getsockopt(module.SOL_SOCKET, module.SO_ACCEPTCONN)) and isinstance(address[1], int)
    except (OSError, IndexError, TypeError):
        return False  # closed, or no socket of the internet


def _take(bind: Callable[[Any, Any], None], bound: Any, address: Any) -> None:
    bind(bound, address)


def _bind(original: Callable[[Any, Any], None], bound: socket, address: Any, /) -> None:
    try:
        if draw is None or not _is_drawn(address):
            (take or _take)(original, bound, address)
        elif (error := draw(original, bound, address)) is not None:
            raise error.with_traceback(None)
    except BaseException as error:
        step_out(error)
        raise
    _bound.add(bound)
    _begin()


def _listen(original: Callable[..., None], bound: socket, /, *backlog: Any) -> None:
    """Of one that another process has bound and handed over, too, as servers with workers do."""
    try:
        original(bound, *backlog)
    except BaseException as error:
        step_out(error)
        raise
    if bound not in _bound:
        _bound.add(bound)
        _begin()


def _fromfd(original: Callable[..., socket], *args: Any, **options: Any) -> socket:
    """One at which another process listens already: it starts a server anew for each change."""
    made = original(*args, **options)
    with guard("a server of the program's own"):
        if _is_listening(made):
            _bound.add(made)
            _begin()
    return made


def _is_drawn(address: Any) -> bool:
    return type(address) is tuple and len(address) in (2, 4) and address[1] == 0  # of IPv4, of IPv6


def note(server: Any) -> None:
    """A server of uvloop's."""
    _servers.add(server)
    _begin()


def _begin() -> None:
    global at_first
    if at_first is not None:
        begin, at_first = at_first, None
        with guard("a server of the program's own"):
            begin()


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("socket", "socket", "bind", _bind),
    ("socket", "socket", "listen", _listen),
    ("socket", "", "fromfd", _fromfd),
)


def _inherit() -> None:
    _inherited.update(_bound)
    _bound.clear()
    _servers.clear()


processes.renewals += (_inherit,)
