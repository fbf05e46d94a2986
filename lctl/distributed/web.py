"""Servers: each request that comes from a recorded run is a chain of its own, linked to that run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from typing import Any

from lctl.distributed.carriers import Origin, extract
from lctl.distributed.joining import joined
from lctl.errors import LctlError
from lctl.guard import guard
from lctl.session.session import LCTLSession

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class ASGIMiddleware:
    """`app = ASGIMiddleware(app)`; `every`: also record requests that come from no recorded run."""

    def __init__(self, app: App, *, every: bool = False) -> None:
        self._app = app
        self._every = every

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = None
        if scope.get("type") == "http":
            session = _session(extract(scope.get("headers") or ()), self._every)
        if session is None:
            await self._app(scope, receive, send)
            return
        async with session:
            with session.step(intent=f"{scope.get('method', '')} {scope.get('path', '')}", kind="server"):
                await self._app(scope, receive, send)


class WSGIMiddleware:
    """`app = WSGIMiddleware(app)`; the chain ends when the response has been read."""

    def __init__(self, app: Callable[[dict[str, Any], Any], Iterable[bytes]], *, every: bool = False) -> None:
        self._app = app
        self._every = every

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        headers = {
            name[5:].replace("_", "-").lower(): value
            for name, value in environ.items()
            if name.startswith("HTTP_TRACE")
        }
        session = _session(extract(headers), self._every)
        if session is None:  # what the application gives is the server's: its length, its `close`
            return self._app(environ, start_response)
        return self._recorded(session, environ, start_response)

    def _recorded(
        self, session: LCTLSession, environ: dict[str, Any], start_response: Any
    ) -> Iterator[bytes]:
        what = f"{environ.get('REQUEST_METHOD', '')} {environ.get('PATH_INFO', '')}"
        with session, session.step(intent=what, kind="server"):
            body = self._app(environ, start_response)
            try:
                yield from body
            finally:
                close = getattr(body, "close", None)
                if close is not None:
                    close()


def _session(origin: Origin, every: bool) -> LCTLSession | None:
    if not origin.chain_id and not every:
        return None
    try:
        return joined(origin)
    except (LctlError, OSError) as error:
        guard.failed("a request", error)
        return None
