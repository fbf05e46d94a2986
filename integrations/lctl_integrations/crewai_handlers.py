"""Handlers of CrewAI's events, which run in threads of one pool.

Whoever ends waits for all that are under way, those of other crews, too: which these were is kept, and a
rerun waits for the same. And they count how often a tool was used, for the panels that they print: whose turn
it is to count, or to read the count, is kept as of a queue (`lctl.session.queueorder`).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import guarded
from lctl.session import default, lanes, poolwaits, queues, turns
from lctl.session.queueorder import GET, Order

_HANDLERS = "the handlers of CrewAI's events"
#: What it is called among the looks at jobs (`lctl.session.pooljobs.Seen`).
_KEY = "flush"


def flushed(wrapped: Any, bus: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Around `CrewAIEventsBus.flush`. Signature of the wrapped: (timeout) -> bool."""
    pending = _pending(bus) or []
    seen = _seen(bus, pending)
    if seen is None:
        done = wrapped(*args, **kwargs)
    else:
        pending = seen._pending_futures
        done = wrapped.__func__(seen, *args, **kwargs)
    if done is True:
        _keep([_place(one) for one in pending])
    return done


@guarded(_HANDLERS)
def _pending(bus: Any) -> list[Any]:
    with bus._futures_lock:
        return list(bus._pending_futures)


@guarded(_HANDLERS)
def _seen(bus: Any, pending: list[Any]) -> Any:
    """The bus with what is to be waited for; None where no recording says it. What has no place of its own
    is waited for."""
    places: Any = poolwaits.recorded(_KEY, "")
    if places is None:
        return None
    left = [one for one in pending if _place(one) in (None, *places)]
    return SimpleNamespace(
        _has_pending_events=True,
        _futures_lock=bus._futures_lock,
        _pending_futures=left,
        _console=bus._console,
    )


@guarded(_HANDLERS)
def _keep(places: list[Any]) -> None:
    poolwaits.keep(_KEY, "", [place for place in places if place is not None])


def _place(future: Any) -> str | None:
    lane = getattr(future, turns.LANE, None)
    return None if lane is None else str(lane.path)


def patch(module: Any, patches: PatchSet) -> None:
    """Count in turn, in `crewai.events.utils.console_formatter`.

    Raises:
        AttributeError: there is no such lock any more.
    """
    formatter, name = module.ConsoleFormatter, "_tool_counts_lock"
    lock = getattr(formatter, name)
    setattr(formatter, name, _InTurn(lock))
    patches.on_undo(f"{module.__name__}:ConsoleFormatter.{name}", lambda: setattr(formatter, name, lock))


class _InTurn:
    """In place of the lock that CrewAI holds while it counts."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock
        self._order: Order | None = None
        self._of: object = None  # the jobs with which the order is kept

    def __enter__(self) -> Any:
        order = self._now()
        lane = None if order is None else queues.begun(order, None)
        got = self._lock.__enter__()
        if order is not None and lane is not None:
            queues.ended(order, lane, GET)
        return got

    def __exit__(self, *failed: Any) -> Any:
        return self._lock.__exit__(*failed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lock, name)

    @guarded(_HANDLERS)
    def _now(self) -> Order | None:
        """Of what is recorded now, or rerun."""
        kept = default.pool_jobs()
        if kept is not self._of:
            with self._lock:
                if kept is not self._of:
                    self._order = None if kept is None else queues.ordered(kept, lanes.LIBRARIES)
                    self._of = kept
        return self._order
