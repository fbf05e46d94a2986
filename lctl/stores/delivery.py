"""From the local journal to the store: in order, once, while the program runs and after it.

An event is in the journal, and so in the kernel, before the call that recorded it returns. A thread
follows the journal and appends what is new to the store. Where the store is away it tries again, from
what the store then says it holds: what was sent twice is stored once. If another writer has gone on with
the same chain, what this one recorded is stored as a branch beside it.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from lctl import interrupts
from lctl.clock import monotonic
from lctl.errors import ChainConflict, LctlError, StoreAway, StoreError
from lctl.guard import guard
from lctl.record.bell import Bell
from lctl.stores import outbox
from lctl.stores.address import Address
from lctl.stores.copying import branch, check, meet

if TYPE_CHECKING:
    from lctl.stores.contract import ChainStore
    from lctl.stores.delivered import DeliveredJournal

#: Seconds between two looks at the journal, while there is news and while there is none.
_PAUSE, _QUIET = 0.05, 0.25
#: Seconds before a store that was away is tried again: at first, at most.
_RETRY, _LONGEST = 0.2, 15.0
#: Seconds the end of a recording waits for a store that takes nothing more, and for one that does.
_PATIENCE, _LONGEST_END = 10.0, 60.0
#: The same where it was away just now.
_LAST_TRY = 1.0


class _Shift:
    """One thread's time; `ending` is set by others, without a lock that an interrupt could leave taken."""

    ending = False


