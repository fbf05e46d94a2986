"""What follows a session's events for the sake of trust: confidences, contracts, cycles.

Events are taken back from the log, so that a session knows what a reader of its log will. Nothing is done
before somebody asks: recording a fact costs the same however many there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from lctl.session.found import recorded_here
from lctl.trust.ledger import Ledger
from lctl.trust.policy import policy_of

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession
    from lctl.trust.checking import Checker, Validation
    from lctl.trust.cycles import Cycle, Cycles

#: What can make a contract be judged.
_JUDGING = frozenset({"step_start", "step_end", "fact_read"})
#: What can close a circle.
_CIRCLING = frozenset({"step_start", "tool_call"})


class Watch:
    """The ledger of a session's facts; with `checker` and `circles` also what these find.

    Attributes:
        on_found: types of events after which `look` is to be called.
    """

    def __init__(self, session: LCTLSession) -> None:
        self._store = recorded_here(session.store)
        self._position = 0
        self._lock = session.store.lock  # an event may be made of those before it while none can come between
        self.ledger = Ledger(policy_of(session.store.chain))
        self.checker: Checker | None = None
        self.circles: Cycles | None = None
        self.types: frozenset[str] = frozenset()
        self._validations: list[Validation] = []
        self._cycles: list[Cycle] = []
        self._told: set[str] = set()

    def follow(self) -> Ledger:
        """Take what was recorded since the last time; the ledger."""
        with self._lock:
            lines, self._position = self._store.since(self._position)
            for line in lines:
                event = orjson.loads(line)
                self._take(event)
            return self.ledger

    def check(self, checker: Checker) -> None:
        """Judge by these contracts from now on. What agents stated before is known, and not judged."""
        with self._lock:
            for line in self._store.read():
                event = orjson.loads(line)
                checker.take(*_taken(event))
            self.follow()
            self.checker = checker
            self.types |= _JUDGING

    def circle(self, circles: Cycles) -> None:
        """Look for cycles from now on."""
        with self._lock:
            self.follow()
            self.circles = circles
            self.types |= _CIRCLING

    def look(self) -> tuple[list[Validation], list[Cycle]]:
        """What has been found since the last time."""
        with self._lock:
            self.follow()
            found = (self._validations, self._cycles)
            self._validations, self._cycles = [], []
            return found

    def finish(self) -> list[Validation]:
        """What can be judged at the end only."""
        with self._lock:
            self.follow()
            return [] if self.checker is None else self.checker.finish()

    def definition(self, contract: str) -> dict[str, Any] | None:
        """The contract, the first time somebody asks."""
        if contract in self._told or self.checker is None:
            return None
        self._told.add(contract)
        return self.checker.contracts[contract].document()

    def _take(self, event: dict[str, Any]) -> None:
        seq, type, agent, step, data = _taken(event)
        self.ledger.take(seq, type, agent, data)
        if self.checker is not None:
            self._validations += self.checker.take(seq, type, agent, step, data)
        if self.circles is not None:
            found = self.circles.take(seq, type, agent, data, str(event.get("timestamp") or ""), step)
            if found is not None:
                self._cycles.append(found)


def _taken(event: dict[str, Any]) -> tuple[int, str, str, int | None, dict[str, Any]]:
    data = event.get("data")
    return (
        event["seq"],
        event["type"],
        event.get("agent") or "",
        event.get("step"),
        data if isinstance(data, dict) else {},
    )
