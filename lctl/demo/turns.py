"""Two agents at work at once, in an order that every run repeats.

Model calls of parallel agents overlap, and which answer comes first is luck; then two recordings of
the same program differ in the order of their events. The demo's model server takes turns instead:
it holds each answer back until the other agent has asked its next question or is done. Both calls
are under way at the same time, and the log is the same every time.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

_PATIENCE = 10.0  # seconds; should an agent fail, the other one still goes on
_MOMENT = 0.001


class Turns:
    """Turn-taking of two parties, named in the order in which they are answered."""

    def __init__(self, first: str, second: str) -> None:
        self._names = (first, second)
        self._asked = {first: 0, second: 0}
        self._done = {first: False, second: False}
        self._changed = threading.Condition()
        self._sent = asyncio.Event()

    def wait(self, name: str) -> None:
        """Called by the model server with a question of `name`; returns when it may be answered."""
        first, second = self._names
        other = second if name == first else first
        with self._changed:
            self._asked[name] += 1
            needed = self._asked[name] + (name == second)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._done[other] or self._asked[other] >= needed, _PATIENCE)

    def done(self, name: str) -> None:
        """`name` asks nothing more. Called in the agents' loop."""
        self._sent.set()
        with self._changed:
            self._done[name] = True
            self._changed.notify_all()

    async def sending(self, request: Any) -> None:
        """A request hook of the first one's HTTP client; asked in a rerun, too, where no server is."""
        self._sent.set()

    async def begun(self) -> None:
        """Wait until the first one has asked its first question, or is done without."""
        await self._sent.wait()
        await asyncio.sleep(_MOMENT)  # the hook comes just before the request leaves
