"""What the program of a fork reads of its surroundings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lctl.rerun.tape.reads import Reads
from lctl.rerun.tooling.toolpolicy import is_terminal
from lctl.session.sources import PROMPT, STDIN

if TYPE_CHECKING:
    from lctl.rerun.forks.forkpoint import ForkPoint
    from lctl.session.concurrency.lane import Lane


class ForkReads(Reads):
    """Behind the fork point all is as recorded up to the first live call, so that the change is all that
    differs there. But read anew is

    - what nothing on the tape comes before, or beside (`--at 0`, `--all-live`);
    - what is typed: whoever sits there can say something else;
    - a secret: the tape has it redacted, and a live call needs it.
    """

    def __init__(self, *given: Any, fork: ForkPoint) -> None:
        super().__init__(*given)
        self._fork = fork

    def _is_real(self, source: str, lane: Lane) -> bool:
        fork, following = self._fork, self._next(source, lane)
        if following is None or following.seq <= fork.at:
            return False
        if fork.is_anew(lane.path):
            return True
        return fork.follows(lane.path) and source in (STDIN, PROMPT) and is_terminal()

    def _recorded(self, source: str, key: str, lane: Lane) -> tuple[Any] | None:
        if lane not in self._live and self._is_real(source, lane):
            return None
        found = super()._recorded(source, key, lane)
        if found is not None and source in ("environment", PROMPT) and "[redacted:" in str(found[0]):
            return None
        return found
