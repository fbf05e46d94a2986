"""What passes through the streams of httpx and httpx2, kept; mixed with the stream classes of the package."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any

from lctl.clock import monotonic_ns
from lctl.instrument.attempts import Attempt, never_raises
from lctl.instrument.encodings import damage
from lctl.session.concurrency import turns
from lctl.session.runs.wrappedruns import step_aside


class RecordedBody:
    """Passes a response's chunks on and keeps them. `elapsed` and the like are the inner stream's."""

    decoding_error: type[Exception]  # of the package

    def __init__(self, inner: Any, attempt: Attempt) -> None:
        self._inner = inner
        self._attempt = attempt

    def __iter__(self) -> Iterator[bytes]:
        keep, now = self._attempt.chunks.append, monotonic_ns
        try:
            for chunk in self._inner:
                keep((now(), chunk))
                yield chunk
        except GeneratorExit:  # the reader stopped; the response's close tells
            raise
        except BaseException as error:
            self._attempt.failed(error)
            step_aside(error)
            raise
        self._attempt.end()

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            _tell_damage(self._attempt, self.decoding_error)
            self._attempt.closed()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_inner"], name)

    def __del__(self) -> None:
        attempt = self.__dict__.get("_attempt")
        if attempt is not None and (attempt.returning is not None or not attempt.over):
            attempt.abandoned()


class RecordedAsyncBody:
    """The same for an async client."""

    decoding_error: type[Exception]

    def __init__(self, inner: Any, attempt: Attempt) -> None:
        self._inner = inner
        self._attempt = attempt

    async def __aiter__(self) -> AsyncIterator[bytes]:
        keep, now = self._attempt.chunks.append, monotonic_ns
        stream = self._inner.__aiter__()
        asked = turns.now()
        self._attempt.rests(False)
        try:
            async for chunk in stream:
                keep((now(), chunk))
                if turns.counting:
                    self._attempt.passed(asked=asked)
                self._attempt.rests(True)
                yield chunk
                self._attempt.rests(False)
                asked = turns.now() if turns.counting else None
        except GeneratorExit:
            raise
        except BaseException as error:
            self._attempt.failed(error)
            step_aside(error)
            raise
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
        self._attempt.end(asked)

    async def aclose(self) -> None:
        self._attempt.rests(False)
        try:
            await self._inner.aclose()
        finally:
            _tell_damage(self._attempt, self.decoding_error)
            await self._attempt.closed_async()

    __getattr__ = RecordedBody.__getattr__
    __del__ = RecordedBody.__del__


@never_raises("a damaged response")
def _tell_damage(attempt: Attempt, decoding_error: type[Exception]) -> None:
    """The client, which undoes the content-encoding above here, closes what it cannot read: no reader has
    stopped, it failed."""
    encoding = "" if attempt.over or attempt.raw else attempt.headers.get("content-encoding")
    found = damage((chunk for _, chunk in attempt.chunks), encoding) if encoding else None
    if found is not None:
        error = decoding_error(str(found))
        error.__cause__ = found
        attempt.failed(error)


class RecordedUpload:
    """A request's streamed body on its way out."""

    def __init__(self, inner: Any, kept: list[bytes]) -> None:
        self._inner = inner
        self._kept = kept

    def __iter__(self) -> Iterator[bytes]:
        self._kept.clear()  # sent again
        try:
            for piece in self._inner:
                self._kept.append(piece)
                yield piece
        except BaseException as error:
            step_aside(error)
            raise

    def close(self) -> None:
        self._inner.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_inner"], name)


class RecordedAsyncUpload:
    def __init__(self, inner: Any, kept: list[bytes]) -> None:
        self._inner = inner
        self._kept = kept

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self._kept.clear()
        try:
            async for piece in self._inner:
                self._kept.append(piece)
                yield piece
        except BaseException as error:
            step_aside(error)
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()

    __getattr__ = RecordedUpload.__getattr__
