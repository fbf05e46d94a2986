"""aiohttp: the session's one request function, and a tee where the parser feeds the body.

The body's `StreamReader` keeps its identity; its class becomes a subclass without fields that also
hands each piece of data to the attempt. So every way of reading it (iterating, `read`, `readline`,
`json()`) works as before, and what arrived is kept however it is read.
"""

from __future__ import annotations

import weakref
from time import monotonic_ns
from types import ModuleType
from typing import Any

from lctl.instrument import suppress, wire
from lctl.instrument.attempts import Attempt, never_raises
from lctl.instrument.patches import PatchSet


class Aiohttp:
    """The package `aiohttp`."""

    name = "aiohttp"
    supported = ">=3.9,<4"
    modules = ("aiohttp.client",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        tees = _Tees(module)
        patches.wrap(module, "ClientSession._request", tees.request)
        patches.wrap(module, "ClientResponse.close", tees.close)
        patches.wrap(module, "ClientResponse.release", tees.close)


class _Tees:
    def __init__(self, module: ModuleType) -> None:
        import sys

        reader: Any = sys.modules["aiohttp.streams"].StreamReader
        self._reader_class: type[Any] = reader
        # The readers being recorded. A reader has slots, so it cannot carry its attempt itself.
        self._attempts: dict[int, Attempt] = {}
        attempts = self._attempts

        class RecordedReader(reader):  # type: ignore[misc]
            __slots__ = ()

            def feed_data(self, data: bytes, *rest: Any) -> Any:
                attempt = attempts.get(id(self))
                if attempt is not None and data:
                    attempt.chunks.append((monotonic_ns(), bytes(data)))
                return super().feed_data(data, *rest)

            def feed_eof(self) -> None:
                super().feed_eof()
                self._tell(None)

            def set_exception(self, exc: Any, *rest: Any) -> None:
                super().set_exception(exc, *rest)
                self._tell(exc)

            def _tell(self, error: Any) -> None:
                attempt = attempts.pop(id(self), None)
                if attempt is None:
                    return
                self.__class__ = reader
                if error is None:
                    attempt.end()
                else:
                    attempt.failed(error if isinstance(error, BaseException) else error())

        self._recorded_class = RecordedReader

    def request(self, wrapped: Any, session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._request(wrapped, session, args, kwargs)

    async def _request(
        self, wrapped: Any, session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        method, url = _target(session, args, kwargs)
        headers = _headers(session, kwargs)
        seen = wire.recognise(method, url, headers) if url else None
        attempt = None
        if seen is not None:
            body = _body(session, kwargs)
            attempt = wire.begin(seen, "aiohttp", headers.items(), body)
        if attempt is None:
            return await wrapped(*args, **kwargs)
        token = suppress.silence(True)
        try:
            response = await wrapped(*args, **kwargs)
        except BaseException as error:
            status = getattr(error, "status", None)  # raise_for_status=True: the response is gone
            if isinstance(status, int) and status:
                attempt.answered(status, dict(getattr(error, "headers", None) or {}).items())
            attempt.failed(error)
            raise
        finally:
            suppress.end_silence(token)
        self._received(attempt, response, session, kwargs)
        return response

    @never_raises("a response")
    def _received(self, attempt: Attempt, response: Any, session: Any, kwargs: dict[str, Any]) -> None:
        attempt.answered(response.status, response.raw_headers)
        content = response.content
        if _decompresses(session, kwargs):
            attempt.headers.pop("content-encoding", None)  # the parser undoes it before it feeds
        if type(content) is not self._reader_class:
            # No body, read already, or a reader of the host's own: what was read is all there is.
            raw = getattr(response, "_body", None)
            if raw:
                attempt.chunks.append((monotonic_ns(), raw))
            attempt.end()
            return
        for piece in content._buffer:
            attempt.chunks.append((monotonic_ns(), bytes(piece)))
        error = content.exception()
        if error is not None:
            attempt.failed(error)
        elif content.is_eof():
            attempt.end()
        else:
            self._attempts[id(content)] = attempt
            content.__class__ = self._recorded_class
            # Neither read to its end nor closed: the response is collected.
            weakref.finalize(response, self._lost, id(content), attempt).atexit = False

    def _lost(self, reader: int, attempt: Attempt) -> None:
        if self._attempts.get(reader) is attempt:
            del self._attempts[reader]
        attempt.abandoned()

    def close(self, wrapped: Any, response: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        attempt = self._taken_from(response)  # first: closing sets an exception on the reader
        try:
            return wrapped(*args, **kwargs)
        finally:
            if attempt is not None:
                attempt.closed()

    @never_raises("the close of a response")
    def _taken_from(self, response: Any) -> Attempt | None:
        content = getattr(response, "content", None)
        attempt = self._attempts.pop(id(content), None)
        if attempt is not None:
            content.__class__ = self._reader_class
        return attempt


def _target(session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, str]:
    try:
        method = args[0] if args else kwargs["method"]
        url = args[1] if len(args) > 1 else kwargs["str_or_url"]
        build = getattr(session, "_build_url", None)  # joins the session's base_url
        full = build(url) if build is not None else url
        if kwargs.get("params"):
            full = full.update_query(kwargs["params"])
        return str(method).upper(), str(full)
    except Exception:
        return "", ""  # the host is about to be told by aiohttp itself


def _headers(session: Any, kwargs: dict[str, Any]) -> dict[str, str]:
    merged: dict[str, str] = {}
    for headers in (getattr(session, "headers", None), kwargs.get("headers")):
        try:
            merged.update({str(k).lower(): str(v) for k, v in dict(headers or {}).items()})
        except (TypeError, ValueError):
            pass  # something only aiohttp understands
    return merged


@never_raises("a request body")
def _body(session: Any, kwargs: dict[str, Any]) -> bytes | None:
    """The bytes that will be sent, where they are known without consuming what is to be sent."""
    if kwargs.get("json") is not None:
        text = session.json_serialize(kwargs["json"])
        return text if isinstance(text, bytes) else text.encode()
    data = kwargs.get("data")
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    return b"" if data is None else None


def _decompresses(session: Any, kwargs: dict[str, Any]) -> bool:
    asked = kwargs.get("auto_decompress")
    return bool(getattr(session, "_auto_decompress", True) if asked is None else asked)
