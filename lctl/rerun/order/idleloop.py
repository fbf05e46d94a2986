"""One event loop on virtual time: where it stands still, and what reaches it in which of its turns."""

from __future__ import annotations

import threading
from asyncio import Handle
from collections.abc import Callable
from selectors import EVENT_WRITE
from typing import TYPE_CHECKING, Any

from lctl.session.concurrency import ownrequests
from lctl.session.concurrency.turns import FAR

if TYPE_CHECKING:
    from lctl.rerun.clocks.timekeeper import Timekeeper
    from lctl.rerun.clocks.virtualtime import VirtualTime
    from lctl.rerun.order.parties import Awaiting, Held

#: Turns of a loop without rest after which it is taken for one that polls.
_POLLS = 300


def follows(loop: Any) -> bool:
    """Whether this loop keeps virtual time."""
    return idle_of(loop) is not None


def idle_of(loop: Any) -> IdleLoop | None:
    selector = getattr(loop, "_selector", None)
    select = getattr(selector, "__dict__", {}).get("select")
    idle = getattr(select, "__self__", None)
    return idle if isinstance(idle, IdleLoop) else None


class IdleLoop:
    """One event loop, in place of its selector's `select`.

    Attributes:
        loop: the loop.
        tid: the system's number of its thread.
        until: virtual ms of its next timer while it waits; None if it has none.
        turn: how many it has begun.
        reached: the turn in which something last reached it.
        is_paused: it stands still though it has something to do.
    """

    def __init__(self, clock: VirtualTime, keeper: Timekeeper, loop: Any) -> None:
        self._clock = clock
        self._keeper = keeper
        self._selector = loop._selector
        self._real: Callable[[float | None], Any] = self._selector.select
        self._turns = 0
        self._polls = False
        self._granted: list[tuple[Awaiting | Held, bool]] = []
        self._act: Callable[[], None] | None = None
        self._next = 0  # among what is ready: behind what has been given in this turn
        self.is_paused = False
        self.turn = 0
        self.reached: int | None = None
        self.loop = loop
        self.tid = threading.get_native_id()
        self.until: float | None = None
        self._selector.select = self._select

    def leave(self) -> None:
        self._selector.__dict__.pop("select", None)

    def is_over(self) -> bool:
        return self.loop._selector is not self._selector

    def has_come(self, turn: int) -> bool:
        """Whether this turn is at least the `turn`th after the one in which something last reached it."""
        return turn != FAR and self.turn >= (self.reached or 0) + turn

    def is_called(self) -> bool:
        """Whether something has come for it that it has not seen."""
        return bool(self.loop._ready) and not self.is_paused and not self._polls

    def has_files(self) -> bool:
        """Whether it waits for any file but the one that wakes it."""
        try:
            return len(self._selector.get_map()) > 1
        except (AttributeError, TypeError, RuntimeError):
            return False

    def has_traffic(self) -> bool:
        """Whether something of the world may come by one: not where nobody but this rerun asks a server."""
        if not (ownrequests.is_asked_again and self.has_files()):
            return self.has_files()
        try:
            mine = self.loop._csock.fileno(), self.loop._ssock.fileno()
            return not all(
                file in mine or (not key.events & EVENT_WRITE and ownrequests.is_asked_over(file))
                for file, key in list(self._selector.get_map().items())
            )
        except (AttributeError, TypeError, RuntimeError):
            return True

    def wake(self) -> None:
        if threading.get_native_id() != self.tid:
            self.loop._write_to_self()

    def interrupt(self, act: Callable[[], None]) -> None:
        """Have its thread do that where it waits, and wait on."""
        self._act = act
        self.wake()

    def grant(self, party: Awaiting | Held, counts: bool) -> None:
        """Let `party` have what it waits for. `counts`: its turn was recorded."""
        self._granted.append((party, counts))
        self.wake()

    def _select(self, timeout: float | None = None) -> Any:
        """Begin a turn, with what is to reach the loop in it."""
        self.tid = threading.get_native_id()
        self.turn += 1
        self._next = 0
        if self._keeper.pace.realtime:
            events = self._rest(timeout)
        else:
            events = self._turn() if timeout is not None and timeout <= 0 else self._rest(timeout)
        given = self._give()
        while self.loop._ready and self._keeper.is_due(self, given):
            events = [*events, *self._pause()]
            if not self._give():
                break
            given = True
        # What it does itself may be followed in this turn, too: the start of a tool by another's result.
        place = self._keeper.follows_in_turn(self, surely=False) if self.loop._ready else None
        if place is not None:
            self._stop_within(place, given)
        return events

    def _stop_within(self, place: int, given: bool) -> None:
        """Have what reaches the loop in this turn, from `place` on, run where it ran: some of the program's
        own may stand between."""
        ready, at = self.loop._ready, self._next  # not before what it follows
        for one in self._keeper.spots(self, place):
            at = max(self._keeper.index(self, one), at)
            ending = self._keeper.ending(self, one)
            if ending is not None:
                at = ending.give(at)
            behind = self._keeper.spot(one).behind
            ready.insert(at, Handle(self._go_on_in_turn, (given, behind), self.loop))
            at += 1

    def _go_on_in_turn(self, given: bool, behind: int) -> None:
        """What reached the loop in this turn has run: let threads go on that did so before the rest of it, of
        which `behind` callbacks are the program's own."""
        ready = self.loop._ready
        while True:
            place = self._keeper.follows_in_turn(self, surely=True)
            if place is None or self._keeper.spot(place).behind < behind:
                return
            if not (given or self.reached == self.turn or self._keeper.turn(place)):
                return
            self._pause()  # what it saw of files it will see again
            there = len(ready)
            if not self._give(at_once=True):
                return
            for handle in [ready.pop() for _ in range(len(ready) - there)][::-1]:
                if not handle._cancelled:
                    handle._run()

    def _give(self, at_once: bool = False) -> bool:
        """Whether anything reached the loop. `at_once`: it is to stand behind all that is there."""
        given = bool(self._granted)
        ready = self.loop._ready
        for party, counts in self._granted:
            at = len(ready) if at_once else max(self._keeper.index(self, party.place), self._next)
            self._next = party.give(at)
            if counts:
                self.reached = self.turn
        self._granted.clear()
        return given

    def _rest(self, timeout: float | None) -> Any:
        """There is nothing to do before `timeout` has passed."""
        self._turns = 0
        realtime = self._keeper.pace.realtime
        if realtime or self.has_files():
            events = self._real(0)
            if events or (timeout is not None and timeout <= 0):
                return events
        self.until = None
        if timeout is not None and not realtime:
            self.until = self._clock.moment(self.loop._scheduled[0]._when)
        return self._wait(timeout if realtime else None)

    def _turn(self) -> Any:
        """There is something to do; is the loop one that polls?"""
        self._turns += 1
        if self._turns < _POLLS or not self._keeper.is_waited_for() or self._keeper.is_to_come(self):
            return self._real(0)
        self._turns = 0
        self._polls, self.until = True, None
        try:
            if not self._keeper.idle(self):
                self._keeper.awake(self)
        finally:
            self._polls = False
        return self._real(0)

    def _pause(self) -> Any:
        """Stand still until the next has reached the loop, or something of the world."""
        self.loop._read_from_self()  # what woke it before in this turn would end the wait at once
        self.is_paused, self.until = True, None
        try:
            return self._wait(None)
        finally:
            self.is_paused = False

    def _wait(self, timeout: float | None) -> Any:
        """Until it has something to do."""
        while True:
            if self._keeper.idle(self):
                events = self._real(0)
            else:
                try:
                    events = self._real(timeout)
                finally:
                    self._keeper.awake(self)
            act, self._act = self._act, None
            if act is None:
                return events
            self.loop._read_from_self()  # what woke it; files that are ready are so still
            act()
            events = self._real(0)
            if events:  # a signal that the loop itself handles comes by a file
                return events
