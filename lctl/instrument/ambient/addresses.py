"""The address at which this machine is found, as programs learn it: of a datagram socket that they connect to
somewhere, and send nothing over.

In a rerun it is the recorded one, and nothing is connected; who sends over such a socket is refused that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from lctl.instrument.ambient import callers, reads, slots
from lctl.interrupts import step_out
from lctl.session import ownports
from lctl.session.sources import HOST

_KEY = "socket.connect"
_getframe = sys._getframe
#: In a rerun: what such a socket says of itself, and where it would be connected to.
_recorded: WeakKeyDictionary[Any, tuple[tuple[Any, ...], Any]] = WeakKeyDictionary()


def install() -> None:
    from lctl.instrument.hooks import on_import

    slots.on_undo(on_import("socket", _watch).remove)


def _watch(socket: ModuleType) -> None:
    if not reads.active():
        return
    plain, original = socket.socket, socket.socket.connect
    kind = _class(plain, original)

    def connect(self: Any, address: Any, /) -> None:
        try:
            if type(self) is not plain or self.type != socket.SOCK_DGRAM or not _is_far(address):
                original(self, address)
            elif (error := _connect(original, self, address, kind)) is not None:
                raise error.with_traceback(None)
        except BaseException as error:
            step_out(error)
            raise

    slots.replace(plain, "connect", slots.like(connect, original))


def _is_far(address: Any) -> bool:
    return type(address) is tuple and len(address) in (2, 4) and not ownports.is_here(str(address[0]))


def _connect(
    original: Callable[[Any, Any], None], datagrams: Any, address: Any, kind: type
) -> OSError | None:
    def real() -> list[Any] | OSError:
        try:
            original(datagrams, address)
        except OSError as error:
            return error
        return list(datagrams.getsockname())

    def taken(value: Any) -> list[Any] | OSError:
        if isinstance(value, dict):
            return OSError(*value["$error"])
        datagrams.__class__ = kind
        _recorded[datagrams] = tuple(value), address
        return list(value)

    found = reads.read(HOST, _KEY, _caller(_getframe(2)), real, _encoded, taken)
    return found if isinstance(found, OSError) else None


def _caller(frame: FrameType) -> FrameType:
    """Who connects: not what of lctl stands before it where the program has a server."""
    while frame.f_back is not None and callers.is_lctl(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _encoded(found: list[Any] | OSError) -> Any:
    return {"$error": [found.errno, found.strerror]} if isinstance(found, OSError) else found


def _class(plain: type, connect: Callable[[Any, Any], None]) -> type:
    """A socket that is not connected, and says that it were; who sends over it connects it. An object of a
    class without slots of its own may become one."""

    def connected(datagrams: Any) -> Any:
        _, address = _recorded.pop(datagrams)
        datagrams.__class__ = plain
        connect(datagrams, address)  # which is refused, unless it is allowed
        return datagrams

    class Unconnected(plain):  # type: ignore[misc]
        __slots__ = ()

        def getsockname(self) -> Any:
            return _recorded[self][0]

        def getpeername(self) -> Any:
            return _recorded[self][1]

        def send(self, *args: Any) -> Any:
            return connected(self).send(*args)

        def sendall(self, *args: Any) -> None:
            connected(self).sendall(*args)

        def sendmsg(self, *args: Any) -> Any:
            return connected(self).sendmsg(*args)

    Unconnected.__module__, Unconnected.__name__, Unconnected.__qualname__ = "socket", "socket", "socket"
    return Unconnected
