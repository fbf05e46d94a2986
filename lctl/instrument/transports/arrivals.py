"""When the head of a response over aiohttp came, and what came with it.

Whoever asked goes on a turn of its loop later, when pieces of other responses may have come as well: what
reached the loop first is told at the protocol, where it arrives.
"""

from __future__ import annotations

from typing import Any

from lctl.clock import monotonic_ns
from lctl.guard import guard
from lctl.instrument.attempts import is_stream
from lctl.session.concurrency import turns

#: When (`monotonic_ns`), and in which turn (see `Attempt.turns`): of a stream, and of a head without a body.
Came = tuple[int, int | None]


class Arrivals:
    """Of all responses whose heads are waited for."""

    def __init__(self) -> None:
        self._waiting: dict[int, _Arrival] = {}  # by id of the protocol

    def expect(self, protocol: Any) -> None:
        """The next response that `protocol` reads is waited for."""
        if protocol is not None:
            self._waiting[id(protocol)] = _Arrival(protocol)

    def take(self, protocol: Any) -> list[Came]:
        """Of the head, and of each piece of the body that has come."""
        found = self._waiting.pop(id(protocol), None)
        return [] if found is None else found.came

    def received(self, wrapped: Any, protocol: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """`ResponseHandler.data_received`."""
        wrapped(*args, **kwargs)
        arrival = self._waiting.get(id(protocol)) if self._waiting else None
        if arrival is not None:
            with guard("the arrival of a response"):
                arrival.note()


class _Arrival:
    def __init__(self, protocol: Any) -> None:
        self.came: list[Came] = []
        self._protocol = protocol
        self._body: Any = None
        self._counts = False

    def note(self) -> None:
        """Something came: it has been parsed, and nobody has read of it."""
        if self._body is None and self._protocol._buffer:
            newest = self._protocol._buffer[-1]
            message, body = newest[0] if isinstance(newest[1], int) else newest
            if message.code >= 200:
                self._body = body
                self._counts = is_stream(message.headers.get("content-type", ""))
                if not (self._counts or body.is_eof()):  # which the program has after the head
                    self.came.append((monotonic_ns(), turns.since() if turns.counting else None))
        there = 0 if self._body is None else 1 + len(getattr(self._body, "_buffer", ()))
        while len(self.came) < there:
            turn = turns.since() if self._counts and turns.counting else None
            self.came.append((monotonic_ns(), turn))
