"""Requests that the program asks a server of its own: each is answered in a lane of who asked.

Connections of threads come to be accepted in another order in each run, and of a pool of connections each
request takes one that is free. So what answers a request runs in the lane `<who asked>/s<what>.<n>`: the
nth request of that lane for the same thing, whichever connection it comes by. Seen are requests of HTTP/1
over Python's sockets; what answers others is in the order of accepting.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from lctl.guard import guard
from lctl.interrupts import step_out
from lctl.session import ownports
from lctl.session.concurrency import arrivals, cutoffs, lanes, processes, talks, turns
from lctl.session.concurrency.lane import Lane, Request

if TYPE_CHECKING:
    from socket import socket

_PLACE = "a connection to a server of the program's own"
#: What was sent and has not been read yet, by the ports of client and server.
_sent: dict[tuple[int, int], Request | None] = {}
#: What is to be done where that is read.
_told: dict[tuple[int, int], Callable[[], object]] = {}
#: Of connections that uvloop's clients make to the program's own servers: what is sent there is not seen.
unseen: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
#: Of connections that are WebSockets: the addresses of client and server, which are not known any more where
#: the client has gone.
_talking: WeakKeyDictionary[Any, tuple[Any, Any]] = WeakKeyDictionary()
#: In a rerun: whom the program takes for the client that has this port.
stands_for: dict[int, Any] = {}
#: In a rerun: who asks from outside is this rerun, and its ports.
is_asked_again = False
asking: set[int] = set()
#: Those of them that a server has accepted.
accepted_from: set[int] = set()
#: The classes of both ends of a connection, once there is one.
_ends: tuple[type[socket], type[socket]] | None = None


def _connect(original: Callable[[Any, Any], None], client: Any, address: Any, /) -> None:
    with guard(_PLACE):
        if _is_plain(client) and ownports.is_at(address):
            client.__class__ = _classes()[0]
    try:
        original(client, address)
    except BaseException as error:
        step_out(error)
        raise


def _accept(original: Callable[[Any], tuple[Any, Any]], listening: Any, /) -> tuple[Any, Any]:
    here = lanes.raw()
    if type(here) is Request and here.under is not None:  # a server that answers one after the other
        lanes.enter(here.under)
    try:
        accepted, address = original(listening)
    except BaseException as error:
        step_out(error)
        raise
    with guard(_PLACE):
        if _is_plain(accepted) and isinstance(address, tuple):
            accepted.__class__ = _classes()[1]
            arrivals.forget(address, accepted.getsockname())
            if is_asked_again:
                accepted_from.add(_port(address))
            address = stands_for.get(_port(address), address)
    return accepted, address


def _is_plain(one: Any) -> bool:
    return type(one) is sys.modules["socket"].socket  # none of ssl's, of gevent's, of the program's own


def _classes() -> tuple[type[socket], type[socket]]:
    """The ends of connections between client and server of this process: sockets, that tell of requests.

    An object of a class without slots of its own may become one: whoever asks no socket pays nothing.
    """
    global _ends
    if _ends is None:
        plain: type[socket] = sys.modules["socket"].socket

        class Client(plain):  # type: ignore[misc, valid-type]
            __slots__ = ()
            __reduce_ex__ = _reduce

            def send(self, data: Any, *flags: Any) -> int:
                _send(self, data)
                return super().send(data, *flags)  # type: ignore[no-any-return]

            def sendall(self, data: Any, *flags: Any) -> None:
                _send(self, data)
                super().sendall(data, *flags)

            def sendmsg(self, buffers: Any, *more: Any) -> int:
                parts = list(buffers)
                _send(self, parts[0] if parts else b"")
                return super().sendmsg(parts, *more)  # type: ignore[no-any-return]

        class Server(plain):  # type: ignore[misc, valid-type]
            __slots__ = ()
            __reduce_ex__ = _reduce

            def recv(self, *args: Any) -> bytes:
                try:
                    data: bytes = super().recv(*args)
                except ConnectionError:
                    _lose(self)
                    raise
                _receive(self, data)
                return data

            def recv_into(self, buffer: Any, *args: Any, **options: Any) -> int:
                try:
                    size: int = super().recv_into(buffer, *args, **options)
                except ConnectionError:
                    _lose(self)
                    raise
                _receive(self, memoryview(buffer)[:size])
                return size

            send = _leaving(plain.send)
            sendall = _leaving(plain.sendall)
            sendmsg = _leaving(plain.sendmsg)

            def close(self) -> None:
                _close(self)
                super().close()

            def getpeername(self) -> Any:
                address = super().getpeername()
                return stands_for.get(_port(address), address)

        for made in (Client, Server):
            made.__module__, made.__name__, made.__qualname__ = plain.__module__, "socket", "socket"
        _ends = Client, Server
    return _ends


def _reduce(one: socket, protocol: Any) -> Any:
    """multiprocessing sends sockets to other processes, and knows them by their class."""
    name, plain = "multiprocessing.reduction", sys.modules["socket"].socket
    if sys._getframe(1).f_globals.get("__name__") == name:
        return sys.modules[name].ForkingPickler._extra_reducers[plain](one)
    return plain.__reduce_ex__(one, protocol)


def _wrap(original: Callable[..., None], wrapper: Any, one: Any, /, *args: Any, **options: Any) -> None:
    """trio takes none but plain sockets, and does not call their methods by name."""
    if _ends is not None and type(one) in _ends:
        one.__class__ = sys.modules["socket"].socket
    original(wrapper, one, *args, **options)


def _send(client: socket, data: Any) -> None:
    with guard(_PLACE):
        what = arrivals.what(data)
        ends = None if what is None else _addresses(client)
        if what is not None and ends is not None:
            _sent[_port(ends[0]), _port(ends[1])] = _asker().request(what)


def _asker() -> Lane:
    """Who asks: not what the client's library starts for itself (aiohttp writes in a task)."""
    lane = lanes.current()
    while lane.parent is not None and lane.path.endswith(".0"):
        lane = lane.parent
    return lane


