"""What CrewAI's memory finds: in a rerun what it found in the recording, memories of earlier runs among it.

Read where the store is asked, above the vectors: what is asked of models for them is on the tape as any call.
A memory's score falls with its age, and is in the prompt: memories found again are as old as they were.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from inspect import iscoroutinefunction, isfunction
from types import ModuleType
from typing import Any

from lctl.instrument.ambient import reads
from lctl.instrument.patches import PatchSet, Wrapper
from lctl.session import border
from lctl.session.concurrency import lanes, turns
from lctl.session.sources import SETTINGS

#: Modules of its stores, with the store's class.
STORES = {
    "crewai.memory.storage.lancedb_storage": "LanceDBStorage",
    "crewai.memory.storage.qdrant_edge_storage": "QdrantEdgeStorage",
}

#: Modules that have the function for the score, by its name.
_SCORERS = ("crewai.memory.types", "crewai.memory.recall_flow", "crewai.memory.unified_memory")

MODULES = (*STORES, *_SCORERS)


def patch(module: ModuleType, name: str, patches: PatchSet) -> None:
    if name in _SCORERS:
        patches.wrap(module, "compute_composite_score", _as_old_as_it_was)
        return
    store = STORES[name]
    for asked, made in list(vars(getattr(module, store)).items()):
        if asked in _FORMS:
            patches.wrap(module, f"{store}.{asked}", _read(asked, *_FORMS[asked]))
        elif isfunction(made) and not iscoroutinefunction(made):
            patches.wrap(module, f"{store}.{asked}", _inside)


class _Thread(threading.local):
    """Where it is.

    Attributes:
        inside: a store.
        scoring: the function for the score.
    """

    inside = False
    scoring = False


_thread = _Thread()


class _Found(list[tuple[Any, float]]):
    """What a search gave. `at`: when, as CrewAI tells times."""

    def __init__(self, found: Iterable[tuple[Any, float]], at: datetime) -> None:
        super().__init__(found)
        self.at = at


class _Since:
    """How long ago what a rerun found last was found in the recording; None before."""

    recorded: timedelta | None = None


def _inside(wrapped: Any, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a store starts for itself depends on what is in it, and does not count."""
    if _thread.inside:
        return wrapped(*args, **kwargs)
    _thread.inside = True
    token = lanes.enter(lanes.current().apart())
    try:
        with turns.apart():
            return wrapped(*args, **kwargs)
    finally:
        lanes.leave(token)
        _thread.inside = False


def _read(asked: str, encode: Callable[[Any], Any], decode: Callable[[Any], Any]) -> Wrapper:
    def around(wrapped: Any, store: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if _thread.inside:  # an answer is made of others
            return wrapped(*args, **kwargs)

        def real() -> Any:
            return _inside(wrapped, store, args, kwargs)

        key = f"crewai memory {asked}"
        return reads.read(SETTINGS, key, sys._getframe(), real, encode, decode, always=True)

    return around


def _types() -> Any:
    return sys.modules["crewai.memory.types"]


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)  # as CrewAI tells its times


def _as_old_as_it_was(wrapped: Any, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if border.player() is None or _Since.recorded is None or _thread.scoring or not args:
        return wrapped(*args, **kwargs)
    record = args[0].model_copy(update={"created_at": args[0].created_at + _Since.recorded})
    _thread.scoring = True  # a module may have it from another one, wrapped
    try:
        return wrapped(record, *args[1:], **kwargs)
    finally:
        _thread.scoring = False


def _found(value: list[tuple[Any, float]]) -> dict[str, Any]:
    at = value.at if isinstance(value, _Found) else _now()
    return {"at": at.isoformat(), "found": [[_dumped(record), score] for record, score in value]}


def _found_again(value: dict[str, Any]) -> _Found:
    at = datetime.fromisoformat(value["at"])
    _Since.recorded = _now() - at
    return _Found([(_record(data), score) for data, score in value["found"]], at)


def _dumped(value: Any) -> Any:
    return None if value is None else value.model_dump(mode="json")  # without its vector


def _record(data: Any) -> Any:
    return None if data is None else _types().MemoryRecord.model_validate(data)


def _same(value: Any) -> Any:
    return value


#: What a store is asked, and its answers as JSON and back.
_FORMS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "search": (_found, _found_again),
    "get_record": (_dumped, _record),
    "list_records": (lambda all: [_dumped(one) for one in all], lambda all: [_record(one) for one in all]),
    "get_scope_info": (_dumped, lambda data: _types().ScopeInfo.model_validate(data)),
    "list_scopes": (_same, _same),
    "list_categories": (_same, _same),
    "count": (_same, _same),
}
