"""A rerun whose program is a server, and waits for somebody outside who will not come.

What a recording holds of who asked is asked again (`lctl.rerun.serving.outside`); nobody asks what it does
not hold. That is certain enough where for long nothing has run, nobody waits for a delivery or a real call,
and the program still listens.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from time import process_time, thread_time
from types import FrameType
from typing import TYPE_CHECKING

from lctl.clock import monotonic
from lctl.rerun.order.standstill import BEAT
from lctl.rerun.order.watching import descendants, listening
from lctl.session import ownports

if TYPE_CHECKING:
    from lctl.rerun.order.stage import Stage

#: Real seconds for which nothing has happened, beside those that the recording took to the next delivery.
LASTING = 8.0
#: The share of a processor that a program uses at most while nothing happens: servers look around.
_STILL = 0.04
#: And that processes use at least which compute something.
_BUSY = 0.5
#: Real seconds for which processes that it started may work while it does not.
_BELOW = 12.0
_DEBUGGERS = ("bdb", "pdb", "code", "pydevd", "_pydevd", "debugpy")


class Unasked:
    """That of one rerun, looked for by the thread that watches it.

    Args:
        act: is told where the program listens, once if it says that nobody asks there.
    """

    def __init__(self, stage: Stage, act: Callable[[list[str]], bool]) -> None:
        self._stage = stage
        self._act: Callable[[list[str]], bool] | None = act
        self._since: float | None = None
        self._own = self._used = self._still = 0.0
        self._is_busy_below = False
        self._looked = monotonic()

    def look(self) -> None:
        """With the door shut."""
        stage, now = self._stage, monotonic()
        if self._act is None or now - self._looked < BEAT / 2:
            return
        since, self._looked = now - self._looked, now
        still = not self._is_moving(since) and not self._is_going_on()
        places = (ownports.places() or self._places_below()) if still else []
        if not places:
            self._since = None
        elif self._since is None:
            self._since = now
        elif now - self._since >= LASTING + stage.gap() / 1000 and not is_debugged():
            act, self._act, self._since = self._act, None, None
            if not act(places):
                self._act = act

    def _is_moving(self, since: float) -> bool:
        """Whether this process has worked in those seconds, or for once one of those that it started: workers
        that nobody asks look around for ever, or fail and are started again."""
        own = process_time() - thread_time()
        used = own + sum(map(_of, descendants()))
        spent, self._used = used - self._used, used
        moved, self._own = own - self._own > _STILL * since, own
        moved_below, self._is_busy_below = spent > _STILL * since, spent > _BUSY * since
        self._still = 0.0 if moved else self._still + since
        return moved or (moved_below and self._still < _BELOW)

    def _places_below(self) -> list[str]:
        """Where processes listen that it started (a server that reloads itself runs in one), if they do
        nothing else but look around."""
        return [] if self._is_busy_below else listening(descendants())

    def _is_going_on(self) -> bool:
        stage = self._stage
        if stage.over or stage.pace.realtime or stage.live:
            return True
        return stage.first_place() is not None or stage.is_called()  # servers have timers for ever


def is_debugged() -> bool:
    """Whether somebody looks at a thread that a debugger holds."""
    return any(map(_is_held, sys._current_frames().values()))


def _is_held(frame: FrameType | None) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith(_DEBUGGERS):
            return True
        frame = frame.f_back
    return False


def _of(process: int) -> float:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123
            fields = file.read().rpartition(b") ")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))


def text_of(listening: list[str], unused: list[str], asked: int) -> str:
    """What whoever started the rerun is told. `asked`: how many requests the recording holds."""
    lines = [
        f"the program is a server, waits to be asked at {', '.join(listening)}, and nobody asks it:",
        f"not all of the {asked} requests that the recording holds could be asked again" if asked else _NONE,
        *(["recorded, and not asked for: " + "; ".join(unused[:3])] if unused else []),
        "record it by `lctl run`, asked in HTTP/1 without TLS; or ask it yourself, in a rerun with",
        "--realtime, which waits",
    ]
    return "\n  ".join(lines)


_NONE = (
    "the recording holds no request that came from outside to it (not those over TLS, HTTP/2, WebSockets\n  "
    "and unix sockets, and none at all by auto_instrument())"
)
