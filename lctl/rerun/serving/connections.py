"""Connections by which the recorded requests are sent again, one for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lctl.rerun.serving import sending, talking
from lctl.session.concurrency import ownrequests
from lctl.session.concurrency.turns import FAR
from lctl.session.sources import REQUEST

if TYPE_CHECKING:
    from socket import socket

    from lctl.rerun.tape.tape import Tape

#: How many are open at most for requests that are still to come, and for how many milliseconds of the
#: recording: a server closes those that say nothing for long.
_AHEAD, _SOON = 16, 1000.0
#: Seconds for which it is waited that a server accepts one: its loop may stand still.
_PATIENCE = 0.05


class Connections:
    """Those of one rerun.

    That of a request which reached a loop some turns behind the one before it is opened before that one is
    sent: for a server, to accept one takes turns, too.

    Args:
        port: at which to ask for what came at that one in the recording; may wait for the program to listen.
    """

    def __init__(self, tape: Tape, port: Callable[[int], int]) -> None:
        self._tape = tape
        self._port = port
        self._open: dict[int, socket] = {}

    def take(self, number: int) -> socket:
        """That of the `number`th of those who come from outside (from 0), which is a request."""
        if number not in self._open:
            self._connect(number)
            client = self._open[number].getsockname()[1]
            talking.until(lambda: client in ownrequests.accepted_from, _PATIENCE)  # that takes turns, too
        at = self._at(number)
        last = min(number + _AHEAD, len(self._tape.arrivals))
        for later in range(number + 1, last):
            if self.turn(later) is None or self._at(later) - at > _SOON:
                break
            self._connect(later)
        return self._open.pop(number)

    def turn(self, number: int) -> int | None:
        """How many turns of its loop behind the one before it reached the server; None if that is not known,
        and of what is no request."""
        if number >= len(self._tape.arrivals):
            return None
        data = self._data(number)
        turn = data.get("turn") if data.get("source") == REQUEST else None
        return turn if isinstance(turn, int) and turn >= 0 and turn != FAR else None

    def close(self) -> None:
        """Those that nobody takes any more."""
        while self._open:
            self._open.popitem()[1].close()

    def _connect(self, number: int) -> None:
        if number not in self._open:
            value = dict(self._data(number)["value"])
            port = self._port(int(value["server"][1]))
            self._open[number] = sending.connect(value["client"], port)

    def _at(self, number: int) -> float:
        at = self._data(number).get("at")
        return float(at) if isinstance(at, int | float) else 0.0

    def _data(self, number: int) -> dict[str, Any]:
        return self._tape.log.event(self._tape.arrivals[number]).data