class Delivery:
    """Delivers one journal.

    Attributes:
        delivered: the last seq the store has said it holds.
        done: the chain is in the store with its end.
        away: why the store cannot be had, "" while it can.
        stored_as: id of the chain in the store.
    """

    def __init__(self, journal: DeliveredJournal, address: Address) -> None:
        self._journal = weakref.ref(journal)
        self._address = address
        self._chain = dict(journal.chain)
        self._position = 0
        self._store: ChainStore | None = None
        self._tail: dict[str, Any] | None = None
        # Taken by itself, not through the condition: an interrupt in its `__enter__` would leave it taken.
        self._lock = threading.Lock()
        self._news = threading.Condition(self._lock)
        self._wanted = Bell()
        self._shift = _Shift()  # of the thread there is now
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._swept = False  # whether what others left in the outbox has been looked for
        self.delivered = self._seen = 0
        self.done = False
        self.away = ""
        self._said: str | None = None  # why events wait, as the user was told
        self.stored_as = str(self._chain.get("id"))
        _deliveries.add(self)
        _watch_forks()
        self._revive()

    # -- the program's side ------------------------------------------------------------------

    def wait(self, seq: int, timeout: float) -> None:
        """Return when the store holds event `seq`.

        Raises:
            StoreAway: it does not, after `timeout` seconds.
        """
        self._revive()
        self._wanted.ring()
        with self._lock:
            if not self._news.wait_for(lambda: self.delivered >= seq, timeout):
                reason = self.away or f"it did not take them within {timeout:g} s"
                raise StoreAway(f"{self._address.shown}: events up to {seq} are not stored: {reason}")

    def finish(self, tail: dict[str, Any]) -> None:
        """Deliver the rest and the chain's end, as long as the store answers."""
        with self._lock:
            patience = _LAST_TRY if self.away else _PATIENCE
            self._tail, self.away = tail, ""
        self._revive()
        self._wanted.ring()
        self._await_end(patience)
        self.stop()

    def _await_end(self, patience: float) -> None:
        """Return when all is there, when the store is away, or when it has taken nothing for that long."""
        until = monotonic() + _LONGEST_END
        with self._lock:
            while not self.done and not self.away and monotonic() < until:
                seen, self._seen = self.delivered, self.delivered
                self._news.wait_for(self._has_come_on, patience)
                if self.delivered == seen:
                    return

    def _has_come_on(self) -> bool:
        return self.done or bool(self.away) or self.delivered != self._seen

    def say_waiting(self, reason: str) -> None:
        """Say why events wait, and where, if that has not been said."""
        journal = self._journal()
        if journal is not None and self._said != reason:
            self._said = reason
            outbox.say_waiting(journal.path, self._address, reason)

    def stop(self) -> None:
        self._end(1.0)
        _deliveries.discard(self)

    def pause(self) -> None:
        """Before a fork: no thread, until it is wanted again."""
        self._end(0.5)

    def _end(self, patience: float) -> None:
        with self._starting:
            thread = self._thread
            self._shift.ending = True
        self._wanted.ring()
        if thread is not None and thread is not threading.current_thread():
            thread.join(patience)

    def _revive(self) -> None:
        """Have a thread that is not about to end."""
        with self._starting:
            before = self._thread
            if before is not None and before.is_alive() and not self._shift.ending:
                return
            self._shift = _Shift()
            thread = threading.Thread(
                target=self._run, args=(self._shift, before), name="lctl-delivery", daemon=True
            )
            interrupts.start(thread)
            self._thread = thread

    resume = _revive

    # -- the thread's side -------------------------------------------------------------------

    def _run(self, shift: _Shift, before: threading.Thread | None) -> None:
        if before is not None:
            before.join()
        retry = _RETRY
        while not shift.ending:
            try:
                busy = self._deliver_some(shift)
                retry = _RETRY
                self._tell(away="")
            except ChainConflict as error:
                self._part(error)
                continue
            except StoreAway as error:
                self._tell(away=str(error))
                self._store = None
                self._wanted.wait(retry)
                retry = min(retry * 2, _LONGEST)
                continue
            except LctlError as error:  # it is refused, and will be; nothing is lost
                self.say_waiting(str(error))
                self._tell(away=str(error))
                return
            except Exception as error:
                self._tell(away=f"{type(error).__name__}: {error}")
                guard.failed(f"the delivery to {self._address.shown}", error)
                return
            if self.done:
                return
            self._wanted.wait(_PAUSE if busy else _QUIET)

    def _deliver_some(self, shift: _Shift) -> bool:
        """Bring the store as far as the journal is now; whether there was anything to do."""
        journal = self._journal()
        if journal is None:
            shift.ending = True
            return False
        if self._store is None:
            self._store = self._begun(journal)
        busy = False
        for first, lines, position in journal.news(self._position):
            self._tell(delivered=self._store.append(self.stored_as, first, lines))
            self._position, busy = position, True
            if shift.ending and self._tail is None:
                return busy
        if not self._swept:
            self._swept = True
            outbox.deliver_all(self._store)
        if self._tail is not None and journal.is_all(self._position):
            # Where another has gone on with it, the end is that one's.
            if self._store.entry(self.stored_as).last_seq == journal.bounds()[1]:
                self._store.finish(self.stored_as, self._tail)
            self.done = True
            self._tell()
        return busy

    def _begun(self, journal: DeliveredJournal) -> ChainStore:
        """The store, with the chain begun in it, and the place in the journal after what it holds."""
        from lctl.stores.opening import open_store

        store = open_store(self._address, create=True, recording=True)
        last = store.begin(self._chain)
        self._position = 0
        first, end = journal.bounds()
        if last and end:
            meeting = meet(store, self.stored_as, journal.line, first, end)
            check(store, self.stored_as, meeting)
            self._position = journal.position_after(meeting.seq)
            self._tell(delivered=meeting.seq)
        return store

    def _part(self, error: ChainConflict) -> None:
        """Another writer has gone on with the chain: this one's events become a branch."""
        self._chain = branch(self._chain, error.seq - 1)
        self.stored_as = str(self._chain["id"])
        self._store, self._position = None, 0
        told = StoreError(f"{error}; what this program records is stored as chain {self.stored_as}")
        guard.failed(f"under chain {error.chain_id}", told)

    def _tell(self, delivered: int | None = None, away: str | None = None) -> None:
        with self._lock:
            self.delivered = self.delivered if delivered is None else delivered
            self.away = self.away if away is None else away
            self._news.notify_all()


_deliveries: weakref.WeakSet[Delivery] = weakref.WeakSet()
_watching = False


def _watch_forks() -> None:
    global _watching
    if not _watching and hasattr(os, "register_at_fork"):
        _watching = True
        os.register_at_fork(before=_pause_all, after_in_parent=_resume_all, after_in_child=_forget_all)


def _pause_all() -> None:
    for delivery in list(_deliveries):
        delivery.pause()
    if _deliveries:
        time.sleep(0.001)  # a joined thread is gone for Python a moment before it is for the kernel


def _resume_all() -> None:
    """Lazily would be too late: a program that forks workers may record nothing for hours."""
    for delivery in list(_deliveries):
        delivery.resume()


def _forget_all() -> None:
    _deliveries.clear()
