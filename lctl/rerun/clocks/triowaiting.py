"""A trio task that waits to be woken from any thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any


class Suspended:
    """Made and awaited in the task that waits."""

    def __init__(self) -> None:
        import trio  # type: ignore[import-not-found, unused-ignore]

        self._token = trio.lowlevel.current_trio_token()
        self._event = trio.Event()

    def __await__(self) -> Generator[Any, Any, None]:
        waiting: Generator[Any, Any, None] = self._event.wait().__await__()
        return waiting

    def resume(self) -> None:
        wake: Any = self._event.set
        self._token.run_sync_soon(wake)


async def until_cancelled(turn: Callable[[], Awaitable[None]] | None) -> None:
    """Wait for ever. Of several tasks cancelled at once trio draws who goes on first: here each does in its
    `turn`."""
    import trio

    try:
        await Suspended()
    except trio.Cancelled:
        if turn is not None:
            with trio.CancelScope(shield=True):
                await turn()
        raise
