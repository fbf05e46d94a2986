"""uvicorn: the log is closed before the server raises again the signal that it was ended by.

The process dies of that one, without exit functions: servers in containers, workers of gunicorn and of
`--workers`, those that `--reload` replaces.
"""

from __future__ import annotations

import signal
from collections.abc import Awaitable
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from lctl.guard import guard
from lctl.instrument.ambient import requests
from lctl.instrument.patches import PatchSet
from lctl.session import default
from lctl.session.concurrency import ownrequests

#: Whether SIGTERM is the end of the process, as it was before the server took it. It is, where the server
#: loads the program as it serves: then it has taken it before we are there.
_ends: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


class Uvicorn:
    """uvicorn 0.29 and later; older ones end as programs do."""

    name = "uvicorn"
    supported = ">=0.29,<1"
    modules = (
        "uvicorn.server",
        "uvicorn.protocols.http.h11_impl",
        "uvicorn.protocols.http.httptools_impl",
        "uvicorn.protocols.websockets.websockets_impl",
        "uvicorn.protocols.websockets.websockets_sansio_impl",
        "uvicorn.protocols.websockets.wsproto_impl",
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ != "uvicorn.server":
            patches.wrap(module, "get_remote_addr", _remote_address)
            return
        patches.wrap(module, "Server.capture_signals", _capture_signals)
        patches.wrap(module, "Server.shutdown", _shutdown)


def _capture_signals(wrapped: Any, server: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with guard("how SIGTERM is handled"):
        _ends[server] = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    return wrapped(*args, **kwargs)


def _shutdown(wrapped: Any, server: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Awaitable[Any]:
    is_told = False
    with guard("the end of a server"):
        is_told = bool(server._captured_signals) and requests.end_talks(
            signal.Signals(server._captured_signals[-1]).name
        )
    return _close_after(wrapped(*args, **kwargs), server, is_told)


def _remote_address(wrapped: Any, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """In a rerun the recorded client's: uvloop, whose sockets are not Python's, tells of who connects."""
    address = wrapped(*args, **kwargs)
    return ownrequests.stands_for.get(address[1], address) if address and ownrequests.stands_for else address


async def _close_after(shutting_down: Awaitable[Any], server: Any, is_told: bool) -> Any:
    made = await shutting_down
    with guard("the end of a server"):
        if signal.SIGTERM in server._captured_signals:
            if not is_told:
                requests.end("SIGTERM")
            if _ends.get(server, True):
                default.end()
    return made


__all__ = ["Uvicorn"]
