"""The log of a rerun against the recorded one, event by event, when both are there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

import orjson

from lctl.codec import Log
from lctl.rerun.certificate import Difference
from lctl.rerun.echo import described, difference


def differences(recorded: Log, again: Log) -> Iterator[Difference]:
    """Every event of `again` that does not say what the recorded one of its seq says."""
    for old, new in zip_longest(recorded.lines(), again.lines()):
        if old is None:
            event = orjson.loads(new)
            yield Difference(event["seq"], None, described(event))
        elif new is None:
            event = orjson.loads(old)
            yield Difference(event["seq"], described(event), None)
        elif old != new:
            found = difference(old, new)
            if found is not None:
                yield found
