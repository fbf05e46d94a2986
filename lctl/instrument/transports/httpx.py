"""httpx and httpx2: the same patch points in both packages, alive side by side.

A logical call is one `Client.send` (see `sending`). `Client._send_single_request` is called once per attempt,
below auth, redirects and every SDK's retries, and above the transport, so custom and mock transports are seen
too. The response object stays the client's own; below its stream lies a tee that keeps the chunks which pass.
"""

from __future__ import annotations

import sys
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lctl.clock import monotonic_ns
from lctl.distributed import hosts
from lctl.guard import guard
from lctl.instrument import serving, suppress, wire
from lctl.instrument.attempts import Attempt
from lctl.instrument.patches import PatchSet
from lctl.instrument.serving.httpx import Players
from lctl.instrument.transports import sending
from lctl.instrument.transports.apps import is_answered_here
from lctl.instrument.transports.httpxstreams import (
    RecordedAsyncBody,
    RecordedAsyncUpload,
    RecordedBody,
    RecordedUpload,
)
from lctl.session import border
from lctl.session.runs.wrappedruns import step_aside

if TYPE_CHECKING:
    from lctl.session.border import Player


class Httpx:
    """The package `httpx`."""

    name = "httpx"
    supported = ">=0.25,<1"
    modules = ("httpx._client",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        patches.wrap(module, "Client.send", sending.send)
        patches.wrap(module, "AsyncClient.send", sending.send_async)
        tees = _Tees(module, self.name)
        patches.wrap(module, "Client._send_single_request", tees.send)
        patches.wrap(module, "AsyncClient._send_single_request", tees.send_async)
        patches.wrap(module, "AsyncClient.aclose", tees.close_async)
        patches.wrap(module, "AsyncClient.__aexit__", tees.close_async)


class Httpx2(Httpx):
    """The package `httpx2`, its maintained fork."""

    name = "httpx2"
    supported = ">=2,<3"
    modules = ("httpx2._client",)


class _Tees:
    """The wrappers for one package, with stream classes derived from that package's own."""

    def __init__(self, module: ModuleType, name: str) -> None:
        self.name = name
        package = module.__name__.partition(".")[0]  # itself only half imported by now
        exceptions = sys.modules[f"{package}._exceptions"]
        self._not_read: type[Exception] = exceptions.RequestNotRead
        self._players = Players(module, exceptions)
        self._sync = module.SyncByteStream
        self._async = module.AsyncByteStream
        own = {"__module__": __name__, "decoding_error": exceptions.DecodingError}
        self._tee = type("RecordedStream", (RecordedBody, self._sync), own)
        self._upload: Any = type("RecordedUpload", (RecordedUpload, self._sync), {"__module__": __name__})
        self._async_upload: Any = type(
            "RecordedUpload", (RecordedAsyncUpload, self._async), {"__module__": __name__}
        )
        self._async_tee = type("RecordedStream", (RecordedAsyncBody, self._async), own)

    def send(self, wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        request = args[0] if args else kwargs["request"]
        attempt: Attempt | None = None
        try:
            if border.playing is not None and (player := serving.player_here()) is not None:
                if is_answered_here(client, request):
                    return wrapped(*args, **kwargs)
                return self._ask(player, wrapped, client, request)
            url = request.url
            hosts.tell(url, request.headers)
            parts = getattr(url, "_uri_reference", None)
            address = _addresses.get(parts, url)
            seen = wire.recognise(request.method, address, request.headers)
            if seen is None or (seen[3] is None and is_answered_here(client, request)):
                return wrapped(*args, **kwargs)
            if address is url:
                _remember(parts, seen)
            try:
                body = request.content
            except self._not_read:
                # A streamed upload. Of a model call it is a small JSON text; its own errors are the host's.
                body = (
                    request.read() if seen[3] is not None and isinstance(request.stream, self._sync) else None
                )
            attempt = wire.begin(seen, self.name, request.headers.raw, body)
            if attempt is None:
                return wrapped(*args, **kwargs)
            if attempt.upload is not None and isinstance(request.stream, self._sync):
                request.stream = self._upload(request.stream, attempt.upload)
            return self._sent(wrapped, request, attempt)
        except BaseException as error:
            if attempt is not None:
                attempt.failed(error)  # an interrupt may come between this function and the next
            step_aside(error)
            raise

    def _ask(self, player: Player, wrapped: Any, client: Any, request: Any) -> Any:
        """In a rerun: serve the request, or send it."""
        body = request.read() if isinstance(request.stream, self._sync) else None
        passage = serving.cross(
            player, self.name, request.method, str(request.url), dict(request.headers), body
        )
        serving.ready(passage)
        attempt = serving.begin(passage, self.name, request.headers.raw, body)
        if passage.answer is not None:
            wrapped = partial(wrapped.__func__, self._players.standing(client, passage.answer, request))
        elif passage.body is not None:
            request = self._players.with_body(request, passage.body, passage.url)
        return self._sent(wrapped, request, attempt)

    def _sent(self, send: Any, request: Any, attempt: Attempt | None) -> Any:
        was = suppress.silenced()
        try:
            try:
                suppress.silence(suppress.REPORTED)
                response = send(request)
            finally:
                suppress.silence(was)
            if attempt is not None:
                self._received(attempt, response, self._sync, self._tee)
        except BaseException as error:
            suppress.silence(was)  # an interrupt may have come before it was
            if attempt is not None:
                attempt.failed(error)
            step_aside(error)
            raise
        return response

    def send_async(self, wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        request = args[0] if args else kwargs["request"]
        if border.playing is not None and (player := serving.player_here()) is not None:
            if is_answered_here(client, request):
                return wrapped(*args, **kwargs)
            return self._ask_async(player, wrapped, client, request)
        url = request.url
        hosts.tell(url, request.headers)
        parts = getattr(url, "_uri_reference", None)
        address = _addresses.get(parts, url)
        seen = wire.recognise(request.method, address, request.headers)
        if seen is None or (seen[3] is None and is_answered_here(client, request)):
            return wrapped(*args, **kwargs)
        if address is url:
            _remember(parts, seen)
        return self._send_async(wrapped, request, seen)

    async def _send_async(self, wrapped: Any, request: Any, seen: wire.Seen) -> Any:
        attempt: Attempt | None = None
        try:
            try:
                body = request.content
            except self._not_read:
                body = None
                if seen[3] is not None and isinstance(request.stream, self._async):
                    body = await request.aread()
            attempt = wire.begin(seen, self.name, request.headers.raw, body)
            if attempt is None:
                return await wrapped(request)
            if attempt.upload is not None and isinstance(request.stream, self._async):
                request.stream = self._async_upload(request.stream, attempt.upload)
            return await self._sent_async(wrapped, request, attempt)
        except BaseException as error:
            if attempt is not None:
                attempt.failed(error)
            step_aside(error)
            raise

    async def _ask_async(self, player: Player, wrapped: Any, client: Any, request: Any) -> Any:
        body = await request.aread() if isinstance(request.stream, self._async) else None
        passage = serving.cross(
            player, self.name, request.method, str(request.url), dict(request.headers), body
        )
        await serving.ready_async(passage)
        attempt = serving.begin(passage, self.name, request.headers.raw, body)
        if passage.answer is not None:
            wrapped = partial(wrapped.__func__, self._players.standing(client, passage.answer, request))
        elif passage.body is not None:
            request = self._players.with_body(request, passage.body, passage.url)
        return await self._sent_async(wrapped, request, attempt)

    async def _sent_async(self, send: Any, request: Any, attempt: Attempt | None) -> Any:
        try:
            token = suppress.silence(suppress.REPORTED)
            try:
                response = await send(request)
            finally:
                suppress.end_silence(token)
            if attempt is not None:
                self._received(attempt, response, self._async, self._async_tee)
        except BaseException as error:
            if attempt is not None:
                attempt.failed(error)
            step_aside(error)
            raise
        return response

    def close_async(self, wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if border.playing is None:
            return wrapped(*args, **kwargs)
        closing: Any = self._close_async(wrapped, client, args, kwargs)
        # Whoever asks what a task runs knows it by this name (`session.concurrency.tasks` does).
        closing.__name__, closing.__qualname__ = wrapped.__name__, wrapped.__qualname__
        return closing

    async def _close_async(
        self, wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        try:
            await self._players.broken(client)
            return await wrapped(*args, **kwargs)
        except BaseException as error:
            step_aside(error)
            raise

    def _received(self, attempt: Attempt, response: Any, stream_class: Any, tee_class: Any) -> None:
        try:
            attempt.answered(response.status_code, response.headers.raw, response.reason_phrase)
            if hasattr(response, "_content"):  # made with its content, by a mock transport: never iterated
                inner = getattr(response.stream, "_stream", None)
                raw = getattr(inner, "_stream", None)
                if not isinstance(raw, bytes):  # what is left is the decoded content
                    raw = response.content
                    attempt.headers.pop("content-encoding", None)
                attempt.chunks.append((monotonic_ns(), raw))
                attempt.end()
                return
            attempt.closes = True
            # The client has bound the stream to itself; beneath that binding nobody looks.
            bound = response.stream
            inner = getattr(bound, "_stream", None)
            if isinstance(inner, stream_class):
                bound._stream = tee_class(inner, attempt)
            else:
                response.stream = tee_class(bound, attempt)
            attempt.rests(True)
        except Exception as error:
            if guard.policy == "raise":
                raise
            guard.failed("a response", error)


# By the parts a URL holds of itself: the text of those that model calls go to. Few, and each made anew for
# every request; making its text is three calls.
_addresses: dict[Any, Any] = {}


def _remember(parts: Any, seen: wire.Seen) -> None:
    if parts is not None and seen[3] is not None and len(_addresses) < 256:
        _addresses[parts] = seen[2]
