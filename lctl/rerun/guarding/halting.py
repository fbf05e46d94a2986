"""The end of a rerun before its program's: latched, so that no part of the program goes on past it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from lctl.codec import Log
from lctl.errors import RerunStopped

#: Real seconds for which a child waits to be killed where it had been.
_LINGERING = 5.0


class Halt:
    """Shared by everything that serves one process.

    Attributes:
        why: what is raised at every crossing from then on; None while the rerun goes on.
        reached: it ended where it was to end, or where the recording ends.
        listener: called once, in the thread that ended it, unless it was to end there.
        linger: called with real seconds before it ends where the recording does, and where the program goes
            on behind it: it was ended by a signal there, perhaps, and is now.
    """

    def __init__(self) -> None:
        self.why: RerunStopped | None = None
        self.reached = False
        self.listener: Callable[[], None] | None = None
        self.linger: Callable[[float], None] | None = None
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raises RerunStopped again if the rerun has ended."""
        if self.why is not None:
            raise self.why.with_traceback(None)

    def stop(self, text: str, *, reached: bool = False) -> RerunStopped:
        """End the rerun, unless it has ended; what to raise."""
        with self._lock:
            if self.why is not None:
                return self.why
            self.why = RerunStopped(text)
            self.reached = reached
        if self.listener is not None and not reached:
            self.listener()
        return self.why

    def at_end_of(self, log: Log) -> RerunStopped:
        """The recording was cut off here (its program was killed): what to raise."""
        if self.why is None and self.linger is not None:
            self.linger(_LINGERING)
        return self.stop(
            f"the recording ends here, with event {log.last_seq}: its program did not get further",
            reached=True,
        )
