"""A program run in every way, in one process, which `trial_start` begins.

Part of `integration_suite`, which reads what it writes: FOLDER/trial.json, and FOLDER/trial.lctl.json, the
log of a run that was instrumented after its imports, twice.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from lctl.codec import open_log
from lctl.guard import guard
from lctl.instrument import auto_instrument, uninstrument
from lctl.instrument.registry import registry
from lctl.session import LCTLSession


class Injected(Exception):
    """Raised in a hook by the trial."""


def run_trial(module: ModuleType, where: Path, key: str) -> None:
    """`module` is the program, whose code has been run; into the folder `where` goes what came of it."""
    report: dict[str, Any] = {"plain": module.main()}
    auto_instrument()
    auto_instrument()
    entry = registry.entries[key]
    report |= {"state": entry.state, "points": list(entry.points), "missing": list(entry.missing)}
    uninstrument()
    before = _surroundings(report["points"])
    auto_instrument()
    places: list[str] = []
    guard.trial = places.append
    with LCTLSession("trial", where / "trial.lctl.json"):
        report["recorded"] = module.main()
    report["places"] = sorted(set(places))
    report["failed"] = {place: _failing(module, where, place) for place in report["places"]}
    guard.trial = None
    uninstrument()
    report["left"] = _changed(before, _surroundings(report["points"]))
    report["again"] = module.main()
    (where / "trial.json").write_text(json.dumps(report))


def _failing(module: ModuleType, where: Path, place: str) -> dict[str, Any]:
    """The program with an exception in one hook: what it gave, and what its log says was missed."""

    def raising(here: str) -> None:
        if here == place:
            raise Injected(place)

    guard.trial = raising
    path = where / "failing.lctl.json"
    path.unlink(missing_ok=True)
    with LCTLSession("failing", path):
        result = module.main()
    log = open_log(path)
    kept = (log.tail or {}).get("recording") or {}
    return {"result": result, "missed": kept.get("failures", {}), "problems": len(log.problems)}


def _surroundings(points: list[str]) -> dict[str, Any]:
    """What the modules that are patched hold, and their classes: each by identity, lists by their items."""
    found: dict[str, Any] = {}
    for name in {point.partition(":")[0] for point in points}:
        module = sys.modules[name]
        for attribute, value in vars(module).items():
            if attribute == "__warningregistry__":  # Python's own, of whatever warns while it runs
                continue
            found[f"{name}:{attribute}"] = list(value) if isinstance(value, list) else value
            if isinstance(value, type) and value.__module__ == name:
                found |= {f"{name}:{attribute}.{own}": held for own, held in vars(value).items()}
    return found


def _changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    changed = [name for name in before if not _is_same(before[name], after.get(name))]
    return changed + [name for name in after if name not in before]


def _is_same(old: Any, new: Any) -> bool:
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(a is b for a, b in zip(old, new, strict=True))
    return old is new
