"""urllib3, which requests stands on.

An attempt is one `HTTPConnectionPool._make_request`; what is above it (retries, redirects, turns of an
authentication) is one logical call, opened by whichever is outermost of requests' `Session.send` and
`HTTPAdapter.send`, `PoolManager.urlopen` and `HTTPConnectionPool.urlopen`. Response objects are the library's
own; the methods of their class through which every byte passes are patched, and look up whether this body is
being recorded.
"""

from __future__ import annotations

import sys
import weakref
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lctl.clock import monotonic_ns
from lctl.instrument import calls, serving, suppress, wire
from lctl.instrument.attempts import Attempt, never_raises
from lctl.instrument.patches import PatchSet
from lctl.instrument.serving.urllib3 import respond
from lctl.instrument.transports.urllib3attempts import asked, asking, begin, keeping, prepare_proxy
from lctl.instrument.transports.urllib3requests import request_of, whole, with_body, with_context, with_url
from lctl.instrument.uploads import Upload
from lctl.session.runs.wrappedruns import step_aside

if TYPE_CHECKING:
    from lctl.session.border import Player


class Urllib3:
    """The package `urllib3`."""

    name = "urllib3"
    supported = ">=1.26.10,<3"
    modules = ("urllib3.connectionpool", "urllib3.poolmanager")

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "urllib3.poolmanager":
            patches.wrap(module, "PoolManager.urlopen", _urlopen)
            return
        patches.wrap(module, "HTTPConnectionPool.urlopen", _urlopen)
        tees = _Tees()
        patches.wrap(module, "HTTPConnectionPool._make_request", tees.make_request)
        patches.wrap(module, "HTTPSConnectionPool._prepare_proxy", prepare_proxy)
        responses = sys.modules["urllib3.response"]
        if hasattr(responses.HTTPResponse, "_raw_read"):
            patches.wrap(responses, "HTTPResponse._raw_read", tees.read)
        else:  # 1.26
            patches.wrap(responses, "HTTPResponse._fp_read", tees.read)
            patches.wrap(responses, "HTTPResponse.read", tees.reading)
        patches.wrap(responses, "HTTPResponse._handle_chunk", tees.read)
        patches.wrap(responses, "HTTPResponse._update_chunk_length", tees.chunk_length)
        patches.wrap(responses, "HTTPResponse.release_conn", tees.release)
        patches.wrap(responses, "HTTPResponse.close", tees.close)


