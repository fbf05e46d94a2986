"""One failure in several events: an attempt that failed, the error that says so, the end of its step.

Who goes from failure to failure stops at the error alone, and at the others where there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lctl.codec.lines import decode
from lctl.events import Event

if TYPE_CHECKING:
    from lctl.codec import Log

#: Events behind an attempt among which the error about it is: those of parallel steps come in between.
_NEAR = 64
_DEEP = 1000


def is_echo(log: Log, event: Event) -> bool:
    """Whether a failed attempt or step says what an error in its step, or beneath it, says better."""
    if event.type == "step_end" and event.step is not None:
        return any(_is_in(log, one, event.step) for one in _errors(log, event.step + 1, event.seq))
    if event.type == "exchange":
        return any(
            one.type == "error" and one.step == event.step
            for one in _errors(log, event.seq + 1, event.seq + 1 + _NEAR)
        )
    return False


def _errors(log: Log, start: int, stop: int) -> list[Event]:
    found = []
    for line in log.lines(start, stop):
        if b'"error"' in line:
            try:
                event = Event.from_dict(decode(line))
            except (ValueError, KeyError, AttributeError):
                continue
            if event.type == "error" or (event.type == "tool_call" and event.data.get("error")):
                found.append(event)
    return found


def _is_in(log: Log, event: Event, step: int) -> bool:
    """Directly, or in a step beneath it."""
    at = event.step
    for _ in range(_DEEP):
        if at is None or at <= step:
            return at == step
        above = next(iter(log.events(at, at + 1)), None)
        at = None if above is None else above.step
    return False
