"""What urllib3's `_make_request(conn, method, url, body=None, headers=None, ...)` is told, read and set."""

from __future__ import annotations

from typing import Any, NamedTuple

from lctl.distributed import hosts
from lctl.guard import guard
from lctl.instrument import suppress

#: In which it sends text of files and iterators.
TEXT = "utf-8"


class Request(NamedTuple):
    """What `_make_request(conn, method, url, body=None, headers=None, ...)` was told.

    `path` is what stands in the request's first line, `url` the whole; `body` None where nobody knows.
    """

    method: str
    path: str
    url: str
    headers: dict[str, str]
    body: bytes | None


def request_of(pool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Request:
    method, path = args[1:3] if len(args) > 2 else (kwargs["method"], kwargs["url"])
    body = args[3] if len(args) > 3 else kwargs.get("body")
    headers = args[4] if len(args) > 4 else kwargs.get("headers")
    url = path
    if path.startswith("/"):
        default = {"http": 80, "https": 443}.get(pool.scheme)
        port = "" if pool.port in (None, default) else f":{pool.port}"
        url = f"{pool.scheme}://{pool.host}{port}{path}"
    pairs = {_text(name).lower(): _text(value) for name, value in dict(headers or {}).items()}
    if isinstance(body, str):
        body = body.encode()
    known = bytes(body) if isinstance(body, (bytes, bytearray, memoryview)) else b"" if body is None else None
    return Request(method, path, url, pairs, known)


def named(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `_make_request` with body and headers by name."""
    by_name = dict(zip(("conn", "method", "url", "body", "headers"), args, strict=False)) | kwargs
    return (by_name.pop("conn"), by_name.pop("method"), by_name.pop("url"), *args[5:]), by_name


def with_context(
    pool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `_make_request`, with the trace context in the headers of a host that is told."""
    if not hosts.patterns() or suppress.silenced():
        return args, kwargs
    with guard("a request's trace context"):
        url = request_of(pool, args, kwargs).url
        if hosts.is_told(url):
            rest, by_name = named(args, kwargs)
            headers = dict(by_name.get("headers") or {})
            hosts.tell(url, headers)
            return rest, {**by_name, "headers": headers}
    return args, kwargs


def with_body(
    args: tuple[Any, ...], kwargs: dict[str, Any], body: bytes
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `_make_request`, with another body and its length."""
    args, by_name = named(args, kwargs)
    left = ("content-length", "transfer-encoding")
    kept = {k: v for k, v in dict(by_name.get("headers") or {}).items() if _text(k).lower() not in left}
    by_name |= {"body": body, "headers": {**kept, "Content-Length": str(len(body))}, "chunked": False}
    return args, by_name


def with_url(
    args: tuple[Any, ...], kwargs: dict[str, Any], url: str
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `_make_request`, with another URL of the same host."""
    (conn, method, old, *others), by_name = named(args, kwargs)
    path = "/" + url.partition("//")[2].partition("/")[2]
    return (conn, method, path if old.startswith("/") else url, *others), by_name


def whole(body: Any) -> bytes | None:
    """A body that was not plain bytes, read; None if it cannot be."""
    data = body.read() if hasattr(body, "read") else b"".join(_bytes(piece) for piece in body)
    return _bytes(data)


def _bytes(data: Any) -> bytes:
    return data.encode() if isinstance(data, str) else bytes(data)


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
