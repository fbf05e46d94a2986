"""Several logs that are counted together: what each is called, and what of it another one tells already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from lctl.analysis.log import Log
from lctl.analysis.pauses import inherited_until
from lctl.kinship import mark_of, names, origin_of


class Member(NamedTuple):
    """One of them.

    Attributes:
        name: its chain's id; of several runs of one id, what messages call the log, which is its path.
        told: up to this event it holds what the recording it came of does, which is among them, too.
    """

    log: Any
    name: str
    told: float


def together(logs: Iterable[Log]) -> list[Member]:
    """Each run once, in their order: of copies of one log the longest. What a rerun or fork has of its
    recording happened once; alone, or without that, all of it counts."""
    kept = _each_once(logs)
    ids = Counter(_id(log) for log in kept)
    by_id: dict[str, list[Log]] = {}
    for log in kept:
        by_id.setdefault(_id(log), []).append(log)
    return [
        Member(log, _id(log) if _id(log) and ids[_id(log)] == 1 else _name(log, n), _told(log, by_id))
        for n, log in enumerate(kept, 1)
    ]


def _each_once(logs: Iterable[Log]) -> list[Log]:
    found: dict[object, Log] = {}
    for n, log in enumerate(logs):
        mark, path = mark_of(log.chain), getattr(log, "path", None)
        key: object = (_id(log), mark) if mark else (path if path not in (None, "-") else n)
        known = found.get(key)
        if known is None or len(log) > len(known):
            found[key] = log
    return list(found.values())


def _told(log: Log, by_id: dict[str, list[Log]]) -> float:
    origin = origin_of(log.chain) if {"fork", "rerun"} & log.chain.keys() else None
    if origin is None:
        return 0.0
    above = (one for one in by_id.get(origin.id, ()) if one is not log)
    return inherited_until(log) if any(names(origin, one.chain) for one in above) else 0.0


def _id(log: Log) -> str:
    return str(log.chain.get("id") or "")


def _name(log: Log, number: int) -> str:
    return str(getattr(log, "name", "") or f"log {number}")
