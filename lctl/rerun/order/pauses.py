"""How the thread of an event loop stands still in a rerun, and what ends that."""

from __future__ import annotations

import threading
from _thread import allocate_lock
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lctl.rerun.clocks.timekeeper import Timekeeper
    from lctl.rerun.order.idleloop import IdleLoop


class Pauses:
    """Those of one loop.

    Args:
        select: its selector's, as it was.
    """

    def __init__(self, keeper: Timekeeper, idle: IdleLoop, select: Callable[[float | None], Any]) -> None:
        self._keeper = keeper
        self._idle = idle
        self._select = select
        self._bell: Any = None
        self._act: Callable[[], None] | None = None

    def listen(self, timeout: float | None) -> Any:
        """Until the conductor has it go on, a file is ready, or so many real seconds have passed. Gives what
        `select` does."""
        while True:
            if self._keeper.idle(self._idle):
                events = self._select(0)
            else:
                try:
                    events = self._select(timeout)
                finally:
                    self._keeper.awake(self._idle)
            if not self._has_acted():
                return events
            events = self._select(0)
            if events:  # a signal that the loop itself handles comes by a file
                return events

    def stand(self) -> Any:
        """Until the conductor has it go on, whichever files are ready: they are still so then."""
        while True:
            bell = self._bell = allocate_lock()
            bell.acquire()
            try:
                if not self._keeper.idle(self._idle):
                    try:
                        bell.acquire()
                    finally:
                        self._keeper.awake(self._idle)
            finally:
                self._bell = None
            if not self._has_acted():
                return self._select(0)

    def end(self) -> None:
        """With the door shut, from whatever thread."""
        if self._bell is not None and self._bell.locked():
            self._bell.release()
        if threading.get_native_id() != self._idle.tid:
            self._idle.loop._write_to_self()

    def interrupt(self, act: Callable[[], None]) -> None:
        """Likewise: have the thread do that where it stands, and stand on."""
        self._act = act
        self.end()

    def _has_acted(self) -> bool:
        act, self._act = self._act, None
        if act is None:
            return False
        self._idle.loop._read_from_self()  # what ended the pause
        act()
        return True
