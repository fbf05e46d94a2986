"""How long things took at a moment, without the pause between a recording and what a fork went on with."""

from __future__ import annotations

from lctl.debugger.opened import Opened
from lctl.state.model import State, Usage
from lctl.state.times import millis


def took(run: Opened, now: State) -> float:
    """The run, milliseconds."""
    pause = run.columns.pause
    said = now.totals.duration_ms
    return said if now.seq <= pause.seq else round(max(0.0, said - pause.ms), 3)


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


def _paused(run: Opened) -> set[str]:
    """Agents that had an open step when the recording's events ended."""

    def find() -> set[str]:
        then = run.timeline.at(run.columns.pause.seq)
        return {name for name, usage in then.agents.items() if usage.running}

    return run.kept("paused", find)
