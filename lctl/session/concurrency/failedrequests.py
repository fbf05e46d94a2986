"""Requests from outside that the program fails to answer: with an exception that its server only logs.

Nobody else tells of it: the client has `500`, and the server goes on. Servers log such an exception in the
lane that answers the request: by `logging`, those of Python's own library on stderr.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from lctl.guard import guard
from lctl.session.concurrency import arrivals, lanes
from lctl.session.ownpackages import installed_as

#: Packages whose log lines of exceptions say that a request has failed; those of others, that something has
#: that the program may have gone on from.
_SERVERS = """
aiohttp blacksheep bottle cheroot daphne django falcon fastapi flask granian gunicorn hypercorn litestar quart
sanic starlette tornado uvicorn waitress werkzeug
"""
_PLACE = "the exception that ends a request"
#: `logging.ERROR`; not every program loads that.
_ERROR = 40

_servers = frozenset(_SERVERS.split())


def _handle(original: Callable[..., Any], logger: Any, record: Any, /) -> Any:
    if record.exc_info and record.levelno >= _ERROR:
        with guard(_PLACE):
            if installed_as(record.pathname) in _servers:
                _tell(record.exc_info[1])
    return original(logger, record)


def _handle_error(original: Callable[..., Any], server: Any, *args: Any, **options: Any) -> Any:
    with guard(_PLACE):
        _tell(sys.exc_info()[1])
    return original(server, *args, **options)


def _tell(error: object) -> None:
    request = arrivals.answered_in(lanes.current())
    if request is None or not isinstance(error, Exception):
        return
    if request.is_left and isinstance(error, ConnectionError):
        return  # by which the server finds that out
    from lctl.session import default  # which needs this module

    session = default.running()
    if session is not None and not session.closed:
        session.fail(error, "request", request=request.asked)


#: module, class, function, wrapper; of use only where there is a server.
HOOKS_OF_SERVERS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("logging", "Logger", "handle", _handle),
    ("socketserver", "BaseServer", "handle_error", _handle_error),
    ("wsgiref.handlers", "BaseHandler", "log_exception", _handle_error),
)
