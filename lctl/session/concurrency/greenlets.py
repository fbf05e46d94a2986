"""The running step and the lane follow the work into gevent's greenlets.

A greenlet has a context of its own, which is empty unless the program gives it one. gevent tells of each
before it starts it; only lctl's variables are put there. Of raw ones (`gevent.spawn_raw`, those of its pool
of threads) it tells nothing.
"""

from __future__ import annotations

import sys
from contextvars import Context
from typing import Any

from lctl.guard import guard
from lctl.session.concurrency import lanes, spawning
from lctl.session.concurrency.lane import Lane
from lctl.session.runs import context, told
from lctl.session.runs.told import Told

#: The module that has them.
MODULE = "gevent.greenlet"


def reach() -> None:
    """Carry from now on, if the program has imported gevent."""
    module = sys.modules.get(MODULE)
    if module is not None and hasattr(module, "Greenlet"):
        module.Greenlet.add_spawn_callback(_carry)


def leave() -> None:
    module = sys.modules.get(MODULE)
    if module is not None and hasattr(module, "Greenlet"):
        module.Greenlet.remove_spawn_callback(_carry)


def _carry(greenlet: Any) -> None:
    """Called where a greenlet is about to be started."""
    lane = spawning.child()
    with guard("the start of a greenlet"):
        there = greenlet.gr_context
        if there is None:
            there = greenlet.gr_context = Context()
        try:
            there.run(_enter, context.current(), told.current.get(), lane)
        except RuntimeError:  # the program gave it the running one: what is current there stays
            pass


def _enter(frame: context.Frame | None, call: Told | None, lane: Lane) -> None:
    context.set_current(frame)
    told.current.set(call)
    lanes.enter(lane)


__all__ = ["MODULE", "leave", "reach"]
