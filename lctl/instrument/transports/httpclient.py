"""http.client, and with it urllib.request and everything else built on it that is not urllib3.

A request is seen where its buffered head is sent (`HTTPConnection._send_output`); one whose body the
program sends itself (`HTTPConnection.send`) or gives as a file or an iterator begins when that has been sent.
Its response is seen where `getresponse` returns it. Responses keep their identity; while one is recorded its
class is a subclass without fields that also hands what is read to the attempt.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lctl.instrument import serving, suppress, wire
from lctl.instrument.attempts import Attempt, never_raises
from lctl.instrument.patches import PatchSet
from lctl.instrument.transports.httpbodies import Bodies, is_read
from lctl.instrument.transports.httprequests import (
    TEXT,
    Request,
    is_bytes,
    is_plain,
    read,
    set_length,
    with_whole_body,
)
from lctl.instrument.uploads import Upload, teed
from lctl.session.runs.wrappedruns import step_aside

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


class _Asked:
    """A request that has left, or is served; its response has not been asked for.

    Attributes:
        upload: what the program sends of it after the head.
        ask: in a rerun, what asks with the whole of it, until when nothing is sent.
    """

    __slots__ = ("answer", "ask", "attempt", "request", "upload")

    def __init__(
        self,
        request: Request,
        attempt: Attempt | None,
        answer: Answer | None = None,
        upload: Upload | None = None,
        ask: Callable[[bytes | None], Any] | None = None,
    ) -> None:
        self.request = request
        self.attempt = attempt
        self.answer = answer
        self.upload = upload
        self.ask = ask

    def failed(self, error: BaseException) -> None:
        if self.upload is not None:
            self.upload.failed(error)
        elif self.attempt is not None:
            self.attempt.failed(error)

    def received(self) -> None:
        """Its attempt is followed by others from now on, or over."""
        self.attempt = self.upload = None

    def __del__(self) -> None:
        # An interrupt came before its response was asked for, or the program asks something else, or its
        # connection is gone: nobody else can end what began.
        upload = getattr(self, "upload", None)  # an interrupt may have come as it was made
        attempt = getattr(self, "attempt", None) if upload is None else upload.attempt
        if attempt is not None:
            attempt.abandoned()


class _Seam:
    def __init__(self) -> None:
        self._bodies = Bodies()
        self._asked: weakref.WeakKeyDictionary[Any, _Asked] = weakref.WeakKeyDictionary()

    # -- requests --------------------------------------------------------------------------

    def send_output(self, wrapped: Any, conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Signature of the wrapped: (message_body=None, encode_chunked=False)."""
        if self._asked:
            self._asked.pop(conn, None)
        player = serving.player_here()
        if player is not None:
            return self._ask(player, wrapped, conn, args, kwargs)
        asked = None if suppress.silenced() else self._begin(conn, args, kwargs)
        try:
            if asked is None:
                return wrapped(*args, **kwargs)
            args, kwargs = _kept(asked, args, kwargs)
            return self._sent(wrapped, conn, args, kwargs, asked)
        except BaseException as error:
            step_aside(error)
            raise

    @never_raises("the start of a model call")
    def _begin(self, conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Asked | None:
        request = read(conn, args, kwargs)
        seen = wire.recognise(request.method, request.url, request.headers)
        if seen is None:
            return None
        headers = request.headers.items()
        # What is no model call may be of any size: it begins before it is sent, where it is sent at once.
        if request.body is None and (seen[3] is not None or is_plain(args, kwargs)):
            begin = partial(wire.begin, seen, "http.client", headers)
            return _Asked(request, None, upload=Upload(begin, request.length, request.is_framed))
        attempt = wire.begin(seen, "http.client", headers, request.body)
        try:
            return None if attempt is None else _Asked(request, attempt)
        except BaseException as error:
            if attempt is not None:
                attempt.failed(error)  # an interrupt may come between the two
            raise

    def _sent(
        self, send: Any, conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], asked: _Asked
    ) -> Any:
        attempt = asked.attempt
        if attempt is not None:
            attempt.unsent = True
        was = suppress.silenced()
        try:
            suppress.silence(suppress.REPORTED)
            result = send(*args, **kwargs)
        except BaseException as error:
            asked.failed(error)
            step_aside(error)
            raise
        finally:
            suppress.silence(was)
        if attempt is not None:
            attempt.unsent = False
        self._asked[conn] = asked
        return result

    def _ask(
        self, player: Player, wrapped: Any, conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """In a rerun: serve the request, or send it, once its body is there."""
        args, kwargs = with_whole_body(args, kwargs)
        request = read(conn, args, kwargs)
        if request.body is not None:
            return self._cross(player, wrapped, conn, request, args, kwargs)

        def ask(body: bytes | None) -> Any:
            set_length(conn._buffer, len(body or b""))
            return self._cross(player, wrapped, conn, request._replace(body=body), (body,), {})

        upload = Upload(lambda _: None, request.length, request.is_framed)
        _kept(asked := _Asked(request, None, upload=upload, ask=ask), args, kwargs)
        self._asked[conn] = asked
        return None

    def _cross(
        self,
        player: Player,
        wrapped: Any,
        conn: Any,
        request: Request,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        from lctl.instrument.serving import httpclient as played

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
            set_length(conn._buffer, len(passage.body))
            args, kwargs = (passage.body,), {}
        return self._sent(wrapped, conn, args, kwargs, asked)

    def send(self, wrapped: Any, conn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a program sends itself, after the head."""
        asked = self._asked.get(conn) if self._asked else None
        if asked is not None and asked.ask is not None:
            return self._hold(asked, *args, **kwargs)
        if asked is not None and asked.answer is not None:
            return None
        try:
            if asked is not None and asked.upload is not None:
                args, kwargs = _piece_kept(asked.upload, *args, **kwargs), {}
            return wrapped(*args, **kwargs)
        except BaseException as error:
            if asked is not None and asked.upload is not None:
                asked.upload.failed(error)
            step_aside(error)
            raise

    def _hold(self, asked: _Asked, data: Any) -> None:
        upload = asked.upload
        assert upload is not None and asked.ask is not None
        for piece in _piece_kept(upload, data):
            if not is_bytes(piece):
                for _ in piece:
                    pass
        if upload.is_complete:
            asked.ask(upload.body)

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
        if asked is not None and asked.ask is not None and asked.upload is not None:
            asked.ask(asked.upload.body)  # less than was announced
            asked = self._asked.pop(conn, None)
        attempt = None if asked is None else asked.attempt
        if asked is not None and asked.upload is not None:
            attempt = asked.upload.begin()
        if asked is not None and asked.answer is not None:
            from lctl.instrument.serving import httpclient as played

            wrapped = played.responding(wrapped, conn, asked.answer)
        try:
            response = wrapped(*args, **kwargs)
            if attempt is not None:
                self._received(attempt, response)
        except BaseException as error:
            if attempt is not None:
                attempt.failed(error)
            step_aside(error)
            raise
        if asked is not None:
            asked.received()
        return response

    @never_raises("a response")
    def _received(self, attempt: Attempt, response: Any) -> None:
        attempt.raw = True
        attempt.answered(response.status, response.getheaders(), response.reason)
        if is_read(response):
            attempt.end()
        else:
            self._bodies.follow(response, attempt)


def _kept(
    asked: _Asked, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `_send_output` with a body that keeps what is sent of it, where nobody knows it."""
    body = args[0] if args else kwargs.get("message_body")
    if body is None or asked.request.body is not None:
        return args, kwargs
    if asked.upload is not None:
        [body] = _piece_kept(asked.upload, body)
    elif asked.attempt is not None and asked.attempt.upload is not None:
        body = teed(body, asked.attempt.upload, TEXT)
    return ((body, *args[1:]), kwargs) if args else (args, {**kwargs, "message_body": body})


def _piece_kept(upload: Upload, data: Any) -> tuple[Any]:
    """The arguments of `send` with data that is added to `upload` as it is sent."""
    if not is_bytes(data):
        return (data if isinstance(data, str) else upload.passing(data, TEXT),)
    upload.add(data)
    return (data,)
