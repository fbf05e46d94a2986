"""The end of a recording, where its program goes on without it.

What a program does by timers alone, it does for ever, where nobody ends it: nothing of that is on the tape.
If the recording was cut off (its program was killed), the rerun is over where all that was recorded has come,
and virtual time would go on behind the last event. Of another one what ended the program is not on the tape
(a signal that it handles): the rerun stops when that is certain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lctl.rerun.order.watching import has_children

if TYPE_CHECKING:
    from lctl.rerun.order.idleloop import IdleLoop
    from lctl.rerun.order.parties import Alarm, Blocked
    from lctl.rerun.order.stage import Stage

#: Milliseconds by which virtual time may be ahead of the recording's; and by which, and with how many timers,
#: it goes on behind one that was not cut off.
_AHEAD = 100.0
_FAR, _MANY = 60_000.0, 200


class FarEnd:
    """That of one rerun.

    Args:
        at: virtual milliseconds of the last event.
        is_cut: the recording was cut off.
        act: ends the rerun. Called once, with the door shut.
    """

    def __init__(self, stage: Stage, at: float, is_cut: bool, act: Callable[[], None]) -> None:
        self._stage = stage
        self._at = at
        self.is_cut = is_cut
        self._act = act
        self._behind = 0
        self._is_over = False

    def comes_before(self, timer: Blocked | IdleLoop | Alarm | None) -> bool:
        """Whether it is the end, before that goes off."""
        until = 0.0 if timer is None else timer.until or 0.0
        if until <= self._at + (_AHEAD if self.is_cut else _FAR):
            return False
        self._behind += 1
        return (self.is_cut or self._behind > _MANY) and self.is_here()

    def is_here(self) -> bool:
        """Whether it is the end, where nothing else comes now."""
        stage = self._stage
        if stage.score.head < stage.score.length or stage.live or has_children():
            return False
        if not self.is_cut and stage.is_outside():
            return False
        if not self._is_over:
            self._is_over = True
            self._act()
        return True


TEXT = """the program goes on, by timers alone, where its recording has ended
  What ended it is not on the tape: a signal that it handles, perhaps, or another program."""