def _urlopen(wrapped: Any, pool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of a pool, or of the manager of several, which is given whole URLs."""
    url = args[1] if len(args) > 1 else kwargs.get("url")
    token = None
    if hasattr(pool, "scheme"):
        url = f"{pool.scheme}://{pool.host}{url}"
        token = asked.set((args, kwargs))
    try:
        return grouped("urllib3", url, wrapped, args, kwargs)
    except BaseException as error:
        step_aside(error)
        raise
    finally:
        if token is not None:
            asked.reset(token)


def grouped(
    library: str, address: str | None, wrapped: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Make all attempts within `wrapped` one call, unless one is open above."""
    outermost = asking.get() is None and calls.current_call() is None
    opened = wire.open_call_here(address) if outermost else None
    if opened is None:
        try:
            return wrapped(*args, **kwargs)
        except BaseException as error:
            step_aside(error)
            raise
    call, token = opened
    asked_with = asking.get()
    try:
        try:
            asking.set(library)
            result = wrapped(*args, **kwargs)
        finally:
            asking.set(asked_with)
            calls.leave(token)
        call.returned()
    except BaseException as error:  # perhaps of a signal handler, which came while that was left
        call.raised(error)
        step_aside(error)
        raise
    return result


def _broke_off(attempt: Attempt, error: BaseException) -> None:
    for one in (error, error.__cause__):
        partial = getattr(one, "partial", None)  # of an IncompleteRead: what there was
        if isinstance(partial, bytes) and partial:
            attempt.chunks.append((monotonic_ns(), partial))
            break
    attempt.failed(error)


class _Tees:
    """The bodies being recorded, and the methods through which every body passes."""

    def __init__(self) -> None:
        # By id: setting attributes on a user's response is not ours to do. Finalisers clean up.
        self._attempts: dict[int, Attempt] = {}

    def make_request(self, wrapped: Any, pool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        player = serving.player_here()
        if player is not None:
            return self._ask(player, wrapped, pool, args, kwargs)
        args, kwargs = with_context(pool, args, kwargs)
        begun = begin(pool, args, kwargs)
        try:
            args, kwargs = keeping(begun, args, kwargs)
            return self._sent(wrapped, args, kwargs, begun)
        except BaseException as error:
            if begun is not None:
                begun.failed(error)  # an interrupt may come between this function and the next
            step_aside(error)
            raise

    def _ask(
        self, player: Player, wrapped: Any, pool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """In a rerun: serve the request, or send it."""
        request = request_of(pool, args, kwargs)
        body, library = request.body, asking.get() or "urllib3"
        if body is None:
            body = whole(args[3] if len(args) > 3 else kwargs.get("body"))
        passage = serving.cross(player, library, request.method, request.url, request.headers, body)
        serving.ready(passage)
        attempt = serving.begin(passage, library, request.headers.items(), body)
        if passage.answer is not None:
            conn = args[0] if args else kwargs.get("conn")
            wrapped = partial(respond, pool, conn, request.method, request.path, passage.answer, kwargs)
            return self._sent(wrapped, (), {}, attempt)
        sent = body if passage.body is None else passage.body
        if passage.url is not None:
            args, kwargs = with_url(args, kwargs, passage.url)
        if sent is not None and (passage.body is not None or request.body is None):
            args, kwargs = with_body(args, kwargs, sent)
        return self._sent(wrapped, args, kwargs, attempt)

    def _sent(
        self, send: Any, args: tuple[Any, ...], kwargs: dict[str, Any], begun: Attempt | Upload | None
    ) -> Any:
        # Beneath lies http.client, which would report it, too.
        was = suppress.silenced()
        try:
            suppress.silence(suppress.REPORTED)
            response = send(*args, **kwargs)
        except BaseException as error:
            if begun is not None:
                begun.failed(error)
            step_aside(error)
            raise
        finally:
            suppress.silence(was)
        attempt = begun.begin() if isinstance(begun, Upload) else begun
        if attempt is not None:
            self._received(attempt, response)
        return response

    @never_raises("a response")
    def _received(self, attempt: Attempt, response: Any) -> None:
        attempt.answered(response.status, response.headers.items(), response.reason)
        if getattr(response, "_body", None) is not None:  # preload_content: read, and decoded, already
            attempt.headers.pop("content-encoding", None)
            attempt.chunks.append((monotonic_ns(), response._body))
            attempt.end()
            return
        # 1.26 gives http.client's response here, and makes its own of it.
        original = getattr(response, "_original_response", None) or response
        self._attempts[id(original)] = attempt
        weakref.finalize(original, self._lost, id(original), attempt).atexit = False

    def _of(self, response: Any) -> Attempt | None:
        return self._attempts.get(id(response._original_response))

    def _lost(self, response: int, attempt: Attempt) -> None:
        if self._attempts.get(response) is attempt:
            del self._attempts[response]
        attempt.abandoned()

    def read(self, wrapped: Any, response: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`_raw_read(amt)` and `_handle_chunk(amt)`: bytes as they came, content-encoding not undone."""
        attempt = self._of(response)
        if attempt is not None and attempt.over:
            attempt = None
        try:
            data = wrapped(*args, **kwargs)
        except BaseException as error:
            if attempt is not None:
                _broke_off(attempt, error)
            step_aside(error)
            raise
        if attempt is not None:
            self._read(attempt, response, data)
        return data

    def reading(self, wrapped: Any, response: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Finds out that a body is too short when the last piece has been read."""
        try:
            return wrapped(*args, **kwargs)
        except BaseException as error:
            attempt = self._of(response)
            if attempt is not None:
                attempt.failed(error)
            step_aside(error)
            raise

    @never_raises("a response body")
    def _read(self, attempt: Attempt, response: Any, data: bytes | None) -> None:
        if data:
            attempt.chunks.append((monotonic_ns(), data))
        # http.client closes a response when its last byte was read. Chunked bodies that urllib3 takes
        # apart itself end in `release`.
        original = response._fp
        if getattr(response, "chunk_left", None) is None and (original is None or original.isclosed()):
            attempt.end()

    def chunk_length(self, wrapped: Any, response: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Reads the size of the next chunk. Where the connection is gone it closes, then raises."""
        key = id(response._original_response)
        attempt = self._attempts.pop(key, None)
        try:
            result = wrapped(*args, **kwargs)
        except BaseException as error:
            if attempt is not None:
                attempt.failed(error)
            step_aside(error)
            raise
        if attempt is not None:
            self._attempts[key] = attempt
        return result

    def release(self, wrapped: Any, response: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Called by urllib3 when the body's end was reached, for good or ill; and by hosts."""
        attempt = self._of(response)
        if attempt is not None and getattr(response, "chunk_left", None) == 0:
            attempt.end()
        return wrapped(*args, **kwargs)

    def close(self, wrapped: Any, response: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return wrapped(*args, **kwargs)
        finally:
            attempt = self._of(response)
            if attempt is not None:
                attempt.closed()
