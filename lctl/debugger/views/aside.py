"""Which events only a rerun needs: a list of what a program did leaves them out until they are asked for."""

from __future__ import annotations

import re

from lctl.analysis.asked import is_asked
from lctl.debugger.asking import OfRun
from lctl.debugger.columns import PLAIN
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.events import Aside
from lctl.events import Event

#: An `exchange` stays: it tells of attempts, and of what went wrong on the wire.
TYPES = ("ambient", "output", "blob")
#: Stretches that are sent; of a log with more of them nothing is left out.
_MOST = 50_000


def is_aside(event: Event) -> bool:
    """Of one event: what was asked of the program (a cell, a request) is part of what it did."""
    if event.type not in TYPES:
        return False
    return event.type != "ambient" or not is_asked(event.data.get("source"), event.data.get("key"))


def aside(run: Opened, asked: OfRun) -> Aside:
    """Stretches of such events, as far as the log has been read."""
    columns = run.columns_now(0.0) if run.is_long else run.columns_now()
    with columns.lock:
        chosen = bytearray(256)
        for code in columns.codes_of(*TYPES, flavour=PLAIN):
            chosen[code] = 1
        marks = columns.codes.translate(chosen)
        found = [
            (columns.seq(stretch.start()), columns.seq(stretch.end() - 1))
            for stretch in re.finditer(rb"\x01+", marks)
        ]
        upto = columns.last
    if len(found) > _MOST:
        return Aside(stretches=[], events=0, upto=upto, progress=columns.progress)
    return Aside(stretches=found, events=marks.count(1), upto=upto, progress=columns.progress)
