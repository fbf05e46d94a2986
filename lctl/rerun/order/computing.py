"""How long threads may compute while deliveries wait."""

from __future__ import annotations

from lctl.clock import monotonic
from lctl.rerun.order.quiescence import Threads
from lctl.rerun.order.watching import Watch

#: Seconds of processor time for which they may, beside three times the recorded gap; how many times as long
#: that may take on a machine that does much else; and what part of it those use at least that compute at all,
#: and do not wake now and then.
_SECONDS = 3.0
_LOADED = 20
_LEAST = 0.02

_monotonic = monotonic


class Computing:
    """What the other threads of one rerun have computed since they were last at rest."""

    def __init__(self, threads: Threads, watch: Watch) -> None:
        self._threads = threads
        self._watch = watch
        self._since: tuple[float, float] | None = None  # processor time and real time of its beginning

    def end(self) -> None:
        """They are at rest."""
        self._since = None

    def is_ceaseless(self, gap: float) -> bool:
        """Whether they have computed for longer than what comes next took in the recording, `gap` ms. Then it
        begins anew."""
        if self._since is None:
            self._since = self._threads.spent(self._watch.tid), _monotonic()
            return False
        used, since = self._since
        enough, passed = _SECONDS + 3 * gap / 1000, _monotonic() - since
        if passed <= enough:
            return False
        used = self._threads.spent(self._watch.tid) - used
        computes = used >= _LEAST * passed and passed <= _LOADED * enough
        # How long an import takes is the machine's affair, and it comes to an end.
        if computes and (used <= enough or self._threads.is_one_importing()):
            return False
        self._since = None
        return True
