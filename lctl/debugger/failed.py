"""What failed in a run, each failure once: errors, failed tool calls, and steps that failed of themselves.

The page counts, marks and goes through the same ones, and `lctl errors` groups them: a step that failed for
an error inside it is the same failure told again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from lctl.debugger.columns import Columns
from lctl.debugger.opened import Opened

#: Of more than so many, steps are not told apart, for which every one of them is read: they are taken to have
#: failed for something in them.
_MOST = 5000


def failed(run: Opened, columns: Columns) -> array[int]:
    """Their seqs. While a log is being read, those of steps are not among them yet."""
    with columns.lock:
        seqs = columns.errors[:]
    if columns.progress < 1.0 or len(seqs) > _MOST:
        ends = set(columns.codes_of("step_end"))
        others = array("q", (seq for seq in seqs if columns.codes[columns.row(seq)] not in ends))
        return others if others or columns.progress < 1.0 else seqs
    return run.kept(("failed", len(seqs)), lambda: array("q", _told_once(run, columns, seqs)), passing=True)


def _told_once(run: Opened, columns: Columns, seqs: array[int]) -> Iterator[int]:
    ends = set(columns.codes_of("step_end"))
    explained: set[int] = set()
    for seq in seqs:
        step = _step(run, seq)
        if columns.codes[columns.row(seq)] not in ends or step is None or step not in explained:
            yield seq
        while step is not None and step not in explained:
            explained.add(step)
            step = _around(run, step)


def _step(run: Opened, seq: int) -> int | None:
    event = next(iter(run.log.events(seq, seq + 1)), None)
    return None if event is None else event.step


def _around(run: Opened, step: int) -> int | None:
    """The step that a step is in; none of one that names itself or a later one."""
    above = _step(run, step)
    return above if above is not None and above < step else None
