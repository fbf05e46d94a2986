"""urllib3, and requests above it.

An attempt is one `HTTPConnectionPool._make_request`; the loop of retries and redirects above it is one
logical call, opened by whichever is outermost of `requests.adapters.HTTPAdapter.send` and
`HTTPConnectionPool.urlopen`. Response objects are the library's own; the methods of their class
through which every byte passes are patched, and look up whether this body is being recorded.
"""

from __future__ import annotations

import sys
import weakref
from contextvars import ContextVar
from time import monotonic_ns
from types import ModuleType
from typing import Any

from lctl.instrument import calls, wire
from lctl.instrument.attempts import Attempt, never_raises
from lctl.instrument.patches import PatchSet

#: Which library the outermost call was made with.
_library: ContextVar[str | None] = ContextVar("lctl_urllib3", default=None)


class Requests:
    """The package `requests`: its adapter's retries are one call."""

    name = "requests"
    supported = ">=2.28,<3"
    modules = ("requests.adapters",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        patches.wrap(module, "HTTPAdapter.send", _send)


class Urllib3:
    """The package `urllib3`."""

    name = "urllib3"
    supported = ">=2,<3"
    modules = ("urllib3.connectionpool",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        patches.wrap(module, "HTTPConnectionPool.urlopen", _urlopen)
        tees = _Tees()
        patches.wrap(module, "HTTPConnectionPool._make_request", tees.make_request)
        responses = sys.modules["urllib3.response"]
        patches.wrap(responses, "HTTPResponse._raw_read", tees.read)
        patches.wrap(responses, "HTTPResponse._handle_chunk", tees.read)
        patches.wrap(responses, "HTTPResponse._update_chunk_length", tees.chunk_length)
        patches.wrap(responses, "HTTPResponse.release_conn", tees.release)
        patches.wrap(responses, "HTTPResponse.close", tees.close)


def _send(wrapped: Any, adapter: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _grouped("requests", wrapped, args, kwargs)


def _urlopen(wrapped: Any, pool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _grouped("urllib3", wrapped, args, kwargs)


def _grouped(library: str, wrapped: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make all attempts within `wrapped` one call, unless one is open above."""
    outermost = _library.get() is None and calls.current_call() is None
    opened = wire.open_call_here() if outermost else None
    if opened is None:
        return wrapped(*args, **kwargs)
    call, token = opened
    mark = _library.set(library)
    try:
        result = wrapped(*args, **kwargs)
    except BaseException as error:
        calls.leave(token)
        call.raised(error)
        raise
    finally:
        _library.reset(mark)
    calls.leave(token)
    call.returned()
    return result


@never_raises("the start of a model call")
def _begin(pool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Attempt | None:
    """Signature of the wrapped: (conn, method, url, body=None, headers=None, ...)."""
    method, path = args[1:3] if len(args) > 2 else (kwargs["method"], kwargs["url"])
    body = args[3] if len(args) > 3 else kwargs.get("body")
    headers = args[4] if len(args) > 4 else kwargs.get("headers")
    if path.startswith("/"):
        default = {"http": 80, "https": 443}.get(pool.scheme)
        port = "" if pool.port in (None, default) else f":{pool.port}"
        path = f"{pool.scheme}://{pool.host}{port}{path}"
    pairs = {_text(name).lower(): _text(value) for name, value in dict(headers or {}).items()}
    seen = wire.recognise(method, path, pairs)
    if seen is None:
        return None
    if isinstance(body, str):
        body = body.encode()
    known = bytes(body) if isinstance(body, (bytes, bytearray, memoryview)) else b"" if body is None else None
    return wire.begin(seen, _library.get() or "urllib3", pairs.items(), known)


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


class _Tees:
    """The bodies being recorded, and the methods through which every body passes."""

    def __init__(self) -> None:
        # By id: setting attributes on a user's response is not ours to do. Finalisers clean up.
        self._attempts: dict[int, Attempt] = {}

    def make_request(self, wrapped: Any, pool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        attempt = _begin(pool, args, kwargs)
        if attempt is None:
            return wrapped(*args, **kwargs)
        try:
            response = wrapped(*args, **kwargs)
        except BaseException as error:
            attempt.failed(error)
            raise
        self._received(attempt, response)
        return response

    @never_raises("a response")
    def _received(self, attempt: Attempt, response: Any) -> None:
        attempt.answered(response.status, response.headers.items())
        if getattr(response, "_body", None) is not None:  # preload_content: read, and decoded, already
            attempt.headers.pop("content-encoding", None)
            attempt.chunks.append((monotonic_ns(), response._body))
            attempt.end()
            return
        self._attempts[id(response)] = attempt
        weakref.finalize(response, self._lost, id(response), attempt).atexit = False

    def _lost(self, response: int, attempt: Attempt) -> None:
        if self._attempts.get(response) is attempt:
            del self._attempts[response]
        attempt.abandoned()

    def read(self, wrapped: Any, response: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`_raw_read(amt)` and `_handle_chunk(amt)`: bytes as they came, content-encoding not undone."""
        attempt = self._attempts.get(id(response))
        if attempt is None or attempt.over:
            return wrapped(*args, **kwargs)
        try:
            data = wrapped(*args, **kwargs)
        except BaseException as error:
            attempt.failed(error)
            raise
        self._read(attempt, response, data)
        return data

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
        key = id(response)
        attempt = self._attempts.pop(key, None)
        if attempt is None:
            return wrapped(*args, **kwargs)
        try:
            result = wrapped(*args, **kwargs)
        except BaseException as error:
            attempt.failed(error)
            raise
        self._attempts[key] = attempt
        return result

    def release(self, wrapped: Any, response: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Called by urllib3 when the body's end was reached, for good or ill; and by hosts."""
        attempt = self._attempts.get(id(response))
        if attempt is not None and getattr(response, "chunk_left", None) == 0:
            attempt.end()
        return wrapped(*args, **kwargs)

    def close(self, wrapped: Any, response: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return wrapped(*args, **kwargs)
        finally:
            attempt = self._attempts.get(id(response))
            if attempt is not None:
                attempt.closed()
