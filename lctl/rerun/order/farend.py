"""The end of a recording that was cut off (its program was killed), where its program goes on without it.

What a program does by timers alone, it does for ever: nothing of that is on the tape, and nobody kills it
now. So where all that was recorded has come, and virtual time would go on behind the last event, the rerun is
over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lctl.rerun.order.watching import has_children

if TYPE_CHECKING:
    from lctl.rerun.order.idleloop import IdleLoop
    from lctl.rerun.order.parties import Alarm, Blocked
    from lctl.rerun.order.stage import Stage

#: Milliseconds by which virtual time may be ahead of the recording's.
_AHEAD = 100.0
#: So often it goes on all the same, where something is missing that may come yet.
_MANY = 1000


class FarEnd:
    """That of one rerun.

    Args:
        at: virtual milliseconds of the last event.
        is_whole: whether all that is on the tape has been recorded again.
        act: ends the rerun. Called once, with the door shut.
    """

    def __init__(
        self, stage: Stage, at: float, is_whole: Callable[[], bool], act: Callable[[], None]
    ) -> None:
        self._stage = stage
        self._at = at
        self._is_whole = is_whole
        self._act = act
        self._behind = 0
        self._is_over = False

    def comes_before(self, timer: Blocked | IdleLoop | Alarm | None) -> bool:
        """Whether it is the end, before that goes off."""
        return timer is not None and (timer.until or 0.0) > self._at + _AHEAD and self.is_here()

    def is_here(self) -> bool:
        """Whether it is the end, where nothing else comes now."""
        stage = self._stage
        if stage.score.head < stage.score.length or stage.live or has_children():
            return False
        self._behind += 1
        if not self._is_whole() and self._behind < _MANY:
            return False
        if not self._is_over:
            self._is_over = True
            self._act()
        return True
