"""What the summaries of a list of runs do not say, from the events: what reruns and forks sent, cost and took
themselves (their summaries count what came from the tape, too), and the cost of calls of which some were
dearer a token than others.
"""

from __future__ import annotations

from typing import Any

from lctl.analysis.damage import damage_of, is_short
from lctl.analysis.pauses import duration_of
from lctl.analysis.prices import Prices
from lctl.analysis.run import Run
from lctl.analysis.runcosts import LONGEST
from lctl.analysis.stats import Stats, stats
from lctl.clock import monotonic
from lctl.errors import LctlError

#: Seconds that one list takes for those it does not know yet; the next one goes on.
_SECONDS = 1.0


class OwnSums:
    """Of the runs of one catalogue; kept until a run changes."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._known: dict[str, tuple[Any, Stats | None]] = {}
        self._damage: dict[str, tuple[Any, str]] = {}
        self._lasted: dict[str, tuple[Any, float | None]] = {}

    def begin(self) -> float:
        """Until when one list may work them out."""
        return monotonic() + _SECONDS

    def of(self, run: Run, until: float) -> Stats | None:
        """None where they cannot be told, or not in this time."""
        if run.open or (run.events or 0) > LONGEST:
            return None
        stamp = run.events, run.size, run.updated
        known = self._known.get(run.place)
        if known is not None and known[0] == stamp:
            return known[1]
        if monotonic() > until:
            return None
        try:
            found = stats(run.log(), self._prices)
        except LctlError:
            found = None
        self._known[run.place] = stamp, found
        return found

    def duration(self, run: Run) -> float | None:
        """How long it took, milliseconds: one length, in lists as elsewhere."""
        if not has_own(run):
            return duration_of(run)
        stamp = run.events, run.size, run.updated
        known = self._lasted.get(run.place)
        if known is None or known[0] != stamp:
            known = self._lasted[run.place] = stamp, duration_of(run)
        return known[1]

    def damage(self, run: Run, until: float) -> str:
        """What is wrong inside a closed log, whose summary says nothing of it; "" of a whole one, of a long
        one, and where there was no time to look."""
        if not is_short(run):
            return ""
        stamp = run.events, run.size, run.updated, _changed(run)
        known = self._damage.get(run.place)
        if known is None or known[0] != stamp:
            if monotonic() > until:
                return ""
            known = self._damage[run.place] = stamp, damage_of(run)
        return known[1]


def _changed(run: Run) -> int:
    try:
        return run.path.stat().st_mtime_ns
    except OSError:
        return 0


def has_own(run: Run) -> bool:
    """Whether its summary counts what another run has paid for."""
    return bool(run.chain.keys() & {"fork", "rerun"})
