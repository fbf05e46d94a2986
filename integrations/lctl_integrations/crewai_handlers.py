"""Handlers of CrewAI's events, which run in threads of one pool: whoever ends waits for all that are under
way, those of other crews, too. Which these were is kept, and a rerun waits for the same.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from lctl.instrument.structure import guarded
from lctl.session import poolwaits, turns

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
