"""The end of a rerun in a program that goes on: nobody waits for a turn any more."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lctl.errors import RerunStopped
from lctl.rerun.order.parties import Awaiting, Blocked, Held, refuse
from lctl.rerun.order.stage import Stage


def let_go(stage: Stage) -> None:
    """Let all go on that wait, and hold nobody from now on. Deliveries are had at once, sleeps and
    waits with a timeout are over; what would never have come is refused."""
    with stage.door.lock:
        stage.over = True
        stage.score.close()
        ended = never()
        for party in stage.never:
            party.error = ended
        blocked = [party for party in stage.waiting.values() if isinstance(party, Blocked)]
        for party in dict.fromkeys([*blocked, *stage.blocked.values(), *stage.never]):
            if not party.released:
                party.release()
        for one in stage.waiting.values():
            if isinstance(one, Awaiting):
                _tell(one.wake)
            elif isinstance(one, Held):
                _tell(one.loop.call_soon_threadsafe, one.give, None)
        for future, loop in stage.hanging.items():
            _tell(loop.call_soon_threadsafe, refuse, future, ended)
        for idle in stage.loops.values():
            _tell(idle.wake)  # its timers are real time's now
        for alarm in stage.alarms:
            alarm.ring()
        stage.waiting.clear()
        stage.blocked.clear()
        stage.loops.clear()


def never() -> RerunStopped:
    """What is raised where a call waits for the answer that it never had."""
    return RerunStopped("the rerun has ended, and the recording had no answer to this call")


def _tell(call: Callable[..., Any], *args: Any) -> None:
    with suppress(RuntimeError):  # a loop that runs no more
        call(*args)
