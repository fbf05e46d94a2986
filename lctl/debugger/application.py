"""The application: the table of routes, the page's files, and who stands before them."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Endpoint

from lctl.debugger import routing
from lctl.debugger.access import Access
from lctl.debugger.apart import Workers
from lctl.debugger.failing import Refused
from lctl.debugger.serving import Server
from lctl.debugger.table import ROUTES

STATIC = Path(__file__).parent / "static"
#: What the page may consist of; anything else below `static` is not served.
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".map": "application/json",
    ".txt": "text/plain; charset=utf-8",
}


def build(server: Server, port: int, host: str) -> Access:
    """The server as an ASGI application behind its token."""
    hosts = () if host in ("127.0.0.1", "0.0.0.0", "::", "") else (host,)
    return Access(rooms(server), port=port, hosts=hosts)


def rooms(server: Server) -> Starlette:
    """The same with nobody before it."""
    from lctl.debugger.forkrunning import endpoints as running
    from lctl.debugger.live import endpoints as live
    from lctl.debugger.openapi import document

    async def described(request: Request) -> Response:
        return routing.json_response(document())

    workers = Workers(server.runs)
    routes = [routing.endpoint(route, server, workers) for route in ROUTES]
    routes += [*live(server), *([] if server.shared else running(server))]
    routes.append(Endpoint("/api/openapi.json", described))
    routes.append(Endpoint("/api/{rest:path}", _unknown, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]))
    routes.append(Endpoint("/{path:path}", _file))
    return Starlette(routes=routes)


async def _unknown(request: Request) -> Response:
    return routing.refused(Refused("not_found", f"there is no {request.method} {request.url.path}"))


async def _file(request: Request) -> Response:
    """A file of the page, by a name that is there."""
    path = request.path_params["path"] or "index.html"
    parts = path.split("/")
    found = STATIC.joinpath(*parts)
    media = _TYPES.get(found.suffix)
    if any(part in ("", ".", "..") or "\\" in part for part in parts) or media is None or not found.is_file():
        if path == "index.html":
            return Response(_NO_PAGE, 503, media_type="text/plain; charset=utf-8")
        return routing.refused(Refused("not_found", f"there is no page {request.url.path}"))
    status = found.stat()
    etag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
    headers = {"cache-control": "no-cache", "etag": etag}  # names stay, so an upgrade must be seen
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    return Response(found.read_bytes(), media_type=media, headers=headers)


_NO_PAGE = "The page's files are not here (lctl/debugger/static); the API is, below /api.\n"
