"""http.client, and with it urllib.request and everything else built on it that is not urllib3.

A request is seen where its buffered head is sent (`HTTPConnection._send_output`), its response where
`getresponse` returns it. Responses keep their identity; while one is recorded its class is a subclass
without fields that also hands what is read to the attempt.
"""

from __future__ import annotations

import weakref
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.instrument import serving, suppress, wire
from lctl.instrument.attempts import Attempt, never_raises
from lctl.instrument.patches import PatchSet
from lctl.instrument.plain import teed
from lctl.instrument.transports.httpbodies import Bodies, is_read
from lctl.session.wrappedruns import step_aside

if TYPE_CHECKING:
    from lctl.session.border import Answer, Player


class HttpClient:
    """The standard library's client."""

    name = "http.client"
    supported = ">=3.11,<3.15"
    modules = ("http.client",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        seam = _Seam()
        patches.wrap(module, "HTTPConnection._send_output", seam.send_output)
        patches.wrap(module, "HTTPConnection.send", seam.send)
        patches.wrap(module, "HTTPConnection.getresponse", seam.getresponse)
        patches.wrap(module, "HTTPConnection.connect", seam.connect)
        if hasattr(module, "HTTPSConnection"):
            patches.wrap(module, "HTTPSConnection.connect", seam.connect)


class _Request(NamedTuple):
    """The head in a connection's buffer, and the body that goes with it. `body` None where nobody knows."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes | None


class _Asked:
    """A request that has left, or is served; its response has not been asked for."""

    __slots__ = ("answer", "attempt", "request")

    def __init__(self, request: _Request, attempt: Attempt | None, answer: Answer | None) -> None:
        self.request = request
        self.attempt = attempt
        self.answer = answer


class _Seam:
    def __init__(self) -> None:
        self._bodies = Bodies()
        self._asked: weakref.WeakKeyDictionary[Any, _Asked] = weakref.WeakKeyDictionary()

    # -- requests --------------------------------------------------------------------------

    def send_output(self, wrapped: Any, conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Signature of the wrapped: (message_body=None, encode_chunked=False)."""
        player = serving.player_here()
        if player is not None:
            return self._ask(player, wrapped, conn, args, kwargs)
        begun = None if suppress.silenced() else self._begin(conn, args, kwargs)
        request, attempt = begun or (None, None)
        try:
            if request is None or attempt is None:
                return wrapped(*args, **kwargs)
            if attempt.upload is not None:
                args, kwargs = _teed(args, kwargs, attempt.upload)
            return self._sent(wrapped, conn, args, kwargs, _Asked(request, attempt, None))
        except BaseException as error:
            step_aside(error)
            raise

    @never_raises("the start of a model call")
    def _begin(
        self, conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[_Request, Attempt | None] | None:
        request = _read(conn, args, kwargs)
        seen = wire.recognise(request.method, request.url, request.headers)
        if seen is None:
            return None
        return request, wire.begin(seen, "http.client", request.headers.items(), request.body)

    def _sent(
        self, send: Any, conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], asked: _Asked
    ) -> Any:
        attempt = asked.attempt
        if attempt is not None:
            attempt.unsent = True
        token = suppress.silence(suppress.REPORTED)
        try:
            result = send(*args, **kwargs)
        except BaseException as error:
            if attempt is not None:
                attempt.failed(error)
            step_aside(error)
            raise
        finally:
            suppress.end_silence(token)
        if attempt is not None:
            attempt.unsent = False
        self._asked[conn] = asked
        return result

    def _ask(
        self, player: Player, wrapped: Any, conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """In a rerun: serve the request, or send it."""
        from lctl.instrument.serving import httpclient as played

        args, kwargs = _with_whole_body(conn, args, kwargs)
        request = _read(conn, args, kwargs)
        passage = serving.cross(
            player, "http.client", request.method, request.url, request.headers, request.body
        )
        serving.ready(passage)
        attempt = serving.begin(passage, "http.client", request.headers.items(), request.body)
        asked = _Asked(request, attempt, passage.answer)
        if passage.answer is not None:
            del conn._buffer[:]
            return self._sent(played.refuse, conn, (passage.answer,), {}, asked)
        if passage.body is not None:
            _set_length(conn._buffer, len(passage.body))
            args, kwargs = (passage.body,), {}
        return self._sent(wrapped, conn, args, kwargs, asked)

    def send(self, wrapped: Any, conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a program sends itself, after the head."""
        asked = self._asked.get(conn) if serving.player_here() is not None else None
        if asked is not None and asked.answer is not None:
            return None
        try:
            return wrapped(*args, **kwargs)
        except BaseException as error:
            step_aside(error)
            raise

    def connect(self, wrapped: Any, conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """In a rerun nothing is connected to ahead of a request that is let out."""
        if serving.player_here() is not None:
            return None
        try:
            return wrapped(*args, **kwargs)
        except BaseException as error:
            step_aside(error)
            raise

    # -- responses -------------------------------------------------------------------------

    def getresponse(self, wrapped: Any, conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        asked = self._asked.pop(conn, None) if self._asked else None
        attempt = None if asked is None else asked.attempt
        if asked is not None and asked.answer is not None:
            from lctl.instrument.serving import httpclient as played

            wrapped = played.responding(wrapped, conn, asked.answer)
        try:
            response = wrapped(*args, **kwargs)
        except BaseException as error:
            if attempt is not None:
                attempt.failed(error)
            step_aside(error)
            raise
        if attempt is not None:
            self._received(attempt, response)
        return response

    @never_raises("a response")
    def _received(self, attempt: Attempt, response: Any) -> None:
        attempt.raw = True
        attempt.answered(response.status, response.getheaders(), response.reason)
        if is_read(response):
            attempt.end()
        else:
            self._bodies.follow(response, attempt)


def _read(conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Request:
    lines = [line.decode("latin-1") if isinstance(line, bytes) else str(line) for line in conn._buffer]
    method, _, rest = lines[0].partition(" ")
    target = rest.rpartition(" ")[0]
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    body = args[0] if args else kwargs.get("message_body")
    known: bytes | None = None
    if isinstance(body, (bytes, bytearray, memoryview)):
        known = bytes(body)
    elif body is None and headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        known = b""
    return _Request(method, _url(conn, target), headers, known)


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


def _with_whole_body(
    conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `_send_output` with the body read, if it is a file or an iterator."""
    body = args[0] if args else kwargs.get("message_body")
    if body is None or isinstance(body, (bytes, bytearray, memoryview)):
        return args, kwargs
    if hasattr(body, "read"):
        data = body.read()
        whole = data.encode("iso-8859-1") if isinstance(data, str) else bytes(data)
    else:
        try:
            whole = bytes(memoryview(body))
        except TypeError:
            whole = b"".join(bytes(piece) for piece in body)
    if args:
        return (whole, *args[1:]), kwargs
    return args, {**kwargs, "message_body": whole}


def _teed(
    args: tuple[Any, ...], kwargs: dict[str, Any], kept: list[bytes]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `_send_output` with a body that keeps what is sent of it."""
    if args and args[0] is not None:
        return (teed(args[0], kept), *args[1:]), kwargs
    if kwargs.get("message_body") is not None:
        return args, {**kwargs, "message_body": teed(kwargs["message_body"], kept)}
    return args, kwargs


def _set_length(buffer: list[bytes], size: int) -> None:
    left = (b"content-length:", b"transfer-encoding:")
    buffer[1:] = [line for line in buffer[1:] if not line.lower().startswith(left)]
    buffer.append(b"Content-Length: %d" % size)
