"""`Server`: what the views of the whole server are given, and the loop that serves."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from lctl.debugger.catalogue import Catalogue
from lctl.debugger.confirming import Confirmations
from lctl.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from lctl.debugger.access import Access, Application


class Server:
    """A catalogue, served.

    Attributes:
        runs: the runs it knows.
        confirmations: of forks that were prepared.
        allow_run: whether its user said that forks may be run from the page.
        shared: for several people; it runs nothing.
    """

    def __init__(self, runs: Catalogue, *, allow_run: bool = False, shared: bool = False) -> None:
        self.runs = runs
        self.allow_run = allow_run and not shared
        self.shared = shared
        self.confirmations = Confirmations()


def bind(host: str, port: int | None) -> socket.socket:
    """A socket that listens: at `port`, else at the usual one, else at any that is free.

    Raises:
        UsageError: there is no such address here, or the port is taken.
    """
    tried = [port] if port is not None else [USUAL, 0]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for n, one in enumerate(tried):
        # asyncio turns off Nagle's delay, 40 ms an answer, only where the protocol is named.
        made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        if os.name != "nt":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, one))
            made.listen(128)
            return made
        except (OSError, OverflowError) as error:
            made.close()
            if n == len(tried) - 1:
                what = getattr(error, "strerror", None) or str(error)
                raise UsageError(f"{host}:{one}: {what.lower()}; choose another --port or --host") from None
    raise AssertionError


_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h
#: Seconds for which a thread that computes holds up the one that answers; Python's own is five times that.
SWITCH = 0.001
#: The port that is tried first, so that links to a run are mostly good tomorrow.
USUAL = 4285


def application(server: Server, port: int, host: str = "127.0.0.1") -> Access:
    """The server as an ASGI application.

    Raises:
        MissingExtra: Starlette is not installed.
    """
    made: Access = _built().build(server, port, host)
    return made


def rooms(server: Server) -> Application:
    """The same without anybody who asks for a token. Raises as `application`."""
    made: Application = _built().rooms(server)
    return made


def _built() -> Any:
    try:
        from lctl.debugger import application
    except ImportError as error:
        if (error.name or "").split(".")[0] in ("starlette", "anyio"):
            raise MissingExtra("the debugger", "debug") from None
        raise
    return application


def serve(
    app: Application, listening: socket.socket, *, certificate: str | None = None, key: str | None = None
) -> None:
    """Serve until interrupted; over TLS with a certificate (and its key, where that is a file of its own).

    Raises:
        MissingExtra: uvicorn is not installed.
    """
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra("the debugger", "debug") from None
    _few_arenas()
    sys.setswitchinterval(SWITCH)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        lifespan="off",
        server_header=False,
        ws="none",
        loop="asyncio",
        timeout_graceful_shutdown=2,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    server = _ending_streams(uvicorn.Server(config))
    # uvicorn raises the signal that ended it once more; ours must leave time to remove temporary files. A
    # service that ends when it is told to has not failed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        sys.stderr.write("\n")
    finally:
        gc.freeze()  # of the objects of a long log: to collect them at the end takes ten seconds


def _ending_streams(server: Any) -> Any:
    """The server, which tells pages that follow a run of its end: they would hold it up.

    What its end cuts off is no error to be printed with a traceback.
    """
    import logging

    from lctl.debugger.streaming import ENDING

    leave = server.handle_exit

    def handle_exit(sig: int, frame: Any) -> None:
        ENDING.set()
        logging.getLogger("uvicorn.error").disabled = True
        leave(sig, frame)

    server.handle_exit = handle_exit
    return server


def _few_arenas() -> None:
    """Have glibc keep one heap for all threads: each thread's own would hold what it once needed for ever."""
    try:
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
    except (AttributeError, OSError, TypeError):
        pass  # another C library, which has its own ways


def give_back() -> None:
    """Have glibc return what is free to the system: it keeps it, and it counts as ours."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        pass  # another C library


def link(
    app: Access, host: str, port: int, run: str | None, at: int | None = None, *, once: bool = False
) -> str:
    """Where the page is, with the token of this launch, or with one that is good `once`."""
    name = "127.0.0.1" if host in ("0.0.0.0", "::", "") else f"[{host}]" if ":" in host else host
    place = {key: value for key, value in (("run", run), ("seq", at)) if value is not None}
    fragment = f"#{urlencode(place)}" if place else ""
    return f"http://{name}:{port}/?token={app.once() if once else app.token}{fragment}"
