"""One request of aiohttp: what is known of it, and what is read and set of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any

from lctl.distributed import hosts
from lctl.guard import guard
from lctl.instrument import settings, suppress, wire
from lctl.instrument.attempts import Attempt
from lctl.instrument.callevents import is_cancellation
from lctl.instrument.serving.aiohttp import Served
from lctl.session.runs.wrappedruns import step_aside


class Requesting:
    """One `ClientSession._request` under way, and the request of it that left last."""

    __slots__ = ("attempt", "decompresses", "request", "response", "served")

    def __init__(self, decompresses: bool) -> None:
        self.decompresses = decompresses
        self.request: Any = None
        self.response: Any = None
        self.attempt: Attempt | None = None
        self.served: Served | None = None


requesting: ContextVar[Requesting | None] = ContextVar("lctl_aiohttp", default=None)


def failed(call: Requesting, error: BaseException) -> None:
    if call.attempt is not None and not is_cancellation(error):
        call.attempt.failed(error)


async def within(call: Requesting, wrapped: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a part of the request; what it raises is the attempt's failure."""
    token = suppress.silence(suppress.REPORTED)
    try:
        return await wrapped(*args, **kwargs)
    except BaseException as error:
        failed(call, error)
        step_aside(error)
        raise
    finally:
        suppress.end_silence(token)


async def begin(request: Any) -> Attempt | None:
    try:
        hosts.tell(request.url, request.headers)
        headers = headers_of(request)
        seen = wire.recognise(request.method, request.url, headers)
        if seen is None or headers.get("upgrade", "").lower() == "websocket":
            return None
        # What is made while it is sent is not read ahead of that. Of a model call it is a small JSON text.
        is_made = seen[3] is None and hasattr(getattr(request.body, "_iter", None), "__anext__")
        body = None if is_made else await body_of(request, settings.full or seen[3] is not None)
    except Exception as error:
        if guard.policy == "raise":
            raise
        guard.failed("the start of a model call", error)
        return None
    attempt = wire.begin(seen, "aiohttp", headers.items(), body)
    if is_made and attempt is not None and attempt.upload is not None:
        request.body._iter = _teed(request.body._iter, attempt.upload)
    return attempt


async def _teed(pieces: Any, kept: list[bytes]) -> AsyncIterator[bytes]:
    try:
        async for piece in pieces:
            kept.append(bytes(piece))
            yield piece
    except BaseException as error:
        step_aside(error)
        raise


def headers_of(request: Any) -> dict[str, str]:
    return {str(name).lower(): str(value) for name, value in request.headers.items()}


async def body_of(request: Any, read: bool) -> bytes | None:
    """The bytes that will be sent; None where they are not known. `read` what must be read for it."""
    body = request.body
    if isinstance(body, (bytes, bytearray)):
        return bytes(body)
    if body is None:
        return b""
    value = getattr(body, "_value", None)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, str):
        return value.encode(getattr(body, "encoding", None) or "utf-8")
    if read and hasattr(body, "as_bytes"):
        return bytes(await body.as_bytes())
    return None


async def set_body(request: Any, body: bytes) -> None:
    for name in ("Content-Length", "Transfer-Encoding"):
        request.headers.popall(name, None)
    request.chunked = None
    if hasattr(request, "update_body"):
        await request.update_body(body)
    else:
        request.update_body_from_data(body)
    request.headers["Content-Length"] = str(len(body))
