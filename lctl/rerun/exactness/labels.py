"""Places in the program's code, `agent.py:12`, as labels of events.

They move as a program is worked on, and say nothing of what it did: so they decide nothing, and the log of a
rerun has those of now.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from lctl.payloads.tape import reads_of

#: Of an event's line, what may differ though its places are the same.
_TIMES = re.compile(rb'"(?:timestamp|at|duration_ms|turn|behind)":[^,}]*')


def unlabelled(data: dict[str, Any]) -> None:
    """An `ambient` event's data without places. Reads of one kind at two of them are of one kind."""
    data.pop("place", None)
    if isinstance(data.get("reads"), list):
        reads = [[source, key, value] for source, key, value, _ in reads_of(data)]
        for name in ("order", "values", "steps"):
            data.pop(name, None)
        data["reads"] = reads


class Labels:
    """Those of one rerun's log.

    Attributes:
        moved: places of recorded events that are others now, with both: `agent.py:12 -> agent.py:13`.
    """

    def __init__(self) -> None:
        self._moved: dict[tuple[str, str], None] = {}

    @property
    def moved(self) -> list[str]:
        return [f"{then} -> {now}" for then, now in self._moved]

    def of_now(self, recorded: bytes, now: bytes) -> bytes:
        """The recorded line of an event that says the same now, with the places of now."""
        if b'"type":"ambient"' not in recorded[:64] or _TIMES.sub(b"", recorded) == _TIMES.sub(b"", now):
            return recorded
        then, new = orjson.loads(recorded), orjson.loads(now)
        moved = [(str(a), str(b)) for a, b in zip(*map(_places, (then, new)), strict=False) if a != b]
        if not moved:
            return recorded
        self._moved.update(dict.fromkeys(moved))
        for name in ("place", "reads", "order"):
            then["data"].pop(name, None)
            if name in new["data"]:
                then["data"][name] = new["data"][name]
        return orjson.dumps(then)


def _places(event: dict[str, Any]) -> list[str | None]:
    """Of each of its reads."""
    return [place for *_, place in reads_of(event["data"])]
