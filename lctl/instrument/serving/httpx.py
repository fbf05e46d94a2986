"""Served answers for httpx and httpx2.

The client's own function runs, on a client whose transport is the answer: cookies, logging, timing and
the binding of the stream are the library's.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from lctl.instrument.serving import as_sent, pairs, reason_of
from lctl.instrument.serving.errors import revive
from lctl.session.border import Answer
from lctl.session.concurrency import turns

#: Turns of its loop in which the close of a client waits for the next of its calls to break.
_PATIENCE = 100


class Players:
    """Classes for one package, made of that package's own."""

    def __init__(self, module: ModuleType, errors: ModuleType) -> None:
        base: dict[str, Any] = {"__module__": __name__}
        self._package = module.__name__.partition(".")[0]
        self._response = module.Response
        self._request = module.Request
        self._error = errors.TransportError
        self._stream = type("ServedStream", (_Stream, module.SyncByteStream), base)
        self._async_stream = type("ServedStream", (_AsyncStream, module.AsyncByteStream), base)
        self._breaking: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()  # answers, by client

    def standing(self, client: Any, answer: Answer, request: Any) -> Any:
        """`client`, with `answer` in place of every transport."""
        if answer.error is not None and hasattr(answer, "is_to_break"):
            self._breaking[client] = [*self._to_break(client), answer]
        return _Client(client, _Transport(self, answer, self._core(client, request)))

    async def broken(self, client: Any) -> None:
        """Return when the calls of `client` that are under way have failed, which is closed now. Its
        connections break with it, one in each turn, of several all but the last before it is closed; here it
        has none, and would be closed before any did."""
        left, patience = self._to_break(client), _PATIENCE
        enough = 1 if len(left) > 1 else 0
        while len(left) > enough and patience and turns.running() is not None:
            await asyncio.sleep(0)
            before, left = left, self._to_break(client)
            patience = patience - 1 if len(left) == len(before) else _PATIENCE

    def _to_break(self, client: Any) -> list[Any]:
        return [answer for answer in self._breaking.get(client, ()) if answer.is_to_break()]

    def _core(self, client: Any, request: Any) -> ModuleType | None:
        """Where the transport has what it takes hold of when a body that was read to its end is closed: with
        httpcore 1 that gives the other tasks a turn. None of one of another kind, or a synchronous one."""
        kind = getattr(sys.modules.get(self._package), "AsyncHTTPTransport", None)
        if kind is None or not isinstance(client._transport_for_url(request.url), kind):
            return None
        core = sys.modules.get(f"{self._package.replace('httpx', 'httpcore')}._synchronization")
        return core if hasattr(core, "AsyncLock") and hasattr(core, "AsyncShieldCancellation") else None

    def with_body(self, request: Any, body: bytes, url: str | None) -> Any:
        """`request` with another body, and to another URL if one is given."""
        left = ("content-length", "transfer-encoding")
        headers = [(name, value) for name, value in request.headers.raw if name.lower().decode() not in left]
        made = self._request(
            request.method, url or request.url, headers=headers, content=body, extensions=request.extensions
        )
        if not body:
            made.headers["content-length"] = "0"
        return made

    def response(self, answer: Answer, request: Any, core: Any, asynchronous: bool) -> Any:
        """The response; raises the recorded error where there is none."""
        if answer.status is None:
            raise self.error(answer, request)
        return self._response(
            answer.status,
            headers=[(as_sent(name), as_sent(value)) for name, value in pairs(answer)],
            stream=(self._async_stream if asynchronous else self._stream)(self, answer, request, core),
            extensions={
                "http_version": b"HTTP/1.1",
                "network_stream": _Network(),
                "reason_phrase": reason_of(answer).encode("ascii", "ignore"),
            },
        )

    def error(self, answer: Answer, request: Any) -> BaseException:
        assert answer.error is not None
        return revive(answer.error, self._error, _request=request)


class _Client:
    """A client, but for its transport."""

    def __init__(self, client: Any, transport: _Transport) -> None:
        self._client = client
        self._serving = transport

    def _transport_for_url(self, url: Any) -> _Transport:
        return self._serving

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


class _Transport:
    def __init__(self, players: Players, answer: Answer, core: Any) -> None:
        self._players = players
        self._answer = answer
        self._core = core

    def handle_request(self, request: Any) -> Any:
        self._answer.wait()
        return self._players.response(self._answer, request, None, False)

    async def handle_async_request(self, request: Any) -> Any:
        await self._answer.wait_async()
        return self._players.response(self._answer, request, self._core, True)


class _Stream:
    """A body. Read in several goes, as SDKs do, each goes on where the one before stopped."""

    def __init__(self, players: Players, answer: Answer, request: Any, core: Any) -> None:
        self._players = players
        self._answer = answer
        self._core: Any = core
        self._request = request
        self._chunks: Any = None

    def __iter__(self) -> Iterator[bytes]:
        if self._chunks is None:
            self._chunks = self._answer.chunks()
        for chunk in self._chunks:  # noqa: UP028  (`yield from` would close what is read on)
            yield chunk
        self._end()

    def close(self) -> None:
        close = getattr(self._chunks, "close", None)
        if close is not None:
            close()

    def _end(self) -> None:
        ended, self._chunks = self._chunks == (), ()
        if self._answer.error is not None and not ended:
            raise self._players.error(self._answer, self._request)


class _AsyncStream(_Stream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._chunks is None:
            self._chunks = self._answer.chunks_async()
        if self._chunks != ():
            async for chunk in self._chunks:
                yield chunk
            self._end()

    async def aclose(self) -> None:
        close = getattr(self._chunks, "aclose", None)
        # A loop that ends closes every generator at once: this one, and those that close it.
        if close is not None and not getattr(self._chunks, "ag_running", False):
            await close()
        core, self._core = self._core, None
        if self._chunks == () and core is not None:
            with core.AsyncShieldCancellation():
                async with core.AsyncLock():
                    pass
        closed = getattr(self._answer, "closed_async", None)
        if closed is not None:
            await closed()


class _Network:
    """Of a connection there was none."""

    def get_extra_info(self, info: str) -> Any:
        return None
