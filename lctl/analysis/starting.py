"""When a run began, and its place in a list: two things, of a file that was imported or copied.

A list is by when each file was recorded or written here: who has just imported a session finds it as `last`.
When the run began is told by the file's name, else by its first event.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lctl.codec.bytesource import FileBytes
from lctl.state.moments import moment

_NAMED = re.compile(r"(\d{8})[-T]?(\d{6})")
#: The timestamp of an event's line, as lctl writes it.
_STAMP = re.compile(rb'^\{"seq":\d+,"type":"[^"\\]*","timestamp":"([^"\\]+)"', re.MULTILINE)
#: Bytes of a log that are looked at for it: events of other programs may come without one.
_HEAD = 1 << 16


def named_at(name: str) -> float | None:
    """The UTC time a run's file name says; None of one that says none."""
    found = _NAMED.search(name)
    if found is None:
        return None
    try:
        return datetime.strptime(found[1] + found[2], "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def listed_at(name: str, modified: float) -> float:
    """What a run is listed by: the time its file name says, else when the file was written."""
    named = named_at(name)
    return modified if named is None else named


def told_at(data: FileBytes, chain: Mapping[str, Any]) -> float | None:
    """When the first event of a journal, or of JSON Lines, was; None where its head does not tell.

    A rerun or fork begins with the times of its recording, which is not when it was made.
    """
    if {"rerun", "fork"} & chain.keys():
        return None
    stamps = _STAMP.finditer(data.read(0, _HEAD))
    return next((at for one in stamps if (at := seconds_of(one[1].decode("ascii", "replace")))), None)


def seconds_of(timestamp: object) -> float | None:
    """Since the epoch; None of what is no timestamp."""
    at = moment(timestamp)
    return None if at is None else at.timestamp()
