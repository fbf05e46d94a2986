"""lm15, DSPy's own HTTP engine: sockets and asyncio streams, no HTTP library beneath.

`StdlibTransport.stream` is called once per attempt, and `StdlibAsyncTransport._do_stream` its twin. The
response stays the engine's own object; what it iterates and how it is released are replaced on it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lctl.clock import monotonic_ns
from lctl.instrument import serving, suppress, wire
from lctl.instrument.attempts import Attempt, never_raises
from lctl.instrument.patches import PatchSet
from lctl.instrument.serving import lm15 as played

if TYPE_CHECKING:
    from lctl.session.border import Player

_NAME = "lm15"


class Lm15:
    """The engine as DSPy 3.4 carries it."""

    name = "dspy"
    supported = ">=3.4,<4"
    modules = ("dspy._vendor.lm15.transports._sync", "dspy._vendor.lm15.transports._async")

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__.endswith("._sync"):
            patches.wrap(module, "StdlibTransport.stream", _stream)
        else:
            patches.wrap(module, "StdlibAsyncTransport._do_stream", _stream_async)


def _request_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else kwargs["request"]


def _named(request: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers}


def _begun(request: Any) -> Attempt | None:
    seen = wire.recognise(request.method, request.url, _named(request))
    return None if seen is None else wire.begin(seen, _NAME, request.headers, bytes(request.body or b""))


def _asked(player: Player, request: Any) -> serving.Passage:
    return serving.cross(
        player, _NAME, request.method, request.url, _named(request), bytes(request.body or b"")
    )


def _stream(wrapped: Any, transport: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    request = _request_of(args, kwargs)
    player = serving.player_here()
    if player is None:
        return _sent(lambda: wrapped(*args, **kwargs), _begun(request))
    passage = _asked(player, request)
    serving.ready(passage)
    attempt = serving.begin(passage, _NAME, request.headers, bytes(request.body or b""))
    answer = passage.answer
    if answer is not None:
        return _sent(lambda: played.response(answer), attempt)
    return _sent(lambda: wrapped(_with_body(request, passage.body)), attempt)


def _sent(send: Callable[[], Any], attempt: Attempt | None) -> Any:
    token = suppress.silence(suppress.REPORTED)
    try:
        response = send()
    except BaseException as error:
        if attempt is not None:
            attempt.failed(error)
        raise
    finally:
        suppress.end_silence(token)
    if attempt is not None:
        _followed(response, attempt, _tee, _released)
    return response


async def _stream_async(wrapped: Any, transport: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    request = _request_of(args, kwargs)
    player = serving.player_here()
    if player is None:
        return await _sent_async(lambda: wrapped(*args, **kwargs), _begun(request))
    passage = _asked(player, request)
    await serving.ready_async(passage)
    attempt = serving.begin(passage, _NAME, request.headers, bytes(request.body or b""))
    answer = passage.answer
    if answer is not None:
        return await _sent_async(lambda: played.response_async(answer), attempt)
    return await _sent_async(lambda: wrapped(_with_body(request, passage.body)), attempt)


async def _sent_async(send: Callable[[], Awaitable[Any]], attempt: Attempt | None) -> Any:
    token = suppress.silence(suppress.REPORTED)
    try:
        response = await send()
    except BaseException as error:
        if attempt is not None:
            attempt.failed(error)
        raise
    finally:
        suppress.end_silence(token)
    if attempt is not None:
        _followed(response, attempt, _tee_async, _released_async)
    return response


def _with_body(request: Any, body: bytes | None) -> Any:
    """The request, with another body if one is given; its length is told anew by the engine."""
    if body is None:
        return request
    from dataclasses import replace

    left = [(name, value) for name, value in request.headers if name.lower() != "content-length"]
    return replace(request, body=body, headers=left)


@never_raises("a response")
def _followed(response: Any, attempt: Attempt, tee: Callable[..., Any], released: Callable[..., Any]) -> None:
    attempt.answered(response.status, response.headers, response.reason)
    attempt.headers.pop("content-encoding", None)  # the engine has undone it
    attempt.closes = tee is _tee  # an asynchronous release waits for the pool: the program goes on before
    response._chunks = tee(response._chunks, attempt)
    response._release = released(response._release, attempt)


def _tee(chunks: Iterator[bytes], attempt: Attempt) -> Iterator[bytes]:
    keep = attempt.chunks.append
    try:
        for chunk in chunks:
            keep((monotonic_ns(), chunk))
            yield chunk
    except GeneratorExit:  # the reader stopped; the release tells
        raise
    except BaseException as error:
        attempt.failed(error)
        raise
    attempt.end()


def _released(release: Callable[[bool], None], attempt: Attempt) -> Callable[[bool], None]:
    def told(body_consumed: bool) -> None:
        try:
            release(body_consumed)
        finally:
            attempt.closed()

    return told


async def _tee_async(chunks: AsyncIterator[bytes], attempt: Attempt) -> AsyncIterator[bytes]:
    keep = attempt.chunks.append
    try:
        async for chunk in chunks:
            keep((monotonic_ns(), chunk))
            yield chunk
    except GeneratorExit:
        raise
    except BaseException as error:
        attempt.failed(error)
        raise
    attempt.end()


def _released_async(
    release: Callable[[bool], Awaitable[None]], attempt: Attempt
) -> Callable[[bool], Awaitable[None]]:
    async def told(body_consumed: bool) -> None:
        try:
            await release(body_consumed)
        finally:
            attempt.closed()

    return told
