"""Bodies of tools that a rerun does not run, for their results are served: what was recorded in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lctl.rerun.order.ordering import keys

if TYPE_CHECKING:
    from lctl.rerun.order.waiting import Order
    from lctl.rerun.tape.tape import Tape


class SkippedBodies:
    """Those of one tape.

    Attributes:
        seqs: of the events recorded in them.
        fills: whether such an event is stored in its recorded place.
    """

    def __init__(self, tape: Tape, order: Order, are_filled: bool) -> None:
        """
        Args:
            are_filled: what `fills` says as long as the log is not begun: that of a forked process may begin
                with such an event.
        """
        self._tape = tape
        self._order = order
        self.seqs: set[int] = set()
        self.fills: Callable[[int], bool] = lambda seq: are_filled

    def events(self, ranges: Sequence[tuple[int, int]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The events of a body: nobody will ask for what it asked for. First those that are recorded where
        they were."""
        placed: list[dict[str, Any]] = []
        events: list[dict[str, Any]] = []
        for first, last in ranges:
            for event in self._tape.log.events(first, last + 1):
                (placed if self.fills(event.seq) else events).append(event.to_dict())
        self.skip(ranges)
        return placed, events

    def skip(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Nobody will ask for what is recorded there."""
        for first, last in ranges:
            self.seqs.update(range(first, last + 1))
        for entry in self._tape.entries if ranges else ():
            if entry.seq in self.seqs and not entry.used:
                entry.used = True
                for key in keys(entry, self._tape.mark):
                    self._order.drop(key)
