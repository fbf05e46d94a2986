"""What is wrong inside a closed log, of which its ends, and its summary, say nothing."""

from __future__ import annotations

from lctl.analysis.run import Run
from lctl.codec import verify
from lctl.errors import LctlError

#: Bytes of a log that is looked through for a list, and how much of what is found there is said.
LOOKED_THROUGH, _SAID = 4 << 20, 3


def is_short(run: Run) -> bool:
    """Whether a list looks through it; one that is open, unreadable or in a store it does not."""
    return not (run.open or run.problem or run.where) and 0 < run.size <= LOOKED_THROUGH


def damage_of(run: Run) -> str:
    """In words; "" of a log that is as it was written. One that carries a hash is held against that, which is
    quick; another one is read for lines that are no events, and for gaps between them."""
    try:
        log = run.log()
        found = verify(log).problems if log.tail and log.tail.get("hash") else log.problems
        return "; ".join(map(str, (log.problems or found)[:_SAID])) if found else ""
    except LctlError as error:
        return str(error)
