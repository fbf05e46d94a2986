"""How long things took at a moment, without the pause between a recording and what a fork went on with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from lctl.analysis.pauses import lasted
from lctl.analysis.whatif import Change
from lctl.debugger.opened import Opened
from lctl.state.model import State, Usage
from lctl.state.times import millis


def took(run: Opened, now: State) -> float:
    """The run, milliseconds."""
    return lasted(run.columns.pause, now.seq, now.totals.duration_ms)


def worked(run: Opened, now: State, name: str, usage: Usage) -> float:
    """An agent, milliseconds; up to now, if it has an open step."""
    said, pause = usage.wall_ms, run.columns.pause
    if usage.running:
        said += run.elapsed(usage.since, now.last_timestamp)
    begun = millis(usage.since) if usage.running else None
    is_over = begun is None or begun > pause.begun + pause.ms / 2
    if run.is_being_built:  # that state is not to be waited for
        return said
    if said >= pause.ms and now.seq > pause.seq > 0 and is_over and name in _paused(run):
        said -= pause.ms  # less, and the step's end has said how long it took
    return round(max(0.0, said), 3)


def without_pause(run: Opened, before: State, now: State, changes: Iterable[Change]) -> Iterator[Change]:
    """Changes from one state to another, with durations as `took` and `worked` tell them."""
    for one in changes:
        old = _told(run, before, one, one.before)
        new = _told(run, now, one, one.after)
        if old != new:
            yield msgspec.structs.replace(one, before=old, after=new)


def _told(run: Opened, state: State, one: Change, value: Any) -> Any:
    """A field of a change, or the fields of what came or went."""
    if one.field:
        return _duration(run, state, one, one.field, value)
    if not isinstance(value, dict):
        return value
    return {field: _duration(run, state, one, field, said) for field, said in value.items()}


def _duration(run: Opened, state: State, one: Change, field: str, value: Any) -> Any:
    about = (one.section, field)
    if about == ("totals", "duration_ms"):
        return took(run, state)
    if about == ("agents", "wall_ms") and one.name in state.agents:
        return worked(run, state, one.name, state.agents[one.name])
    pause = run.columns.pause
    if about == ("steps", "duration_ms") and isinstance(value, int | float) and value >= pause.ms > 0:
        return round(value - pause.ms, 3) if int(one.name) <= pause.seq else value
    return value


def _paused(run: Opened) -> set[str]:
    """Agents that had an open step when the recording's events ended."""

    def find() -> set[str]:
        then = run.timeline.at(run.columns.pause.seq)
        return {name for name, usage in then.agents.items() if usage.running}

    return run.kept("paused", find)
