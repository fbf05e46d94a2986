"""What http.client's connection is about to send: the head in its buffer, and the body that goes with it."""

from __future__ import annotations

from typing import Any, NamedTuple

from lctl.instrument.uploads import teed, unframed

#: In which it sends text of files.
TEXT = "iso-8859-1"


class Request(NamedTuple):
    """The head in a connection's buffer, and the body that goes with it.

    Attributes:
        body: None where nobody knows the whole of it.
        length: of the body, as the head says.
        is_framed: the body comes in chunks that the program writes.
    """

    method: str
    url: str
    headers: dict[str, str]
    body: bytes | None
    length: int | None
    is_framed: bool


def read(conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Request:
    """The request that `_send_output(message_body=None, encode_chunked=False)` is about to send."""
    lines = [line.decode("latin-1") if isinstance(line, bytes) else str(line) for line in conn._buffer]
    method, _, rest = lines[0].partition(" ")
    target = rest.rpartition(" ")[0]
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    said = headers.get("content-length", "")
    is_chunked = "chunked" in headers.get("transfer-encoding", "").lower()
    length = int(said) if said.isdecimal() and not is_chunked else None
    body, encodes = _given(args, kwargs)
    is_framed = is_chunked and not encodes
    known: bytes | None = None
    if body is None or is_bytes(body):
        known = b"" if body is None else bytes(body)
        if is_framed:
            known, is_whole = unframed(known)
        else:
            is_whole = len(known) >= (length or 0)
        if not is_whole:
            known = None
    return Request(method, _url(conn, target), headers, known, length, is_framed)


def _given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, bool]:
    body = args[0] if args else kwargs.get("message_body")
    return body, bool(args[1] if len(args) > 1 else kwargs.get("encode_chunked"))


def is_bytes(body: Any) -> bool:
    """Whether http.client sends it as it is; a file (also one in memory) and an iterable are read."""
    if hasattr(body, "read"):
        return False
    try:
        memoryview(body)
    except TypeError:
        return False
    return True


def is_plain(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether `_send_output` is given no file and no iterable."""
    body, _ = _given(args, kwargs)
    return body is None or is_bytes(body)


def _url(conn: Any, target: str) -> str:
    if not target.startswith("/"):
        return target  # to a proxy the whole URL is said
    scheme = "https" if conn.default_port == 443 else "http"
    host, port = conn.host, conn.port
    if getattr(conn, "_tunnel_host", None):
        host, port = conn._tunnel_host, conn._tunnel_port
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    place = host if port in (None, conn.default_port) else f"{host}:{port}"
    return f"{scheme}://{place}{target}"


def with_whole_body(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `_send_output` with the body read, if it is a file or an iterator."""
    body = args[0] if args else kwargs.get("message_body")
    if body is None or isinstance(body, bytes):
        return args, kwargs
    whole = bytes(body) if is_bytes(body) else b"".join(teed(body, [], TEXT))
    if args:
        return (whole, *args[1:]), kwargs
    return args, {**kwargs, "message_body": whole}


def set_length(buffer: list[bytes], size: int) -> None:
    left = (b"content-length:", b"transfer-encoding:")
    buffer[1:] = [line for line in buffer[1:] if not line.lower().startswith(left)]
    buffer.append(b"Content-Length: %d" % size)
