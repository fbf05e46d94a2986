"""What a server's threads send to clients that have gone: that fails, at the first or the third piece.

How long the system takes what nobody reads any more is another thing in each run. So it is on the tape, and
a rerun, in which the client stays, has the same piece fail. (Event loops: see `departures`.)
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from typing import NamedTuple

from lctl.session.concurrency import arrivals, lanes, processes
from lctl.session.concurrency.lane import Request

_ERRORS: dict[str, tuple[type[ConnectionError], int]] = {
    "BrokenPipeError": (BrokenPipeError, errno.EPIPE),
    "ConnectionAbortedError": (ConnectionAbortedError, errno.ECONNABORTED),
    "ConnectionResetError": (ConnectionResetError, errno.ECONNRESET),
}
#: Is told where that is recorded: of which answer, how many pieces were sent before, and the error's name.
tell: Callable[[Request, int, str], None] | None = None
#: In a rerun: the same, by the lanes of requests.
due: dict[str, tuple[int, str]] = {}


class Sending(NamedTuple):
    """A piece of an answer: `before` it so many were sent."""

    request: Request
    before: int

    def check(self) -> None:
        """Raise what it failed with."""
        before, name = due.get(self.request.path, (0, ""))
        if name in _ERRORS and self.before >= before:
            kind, number = _ERRORS[name]
            raise kind(number, os.strerror(number))

    def fail(self, error: ConnectionError) -> None:
        """The client has gone."""
        name = type(error).__name__
        is_first, self.request.is_left = not self.request.is_left, True
        if is_first and tell is not None and name in _ERRORS:
            tell(self.request, self.before, name)


def begin() -> Sending | None:
    """A thread sends what answers a request from outside. None: it does something else, or runs a loop."""
    if tell is None and not due:
        return None
    request = arrivals.answered_in(lanes.current())
    if request is None or _in_loop():
        return None
    return Sending(request, request.number("sent") - 1)


def _in_loop() -> bool:
    events = sys.modules.get("asyncio.events")
    return events is not None and events._get_running_loop() is not None


processes.renewals += (due.clear,)
