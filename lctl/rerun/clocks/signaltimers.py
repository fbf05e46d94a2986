"""The timer that the system rings by a signal (`signal.alarm`, `setitimer`), on virtual time.

A limit of time around calls and sleeps that take none in a rerun would not run out where it did. On virtual
time it does: a sleep that it ended is waited in until it comes, and one that was over before is over before.
"""

from __future__ import annotations

import signal
import sys
import threading
from _thread import start_new_thread
from collections.abc import Callable
from functools import partial
from time import process_time
from time import sleep as _sleep
from typing import TYPE_CHECKING, Any

from lctl.guard import guard
from lctl.rerun.order.parties import Alarm

if TYPE_CHECKING:
    from lctl.rerun.clocks.timekeeper import Timekeeper

#: Seconds by which it rings later than asked: what was over just before it is over before it.
_SLACK = 0.02
#: It rings for what computes, and waits for nothing, after so much more processor time than was asked for.
_SHARE, _MORE = 1.5, 0.5
#: Real seconds in which the thread that is to be interrupted comes to where it waits, unseen by the rerun.
_GRACE = 0.002


class SignalTimers:
    """In place of the functions of `signal` that set the timer of real time, and ask for it.

    Args:
        monotonic: the virtual clock, in seconds.
        replace: sets an attribute of a module, and knows how to take it back.
    """

    def __init__(
        self, keeper: Timekeeper, monotonic: Callable[[], float], replace: Callable[[Any, str, Any], None]
    ) -> None:
        self._keeper = keeper
        self._monotonic = monotonic
        self._replace = replace
        self._alarm: Alarm | None = None
        self._until = self._interval = 0.0

    def install(self) -> None:
        if sys.platform == "win32":
            return
        self._set_real, self._alarm_real = signal.setitimer, signal.alarm
        self._get_real = signal.getitimer
        self._replace(signal, "setitimer", self._setitimer)
        self._replace(signal, "getitimer", self._getitimer)
        self._replace(signal, "alarm", self._set_alarm)

    def uninstall(self) -> None:
        """Nobody is rung for any more."""
        self._disarm()

    def _setitimer(self, which: int, seconds: float, interval: float = 0.0, /) -> tuple[float, float]:
        if which != signal.ITIMER_REAL or self._keeper.is_over() or seconds < 0:
            return self._set_real(which, seconds, interval)
        return self._arm(float(seconds), float(interval))

    def _getitimer(self, which: int, /) -> tuple[float, float]:
        if which != signal.ITIMER_REAL or self._alarm is None:
            return self._get_real(which)
        return self._left(), self._interval

    def _set_alarm(self, seconds: int, /) -> int:
        if self._keeper.is_over():
            return self._alarm_real(seconds)
        left, _ = self._arm(float(seconds), 0.0)
        return max(1, round(left)) if left else 0

    def _arm(self, seconds: float, interval: float) -> tuple[float, float]:
        before = (self._left(), self._interval)
        self._disarm()
        if seconds:
            self._begin(self._monotonic() + seconds, interval)
        return before

    def _begin(self, until: float, interval: float) -> None:
        self._until, self._interval = until, interval
        seconds = max(0.0, until - self._monotonic())
        later = seconds + (0.0 if interval else _SLACK)
        self._alarm = self._keeper.add(later, self._ring, process_time() + _SHARE * seconds + _MORE)

    def _disarm(self) -> None:
        alarm, self._alarm = self._alarm, None
        self._interval = 0.0
        if alarm is not None:
            self._keeper.remove(alarm)

    def _left(self) -> float:
        return 0.0 if self._alarm is None else max(1e-6, self._until - self._monotonic())

    def _ring(self) -> None:
        """With the door held, in whatever thread."""
        interval, left = self._interval, self._left()
        self._alarm = None
        if self._keeper.is_over():  # it is real time's from now on
            self._set_real(signal.ITIMER_REAL, left or _SLACK, interval)
            return
        if interval:  # as the system: from when it was due, however long what it calls takes
            self._begin(self._until + interval, interval)
        self._keeper.interrupt(partial(signal.raise_signal, signal.SIGALRM), self._interrupt)

    def _interrupt(self, done: Callable[[], None]) -> None:
        start_new_thread(self._send, (done,))

    def _send(self, done: Callable[[], None]) -> None:
        with guard("a signal's timer"):
            _sleep(_GRACE)
            main = threading.main_thread().ident
            if main is not None:
                signal.pthread_kill(main, signal.SIGALRM)
        done()
