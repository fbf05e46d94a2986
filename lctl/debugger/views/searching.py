"""Search: the events that match, and where on the time bar they are."""

from __future__ import annotations

import time
from collections.abc import Iterator

from lctl.analysis.search import FIELDS, Query, search
from lctl.debugger.asking import OfRun
from lctl.debugger.moments import state_at
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.common import Row
from lctl.debugger.shapes.findings import Found, SearchHelp
from lctl.debugger.views.querying import tables
from lctl.debugger.views.rows import row
from lctl.events import Event

#: Seconds one answer may take; the next goes on from there.
_WORK = 0.4
_VALUES = 200
_PIECE = 512


class SearchAsked(OfRun, kw_only=True):
    q: str
    after: int = 0
    limit: int = 100
    width: int = 1200


class _Stretch:
    """A piece of a log, for `search` to look through; notes how far it came."""

    def __init__(self, run: Opened, after: int) -> None:
        self._run = run
        self.chain = run.log.chain
        self.seq = max(after, run.log.first_seq - 1)
        self.ended = False
        self._deadline = time.monotonic() + _WORK

    def lines(self) -> Iterator[bytes]:
        last = self._run.log.last_seq
        while self.seq < last and time.monotonic() < self._deadline:
            stop = min(self.seq + _PIECE, last)
            yield from self._run.log.lines(self.seq + 1, stop + 1)
            self.seq = stop
        self.ended = self.seq >= last


def found(run: Opened, asked: SearchAsked) -> Found:
    """Events behind `after` that match: rows of the first, a place on the bar for each."""
    query = Query(asked.q)
    limit, width = max(0, min(asked.limit, 2000)), max(1, min(asked.width, 8192))
    first, last = run.log.first_seq, run.log.last_seq
    count = max(1, last - first + 1)
    bins = [0] * min(width, count)
    rows: list[Row] = []
    matches = 0
    stretch = _Stretch(run, asked.after)
    for event in search(stretch, query) if query.terms else ():  # type: ignore[arg-type]
        matches += 1
        if first <= event.seq <= last:
            bins[_bin(event.seq - first, count, len(bins))] += 1
        if len(rows) < limit:
            rows.append(row(run, event, _size(run, event)))
    ended = stretch.ended or not query.terms
    return Found(
        rows=rows,
        next=None if ended else stretch.seq,
        matches=matches,
        scanned=stretch.seq if query.terms else last,
        progress=1.0 if ended or last < first else (stretch.seq - first + 1) / count,
        bins=bins,
    )


def _bin(place: int, count: int, bins: int) -> int:
    """The bin of the time bar: it begins at count * n // bins."""
    n = place * bins // count
    while n + 1 < bins and count * (n + 1) // bins <= place:
        n += 1
    return n


def _size(run: Opened, event: Event) -> int:
    return next((len(line) for line in run.log.lines(event.seq, event.seq + 1)), 0)


def search_help(run: Opened, asked: OfRun) -> SearchHelp:
    """What may stand in a query, for completion."""
    now, _ = state_at(run, None)
    columns = run.columns_now()
    return SearchHelp(
        fields=[*sorted(FIELDS), "data."],
        types=list(columns.types()),
        values={
            "agent": [name for name in columns.names[:_VALUES] if name],
            "tool": list(now.tools)[:_VALUES],
            "model": list(now.models)[:_VALUES],
        },
        tables=tables(),
    )
