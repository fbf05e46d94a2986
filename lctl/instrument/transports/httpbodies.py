"""Response bodies of http.client while they are recorded."""

from __future__ import annotations

import sys
from typing import Any

from lctl.clock import monotonic_ns
from lctl.instrument.attempts import Attempt, never_raises
from lctl.session.wrappedruns import step_aside


def is_read(response: Any) -> bool:
    """Whether nothing of its body is left to be read."""
    return bool(response.isclosed() or (response.length == 0 and not response.chunked))


class Bodies:
    """The responses being recorded, by id: setting attributes on a program's response is not ours to do."""

    def __init__(self) -> None:
        self._attempts: dict[int, tuple[Attempt, type]] = {}
        self._classes: dict[type, type] = {}

    def follow(self, response: Any, attempt: Attempt) -> None:
        """Record what is read of `response` until it ends or is closed."""
        cls = type(response)
        recorded = self._classes.get(cls)
        if recorded is None:
            recorded = self._classes[cls] = self._class(cls)
        self._attempts[id(response)] = (attempt, cls)
        response.__class__ = recorded

    def _class(self, base: Any) -> type:
        bodies = self

        class Recorded(base):  # type: ignore[misc]
            __slots__ = ()

            def read(self, *args: Any, **kwargs: Any) -> Any:
                return bodies.reading(self, super().read, args, kwargs)

            def read1(self, *args: Any, **kwargs: Any) -> Any:
                return bodies.reading(self, super().read1, args, kwargs)

            def readline(self, *args: Any, **kwargs: Any) -> Any:
                return bodies.reading(self, super().readline, args, kwargs)

            def readinto(self, buffer: Any) -> Any:
                return bodies.reading(self, super().readinto, (buffer,), {}, buffer)

            def close(self) -> None:
                bodies.closing(self, super().close)

        Recorded.__name__, Recorded.__qualname__ = base.__name__, base.__qualname__
        Recorded.__module__ = base.__module__
        return Recorded

    def reading(
        self, response: Any, read: Any, args: tuple[Any, ...], kwargs: dict[str, Any], into: Any = None
    ) -> Any:
        """One read. Those within it, on the same response, are its own doing."""
        followed = self._attempts.pop(id(response), None)
        if followed is None:
            return read(*args, **kwargs)
        attempt, cls = followed
        try:
            result = read(*args, **kwargs)
        except BaseException as error:
            response.__class__ = cls
            partial = getattr(error, "partial", None)  # of an IncompleteRead: what there was
            if isinstance(partial, bytes) and partial:
                attempt.chunks.append((monotonic_ns(), partial))
            attempt.failed(error)
            step_aside(error)
            raise
        self._attempts[id(response)] = followed
        self._read(response, attempt, cls, result if into is None else bytes(into[:result]))
        return result

    @never_raises("a response body")
    def _read(self, response: Any, attempt: Attempt, cls: type, data: bytes) -> None:
        if data:
            attempt.chunks.append((monotonic_ns(), data))
        if is_read(response):
            self._let_go(response, cls)
            attempt.end()

    def closing(self, response: Any, close: Any) -> None:
        """Also called when an unclosed response is collected."""
        followed = self._attempts.get(id(response))
        if followed is not None:
            self._let_go(response, followed[1])
        try:
            close()
        finally:
            if followed is not None and not sys.is_finalizing():
                followed[0].closed()

    def _let_go(self, response: Any, cls: type) -> None:
        self._attempts.pop(id(response), None)
        response.__class__ = cls
