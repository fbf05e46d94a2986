"""One event loop on virtual time: where it stands still, and what reaches it in which of its turns."""

from __future__ import annotations

import threading
from asyncio import Handle
from collections.abc import Callable
from selectors import EVENT_WRITE
from typing import TYPE_CHECKING, Any

from lctl.rerun.order.pauses import Pauses
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
        polls: it has gone through its turns without rest for long, and is looked at as if it rested.
        is_asked: somebody outside asks, or has done so, what it is to answer in the turn that comes.
        awaits_asked: it stands still for that.
    """

    def __init__(self, clock: VirtualTime, keeper: Timekeeper, loop: Any) -> None:
        self._clock = clock
        self._keeper = keeper
        self._selector = loop._selector
        self._real: Callable[[float | None], Any] = self._selector.select
        self._turns = 0
        self.polls = False
        self._granted: list[tuple[Awaiting | Held, bool]] = []
        self._next = 0  # among what is ready: behind what has been given in this turn
        self.is_paused = self.is_asked = self.awaits_asked = False
        self.turn = 0
        self.reached: int | None = None
        self.loop = loop
        self.tid = threading.get_native_id()
        self.until: float | None = None
        self._pauses = Pauses(keeper, self, self._real)
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
        return bool(self.loop._ready) and not self.is_paused and not self.polls

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

    def serves(self, client: int) -> bool:
        """Whether it has the other end of a connection from that port."""
        try:
            files = list(self._selector.get_map())
        except (AttributeError, TypeError, RuntimeError):
            return False
        return any(ownrequests.asked_from(file) == client for file in files)

    def wake(self) -> None:
        self._pauses.end()

    def interrupt(self, act: Callable[[], None]) -> None:
        """Have its thread do that where it waits, and wait on."""
        self._pauses.interrupt(act)

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
        given = self._give() or self.is_asked
        if self.is_asked:
            self.reached = self.turn  # it is read in this turn
        while (self.loop._ready or self.is_asked) and self._keeper.is_due(self, given):
            asked = self._keeper.is_asked_now(self, given)
            events = self._pause(asked)  # with what it saw before, that is there still
            if not (self._give() or (asked and self.is_asked)):
                break
            given = True
        self.is_asked = False
        if given:
            self._turns = 0  # whatever it goes through is what the program does upon that
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
        while self._goes_on_in_turn(given, behind):
            pass
        self.is_asked = False

    def _goes_on_in_turn(self, given: bool, behind: int) -> bool:
        place = self._keeper.follows_in_turn(self, surely=True)
        if place is None or self._keeper.spot(place).behind < behind:
            return False
        if not (given or self.reached == self.turn or self._keeper.turn(place)):
            return False
        asked, ready = self._keeper.is_asked(place), self.loop._ready
        events = self._pause(asked)
        there = len(ready)
        if asked and self.is_asked:
            self.loop._process_events(events)
        elif not self._give(at_once=True):  # what it saw of files it will see again
            return False
        for handle in [ready.pop() for _ in range(len(ready) - there)][::-1]:
            if not handle._cancelled:
                handle._run()
        return True

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
        return self._pauses.listen(timeout if realtime else None)

    def _turn(self) -> Any:
        """There is something to do; is the loop one that polls?"""
        self._turns += 1
        if self._turns < _POLLS or not self._keeper.is_waited_for() or self._keeper.is_to_come(self):
            return self._real(0)
        self._turns = 0
        self.polls, self.until = True, None
        try:
            if not self._keeper.idle(self):
                self._keeper.awake(self)
        finally:
            self.polls = False
        return self._real(0)

    def _pause(self, asked: bool = False) -> Any:
        """Stand still until the next has reached the loop, or something of the world: not what this rerun
        itself sent to a server before. `asked`: until that is asked."""
        is_deaf = asked or (self.has_files() and not self.has_traffic())
        self.is_asked = self.is_asked and not asked
        self.is_paused, self.awaits_asked, self.until = True, asked, None
        try:
            if is_deaf:
                return self._pauses.stand()
            self.loop._read_from_self()  # what woke it before in this turn would end the wait at once
            return self._pauses.listen(None)
        finally:
            self.is_paused = self.awaits_asked = False
            if asked and self.is_asked:
                self.reached = self.turn
