"""A rerun that goes on by timers alone, long behind the end of its recording.

Virtual time takes no time: what is waited for again and again, and does not come, is waited for for ever. So
where the clock is far behind the last recorded event, and for long nothing that is on the tape has come, the
rerun stops, and says what it had still to ask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lctl.clock import monotonic
from lctl.rerun.order.unasked import is_debugged
from lctl.rerun.order.watching import has_children

if TYPE_CHECKING:
    from lctl.rerun.order.stage import Stage

#: Virtual milliseconds behind the recording's end, and real seconds without anything recorded.
_AHEAD, _LASTING = 60_000.0, 10.0


class Endless:
    """That of one rerun.

    Args:
        at: virtual milliseconds of the last event.
        act: stops the rerun. Called once, with the door shut.
    """

    def __init__(self, stage: Stage, at: float, act: Callable[[], None]) -> None:
        self._stage = stage
        self._from = at + _AHEAD
        self._act: Callable[[], None] | None = act
        self._head = -1
        self._since = 0.0

    def is_here(self, until: float | None) -> bool:
        """Whether a timer that goes off `until` then is in vain."""
        if until is None or until < self._from:
            return False
        stage, now = self._stage, monotonic()
        if stage.score.head != self._head:
            self._head, self._since = stage.score.head, now
        if now - self._since < _LASTING or stage.live or stage.over or stage.pace.realtime:
            return False
        if self._act is None or has_children() or is_debugged():
            return False
        act, self._act = self._act, None
        act()
        return True


def text_of(unused: list[str]) -> str:
    """What whoever started the rerun is told."""
    lines = [
        "the program goes on by sleeps and limits of time alone, a minute behind the end of its recording:",
        *(["recorded, and not asked for: " + "; ".join(unused[:3])] if unused else []),
        "what it waits for is not on the tape (bytes that it reads from a pipe by `connect_read_pipe`, say);",
        "a rerun with --realtime waits",
    ]
    return "\n  ".join(lines)
