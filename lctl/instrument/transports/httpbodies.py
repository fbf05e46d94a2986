"""Response bodies of http.client while they are recorded."""

from __future__ import annotations

import sys
from functools import wraps
from typing import Any

from lctl.clock import monotonic_ns
from lctl.instrument.attempts import Attempt, never_raises
from lctl.session.runs.wrappedruns import step_aside


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

            read, read1, readline, readinto = map(
                bodies.method, (base.read, base.read1, base.readline, base.readinto)
            )

            def close(self) -> None:
                bodies.closing(self, super().close)

        Recorded.__name__, Recorded.__qualname__ = base.__name__, base.__qualname__
        Recorded.__module__ = base.__module__
        return Recorded

    def method(self, read: Any) -> Any:
        """A method of the response's class by which it is read, as that of the recorded one."""

        @wraps(read)
        def reading(response: Any, *args: Any, **kwargs: Any) -> Any:
            # Those within it, on the same response, are its own doing.
            followed = self._attempts.pop(id(response), None)
            try:
                result = read(response, *args, **kwargs)
            except BaseException as error:
                if followed is not None:
                    response.__class__ = followed[1]
                    self._failed(followed[0], error)
                step_aside(error)
                raise
            if followed is not None:
                self._attempts[id(response)] = followed
                into = (*args, *kwargs.values())[0] if read.__name__ == "readinto" else None
                self._read(response, *followed, result if into is None else bytes(into[:result]))
            return result

        return reading

    def _failed(self, attempt: Attempt, error: BaseException) -> None:
        partial = getattr(error, "partial", None)  # of an IncompleteRead: what there was
        if isinstance(partial, bytes) and partial:
            attempt.chunks.append((monotonic_ns(), partial))
        attempt.failed(error)

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
