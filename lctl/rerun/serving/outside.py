"""Who asked the program's servers from outside, or typed, in a rerun: the recorded requests are sent again.

Each over a connection of its own, in its turn among all that is on the tape; so is what was said over the
WebSockets that some opened. What the server answers is read and thrown away. When all is answered and nothing
is left on the tape, the process is ended as servers are. Keys are given to who waits for them; such a program
ends by itself.
"""

from __future__ import annotations

import os
import threading
from _thread import start_new_thread
from collections.abc import Callable, Collection
from functools import cached_property, partial
from time import (  # in real time, as this is imported before a rerun puts others in their place
    monotonic,
    sleep,
)
from typing import TYPE_CHECKING, Any

from lctl.errors import RerunStopped
from lctl.instrument.ambient import requests, screens
from lctl.rerun.guarding import keyboard
from lctl.rerun.serving import departing, sending, talking
from lctl.rerun.serving.connections import Connections
from lctl.rerun.serving.lateness import Lateness
from lctl.rerun.tape.tape import Tape
from lctl.session import border, ownports
from lctl.session.concurrency import arrivals, cutoffs, lanes, ownrequests, talks
from lctl.session.sources import GONE, KEYS, SIGNAL, WEBSOCKET

if TYPE_CHECKING:
    from socket import socket

    from lctl.rerun.order.waiting import Order
    from lctl.session.concurrency.lane import Request

#: Seconds between two looks, and for how long a request is waited for that a server does not read: its loop
#: may be held until the next one comes.
_PAUSE, _PATIENCE = 0.005, 0.05
#: Seconds for what a server does behind its last answer.
_AFTER = 3.0
#: Seconds for a server to take notice of the signal that ends it.
_ENDING = 5.0
_NEXT = "what is to come from outside next is event {seq} ({source}, {key})"
_NO_END = "it does not end as it had been ended"
_NOT_OPENED = (
    "event {seq}, {key}, was said over a WebSocket that the server has not opened again: it answered {status}"
)
_UNREAD = (
    "event {seq}, {key}: what came over this WebSocket from here on is not on the tape ({why}), so the rerun "
    "cannot go on ('--to {seq}' ends it well here)"
)


