"""What is wrong in a log: found by going through all of it, for which nobody should have to wait."""

from __future__ import annotations

import threading

from lctl.codec.log import Log, Problem
from lctl.errors import LogError

#: Logs of up to so many bytes are gone through at once: it takes a moment.
_SMALL = 2_000_000


class Checking:
    """A log that is gone through, by a thread of its own where it is large.

    Attributes:
        found: what is wrong in it; None until that is known.
    """

    def __init__(self, log: Log, size: int) -> None:
        self.found: list[Problem] | None = None
        if size <= _SMALL:
            self._check(log)
        else:
            threading.Thread(target=self._check, args=(log,), name="lctl-checking", daemon=True).start()

    def _check(self, log: Log) -> None:
        try:
            self.found = log.problems
        except (LogError, OSError):
            self.found = []  # it is gone, which whoever asks for its events is told
