"""Ports that the system draws: of a socket that is bound to port 0.

Programs look for a free port so that something else may listen at it (a model server, an MCP server, a
browser that they start), and ask there by HTTP. In a rerun it is the recorded one, if nobody has it.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from lctl.instrument.ambient import callers, reads
from lctl.session import border, ownports
from lctl.session.sources import PORT

_getframe = sys._getframe
_Bind = Callable[[Any, Any], None]


def install() -> None:
    ownports.draw, ownports.take = _draw, _take_named


def uninstall() -> None:
    ownports.draw = ownports.take = None


def _draw(bind: _Bind, bound: Any, address: tuple[Any, ...]) -> OSError | None:
    frame = _getframe(3)  # of who called `bind`: behind `ownports` and what puts it there
    if _is_ours(frame):
        bind(bound, address)
        return None

    def real() -> int | OSError:
        try:
            bind(bound, address)
        except OSError as error:
            return error
        return int(bound.getsockname()[1])

    def taken(value: Any) -> int | OSError:
        if isinstance(value, dict):
            return OSError(*value["$error"])
        _take(bind, bound, (address[0], value, *address[2:]), address)
        return int(value)

    found = reads.read(PORT, "socket.bind", frame, real, _encoded, taken)
    return found if isinstance(found, OSError) else None


def _encoded(found: int | OSError) -> Any:
    return {"$error": [found.errno, found.strerror]} if isinstance(found, OSError) else found


def _take(bind: _Bind, bound: Any, recorded: tuple[Any, ...], address: tuple[Any, ...]) -> None:
    """Bind to the recorded port; where somebody has it, to another one: an own server is found there, too."""
    try:
        _bind_again(bind, bound, recorded)
    except OSError:
        bind(bound, address)


def _take_named(bind: _Bind, bound: Any, address: Any) -> None:
    """Bind to a port that the program names: it may look by that whether it is free."""
    if border.player() is None:
        bind(bound, address)
    else:
        _bind_again(bind, bound, address)


def _bind_again(bind: _Bind, bound: Any, address: Any) -> None:
    """Connections of the recording may still be waiting for late packets (TIME_WAIT) at that port, for a
    minute; a server that may be started anew at once says that they do not matter.

    Raises:
        OSError: somebody listens there.
    """
    try:
        bind(bound, address)
        return
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
    socket = sys.modules["socket"]
    before = bound.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bind(bound, address)
    finally:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, before)


def _is_ours(frame: FrameType | None) -> bool:
    """Whether lctl binds it: its server of models, its debugger."""
    while frame is not None and callers.is_standard(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and callers.is_lctl(frame.f_code.co_filename)
