"""What a library asks once for the whole process, in whichever thread needs it first: which one that is, and
whether others ask as well before it knows, no two runs have in common. So such a question (see
`lctl.instrument.traffic.is_shared`) is known by its content alone."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from lctl.rerun.serving.matching import Matcher
from lctl.session.concurrency.lanes import SHARED

if TYPE_CHECKING:
    from lctl.rerun.tape.entries import Entry
    from lctl.session.border import WireRequest


class Shared:
    """The questions of one tape, as they are asked again."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._lock = threading.Lock()

    def find(self, request: WireRequest) -> tuple[Entry, bool] | None:
        """What the tape holds of it, and whether that has been given before; None if it holds nothing."""
        asked = self._matcher.comparer.asked(request)
        with self._lock:
            alike = [
                entry
                for entry in self._matcher.entries(SHARED.path, "exchange")
                if entry.plain and self._matcher.comparer.recorded(entry).same(asked)
            ]
            if not alike:
                return None
            left = [entry for entry in alike if not entry.used]
            entry = (left or alike)[0]
            again, entry.used = entry.used, True
            return entry, again