class Outside:
    """Of one rerun.

    Args:
        unused: what is on the tape, and was not asked for yet.
        leave: ends this process well.
        refuse: stops the rerun, for that reason.
        order: is told while a request is on its way and the next one is got ready: nothing else happens then.
        tell: is called for each request.
        end: ends the server when all is answered, where it is not to be ended as the recorded process was.
        until: the event behind which somebody types, in a fork.

    Attributes:
        is_done: all is asked.
    """

    def __init__(
        self,
        tape: Tape,
        unused: Callable[[], Collection[str]],
        leave: Callable[[], None],
        refuse: Callable[[str], object],
        order: Order,
        tell: Callable[[], None],
        end: Callable[[], None] | None = None,
        until: int | None = None,
    ) -> None:
        self._tape = tape
        self._until = until
        self._unused = unused
        self._leave = leave
        self._refuse = refuse
        self._order = order
        self._tell = tell
        self._end_server = end or self.terminate
        self._open = 0
        self._connections = Connections(tape, self._port)
        self._talks: dict[str, talking.Talk] = {}
        self._answered: dict[str, tuple[Request, socket]] = {}
        self._noted: set[int] = set()
        self._is_given_up = self._is_left = False
        self._next = _NO_END
        self.is_done = False
        self._are_asked = True
        self._handler: Callable[..., None] | None = None
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Ask from now on, once the program listens; stop where nothing comes of it."""
        import signal

        sources = {self._tape.log.event(seq).data.get("source") for seq in self._tape.arrivals}
        screens.are_coming = KEYS in sources
        self._are_asked = sources != {KEYS}
        if self._are_asked:
            ownrequests.is_asked_again = True
            cutoffs.due.update(self._tape.cut_off)
            talks.were_open = SIGNAL in sources
            self._handler = lambda *_: self._leave()
            signal.signal(signal.SIGTERM, self._handler)
        token = lanes.enter(lanes.MAIN.apart())  # it is none of the threads that the program starts
        try:
            threading.Thread(target=self._ask, name="lctl-outside", daemon=True).start()
            late = Lateness(self._order.progress, self._unused, self._order.gap, lambda: self._next)
            start_new_thread(late.watch, (lambda why: self._is_left or self._refuse(why),))
        finally:
            lanes.leave(token)

    def give_up(self) -> None:
        """End the server though not all answers have come to their end."""
        self._is_given_up = True

    def _ask(self) -> None:
        lanes.enter(arrivals.OUTSIDE)
        try:
            for number, seq in enumerate(self._tape.arrivals):
                data = self._tape.log.event(seq).data
                if data.get("source") == KEYS and self._until is not None and seq > self._until:
                    self._is_left = True
                    return
                self._next = _NEXT.format(seq=seq, source=data.get("source"), key=data.get("key"))
                act = self._acting(number, seq, data)
                player = border.player()
                if player is None:
                    return
                self._order.approach(True)
                # Not behind a fork's point: there they come at once.
                player.sleep(arrivals.OUTSIDE, number + 1)
                self._order.approach(True)
                self._tell()
                if not act():
                    return
        except RerunStopped:
            return
        finally:
            self._order.approach(False)
            self._connections.close()
            screens.are_coming = False
        if self._are_asked:
            self._end()
        self.is_done = True

    def _acting(self, number: int, seq: int, data: Any) -> Callable[[], bool]:
        """What is to be done when it is its turn; whether to go on then. `number`: from 0."""
        key, value, source = str(data.get("key")), dict(data.get("value") or {}), data.get("source")
        if source == SIGNAL:
            return lambda: self._end_with_talks(seq)
        if source == KEYS:
            return lambda: self._type(key, value)
        if source == WEBSOCKET:
            talk = self._talks.get(str(value["over"]))
            return lambda: talk is None or self._say(talk, seq, key, value)
        if source == GONE:
            return lambda: self._go(key, value)
        connection = self._connections.take(number)
        return lambda: self._send(number, data, connection)

    @cached_property
    def _left(self) -> set[str]:
        """The lanes of those who opened WebSockets that they closed themselves."""
        said = (self._tape.log.event(seq).data for seq in self._tape.arrivals)
        values = (data["value"] for data in said if data.get("source") == WEBSOCKET)
        return {str(value["over"]) for value in values if value["kind"] == talks.KINDS[talks.GONE]}

    def _port(self, recorded: int) -> int:
        """Where to ask: at the recorded port, or at the one that the program has been given in its place."""
        while True:
            found = ownports.listening()
            if found:
                return recorded if recorded in found else found[0]
            self._order.approach(False)  # it may be for long
            sleep(_PAUSE)

    def _send(self, number: int, data: Any, connection: socket) -> bool:
        value = dict(data["value"])
        client, server = connection.getsockname(), connection.getpeername()
        what, which = int(value["what"]), int(value["number"])
        request = arrivals.lane_of(what, str(value["method"]), str(value["target"]), which)
        note = partial(requests.note, str(data.get("key")), value, turn=data.get("turn"))
        ownrequests.expect(client, server, request, note)
        opens = sending.opens_websocket(value)
        with self._lock:
            self._open += not opens
        self._order.ask(client[1], False)
        talking.send_all(connection, sending.bytes_of(value))
        self._order.ask(client[1], True)
        if opens:
            self._talks[request.path] = talking.Talk(connection, request.path, request.path in self._left)
        else:
            if value.get("cut"):
                connection.close()
            self._answered[request.path] = request, connection
            start_new_thread(self._read, (connection, value))
        if self._connections.turn(number + 1) != 0:  # else that is to come before this one is taken
            talking.until(lambda: ownrequests.is_taken(client, server), _PATIENCE)
        return True

    def _type(self, key: str, value: Any) -> bool:
        """Once there is who takes it: it may be drawing what comes first."""
        while not screens.takers:
            self._order.approach(False)
            sleep(_PAUSE)
        requests.note(key, value, KEYS)
        taken = screens.give(key, value)
        if taken is not None:
            talking.until(taken, _PATIENCE)
        return True

    def _go(self, key: str, value: Any) -> bool:
        """Away from a server that answers still, as the client did."""
        requests.note(key, value, GONE)
        request, connection = self._answered.get(str(value["over"]), (None, None))
        if request is not None and connection is not None:
            request.is_left = True
            departing.depart(connection, is_reset=bool(value.get("reset")))
        return True

    def _say(self, talk: talking.Talk, seq: int, key: str, value: Any) -> bool:
        if seq not in self._noted:
            requests.note(key, value, WEBSOCKET)
        if value["kind"] == talks.KINDS[talks.UNREAD]:
            self._refuse(_UNREAD.format(seq=seq, key=key, why=value.get("data")))
            return False
        if not talk.is_open() and value["kind"] != talks.KINDS[talks.GONE]:
            status = talk.status.decode("latin-1") or "nothing"
            self._refuse(_NOT_OPENED.format(seq=seq, key=key, status=status))
            return False
        talk.say(value)
        talk.await_taken()
        return True

    def _end_with_talks(self, seq: int) -> bool:
        """End the server, whose WebSockets are open: what their clients say to that is left. A server that
        does not wait for that may have ended first: what is behind its end in the log is recorded at once."""
        self._order.approach(False)
        talks.on_ending = lambda: self._note_behind(seq)
        self._end_server()
        until = monotonic() + _ENDING
        while not talks.are_ending and monotonic() < until:
            sleep(_PAUSE)
        return True

    def _note_behind(self, seq: int) -> None:
        """What was said directly behind the event `seq`."""
        for behind in self._tape.arrivals[self._tape.arrivals.index(seq) + 1 :]:
            data = self._tape.log.event(behind).data
            seq += 1
            if behind != seq or data.get("source") != WEBSOCKET:
                return
            self._noted.add(behind)
            requests.note(str(data.get("key")), data["value"], WEBSOCKET)

    def _read(self, connection: socket, value: Any) -> None:
        try:
            if not value.get("cut"):
                sending.read_answers(connection, value)
        finally:
            connection.close()
            with self._lock:
                self._open -= 1

    def _end(self) -> None:
        self.is_done, self._next = True, _NO_END
        if talks.are_ending:
            return
        while self._open and not self._is_given_up:
            sleep(_PAUSE)
        left, until = self._unused(), monotonic() + _AFTER
        while left and monotonic() < until:
            sleep(_PAUSE)
            now = self._unused()
            if len(now) < len(left):
                left, until = now, monotonic() + _AFTER
        self._end_server()

    def terminate(self) -> None:
        """As the recorded server was. Where nothing says how: a program that handles SIGTERM, and leaves
        Ctrl-C to Python, was ended by the one if it did not die of the other."""
        import signal

        handler, pressed = signal.getsignal(signal.SIGTERM), keyboard.was_pressed(self._tape)
        own = callable(handler) and handler is not self._handler
        own = own and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._tape.is_terminated or (own and not pressed):
            os.kill(os.getpid(), signal.SIGTERM)
        else:
            keyboard.press()
