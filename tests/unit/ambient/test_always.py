"""Reads that recordings by `auto_instrument()` hold, too."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from lctl.codec import open_log
from lctl.instrument.ambient import reads
from lctl.payloads.tape import reads_of
from lctl.session import LCTLSession, border


def test_many_in_a_row_are_all_in_the_log(tmp_path: Path) -> None:
    """From the ninth on they are gathered; what is gathered when the recording ends is written."""
    number = itertools.count()
    with LCTLSession("c", tmp_path / "c.lctl.json"):
        for _ in range(40):
            reads.read(border.NAMED, "ids", sys._getframe(), number.__next__, always=True)
    events = [event for event in open_log(tmp_path / "c.lctl.json").events() if event.type == "ambient"]
    assert [value for event in events for _, _, value, _ in reads_of(event.data)] == list(range(40))
    assert len(events) == 10