def _receive(accepted: socket, data: Any) -> None:
    with guard(_PLACE):
        ends = _talking.get(accepted) if _talking else None
        if ends is None:
            own = _addresses(accepted)
            ends = None if own is None else (own[1], own[0])
        if ends is not None:
            take(*ends, data)
            if talks.are_open() and (arrivals.is_talk(*ends) or _port(ends[0]) in asking):
                _talking[accepted] = ends


def _leaving(original: Callable[..., Any]) -> Callable[..., Any]:
    """A method by which a server sends: it may be told that the client has gone."""

    def send(accepted: socket, *args: Any) -> Any:
        sending = None
        with guard(_PLACE):
            sending = cutoffs.begin()
        try:
            if sending is not None:
                sending.check()
            return original(accepted, *args)
        except ConnectionError as error:
            _lose(accepted)
            with guard(_PLACE):
                if sending is not None:
                    sending.fail(error)
            raise

    return send


def _lose(accepted: socket) -> None:
    with guard(_PLACE):
        ends = _talking.pop(accepted, None)
        if ends is not None:
            arrivals.end(*ends, is_reset=True)


def _close(accepted: socket) -> None:
    with guard(_PLACE):
        ends = None if accepted._io_refs > 0 else _talking.pop(accepted, None)  # type: ignore[attr-defined]
        if ends is not None:
            arrivals.forget(*ends)


def _addresses(end: socket) -> tuple[Any, Any] | None:
    """Its own, and the other end's; None where that is gone."""
    try:
        return end.getsockname(), sys.modules["socket"].socket.getpeername(end)
    except OSError:
        return None


def take(client: Any, server: Any, data: Any) -> None:
    """What has come from `client` to `server` (their addresses) is answered here: go into its lane. Nothing
    has come where the client goes."""
    ports = _port(client), _port(server)
    if ports in _sent:
        request = _sent.pop(ports)
        turns.arrived()
        told = _told.pop(ports, None)
        if told is not None:
            told()
        if request is not None and data:
            arrivals.enter(request)
    elif not data:
        arrivals.end(client, server)
    elif not any(_port(one) == _port(client) for one in unseen.values()):
        arrivals.receive(client, server, data)


def expect(
    client: Any, server: Any, request: Request | None, told: Callable[[], object] | None = None
) -> None:
    """What comes from `client` to `server` next is this one; None: goes on with what came, or is its end.
    `told`: is called where it is read."""
    ports = _port(client), _port(server)
    if told is not None:
        _told[ports] = told
    _sent[ports] = request


def forget(client: Any, server: Any) -> None:
    """It does not come."""
    _sent.pop((_port(client), _port(server)), None)


def is_taken(client: Any, server: Any) -> bool:
    """Whether what was sent has been read."""
    return (_port(client), _port(server)) not in _sent


def is_asked_over(file: int) -> bool:
    """Whether that file is a socket that listens, or at whose other end is who asks in a rerun."""
    client = asked_from(file)
    return client == 0 or client in asking


def asked_from(file: int) -> int | None:
    """The port at the other end of that file, if it is a socket; 0 of one that listens."""
    from _socket import SO_ACCEPTCONN, SOL_SOCKET, socket

    try:
        one = socket(fileno=file)
    except OSError:
        return None
    try:
        if one.getsockopt(SOL_SOCKET, SO_ACCEPTCONN):
            return 0
        return _port(one.getpeername())
    except (OSError, LookupError, TypeError, ValueError):
        return None
    finally:
        one.detach()


def _port(address: Any) -> int:
    return int(address[1])


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("trio._socket", "_SocketType", "__init__", _wrap),
)

#: Those of use only where there is a server: a connection that is refused is raised through them.
HOOKS_OF_SERVERS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("socket", "socket", "connect", _connect),
    ("socket", "socket", "accept", _accept),
)

processes.renewals += (_sent.clear, _told.clear)
