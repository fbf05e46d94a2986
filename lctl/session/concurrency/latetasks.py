"""Tasks that were done when a recorded wait returned, and are not yet in a rerun."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from lctl.session import border

#: Seconds of the program's own time after which a rerun goes on without a task that was done when it was
#: recorded: it is another run then, and says so where it asks for something else.
_PATIENCE = 60.0

#: And those where nothing is to come any more.
_MOMENT = 1.0


async def come(original: Callable[..., Any], late: Collection[Any]) -> None:
    """Wait until they are done, or it is another run: no longer than a moment once the recording has nothing
    more to bring."""
    left, is_spent = _PATIENCE, False
    while late and left > 0 and not is_spent:
        player = border.playing
        is_spent = player is None or player.is_spent()
        _, late = await original(late, timeout=_MOMENT)
        left -= _MOMENT
