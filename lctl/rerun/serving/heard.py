"""Signals from outside that handlers of the program heard: sent again, each in its turn.

Where its main thread waited it is at rest in a rerun, too, and hears them there. Where it computed, it hears
them as it comes to the line in which it was, behind the event before: it is watched until then.
"""

from __future__ import annotations

import signal
import sys
import threading
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Mapping
from functools import partial
from signal import pthread_kill, raise_signal  # not those by which the program's own are known
from time import sleep
from types import FrameType
from typing import TYPE_CHECKING, Any

from lctl.errors import RerunStopped
from lctl.guard import guard
from lctl.instrument.ambient import callers, places
from lctl.rerun.guarding import endings
from lctl.rerun.tape import siblings
from lctl.session import border
from lctl.session.concurrency import heardsignals, lanes

if TYPE_CHECKING:
    from lctl.rerun.exactness.echo import EchoStore
    from lctl.rerun.order.waiting import Order
    from lctl.rerun.tape.tape import Tape

#: Real seconds in which the main thread comes to where it waits, unseen by the rerun.
_GRACE = 0.002


class _Heard:
    """One of them.

    Attributes:
        seq: of its event.
    """

    def __init__(self, seq: int, data: Mapping[str, Any]) -> None:
        self.seq = seq
        self.number = int(getattr(signal, str(data["key"])))
        self.place: str | None = data.get("place")
        self._is_over = False

    def take(self) -> bool:
        """Whether it is to come now: it does so once."""
        is_over, self._is_over = self._is_over, True
        if not is_over:
            heardsignals.coming[self.number].append(self.place)
        return not is_over

    def watch(self) -> None:
        """All before it is recorded. By the thread that has recorded the last of that."""
        if threading.current_thread() is not threading.main_thread() or sys.gettrace() is not None:
            return
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if callers.own(frame) is frame:
                frame.f_trace = self._step
            frame = frame.f_back
        sys.settrace(self._step)

    def _step(self, frame: FrameType, event: str, _: Any) -> Any:
        if self._is_over:
            sys.settrace(None)
            return None
        if callers.own(frame) is not frame:
            return None
        if event == "line" and places.name(frame.f_code.co_filename, frame.f_lineno) == self.place:
            sys.settrace(None)
            if not endings.serves_below() and self.take():
                _raise(self.number)
        return self._step


class HeardAgain:
    """Those of one tape.

    Args:
        until: the event at which the run is forked: those behind it do not come.
    """

    def __init__(self, tape: Tape, order: Order, until: int | None = None) -> None:
        self._order = order
        self._is_here = allocate_lock()
        self._is_here.acquire()
        # Servers are ended once they have been asked all.
        is_server = bool(tape.heard) and next(siblings.servers(tape), None) is not None
        heard = [] if is_server else tape.heard
        told = [(seq, tape.log.event(seq).data) for seq in heard if until is None or seq <= until]
        self._all = [_Heard(seq, data) for seq, data in told if hasattr(signal, str(data.get("key")))]

    def begin(self) -> None:
        """Send them from now on."""
        if not self._all or sys.platform == "win32":
            return
        heardsignals.recorded.update(one.number for one in self._all)
        token = lanes.enter(lanes.MAIN.apart())  # it is none of the threads that the program starts
        try:
            threading.Thread(target=self._send_all, name="lctl-signals", daemon=True).start()
        finally:
            lanes.leave(token)
        self._is_here.acquire()  # nobody goes on before it waits for the first

    def end(self) -> None:
        """The program is about to end. A child's parent may send what it has heard already once Python has
        given handlers up, and would end it by that."""
        if threading.current_thread() is threading.main_thread():
            for number in +heardsignals.recorded:
                if _is_handled(number):
                    signal.signal(number, signal.SIG_IGN)

    def follow(self, echo: EchoStore) -> None:
        """The log of this rerun is begun."""
        for one in self._all:
            if one.place is not None:
                echo.once_stored[one.seq - 1] = one.watch

    def _send_all(self) -> None:
        lanes.enter(heardsignals.LANE)
        self._order.approach(True)
        self._is_here.release()
        try:
            for count, one in enumerate(self._all, 1):
                player = border.player()
                if player is None:
                    return
                player.sleep(heardsignals.LANE, count)
                self._order.approach(True)
                if endings.serves_below():
                    heardsignals.recorded.clear()  # nobody here can say whether it was asked what it had been
                    return
                if one.take():
                    self._order.interrupt(partial(_raise, one.number), partial(_start, one.number))
        except RerunStopped:
            return
        finally:
            self._order.approach(False)


def _is_handled(number: int) -> bool:
    """Whether it does not end the program, which goes another way than it did."""
    return callable(signal.getsignal(number))


def _raise(number: int) -> None:
    if _is_handled(number):
        raise_signal(number)


def _start(number: int, done: Callable[[], None]) -> None:
    start_new_thread(_send, (number, done))


def _send(number: int, done: Callable[[], None]) -> None:
    with guard("a signal that comes again"):
        sleep(_GRACE)
        main = threading.main_thread().ident
        if main is not None and _is_handled(number):
            pthread_kill(main, number)
    done()
