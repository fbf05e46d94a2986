"""The state at a seq, what the event there changed, and the difference of two states."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from lctl.analysis.modelcosts import Costing
from lctl.analysis.statechanges import state_changes
from lctl.debugger.asking import OfRun
from lctl.debugger.failing import Refused
from lctl.debugger.moments import moment
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.common import Change, Totals
from lctl.debugger.shapes.state import (
    AgentState,
    ModelState,
    Note,
    StateDiff,
    StateView,
    StreamState,
    ToolState,
)
from lctl.debugger.views.durations import took, without_pause, worked
from lctl.debugger.views.facts import fact, newest_facts
from lctl.debugger.views.rows import cost_of, depth_in, rounded, span
from lctl.events import Event
from lctl.state.layers import at_hand
from lctl.state.model import State

_CHANGES = 2000
_NOTES = 100
_STREAMS = 50
#: Events between two states beyond which a difference is not read off them one by one.
_FAR = 50_000


class StateAsked(OfRun, kw_only=True):
    at: int | None = None
    facts: int = 40
    steps: int = 40


def state(run: Opened, asked: StateAsked) -> StateView:
    """Everything a developer asks of a moment."""
    now, before, progress, since = moment(run, asked.at)
    seq = now.seq
    changes = list(islice(_changes_at(run, before, now), _CHANGES)) if before is not None and seq else []
    touched = {(one.section, one.name) for one in changes}
    depths: dict[int, int] = run.kept("depths", dict)  # what is around a step is settled when it begins
    newest = now.open_steps[-max(0, asked.steps) :]
    at_hand(now.steps, newest)
    opened = [step for one in reversed(newest) if (step := now.steps.get(one)) is not None]
    return StateView(
        seq=seq,
        timestamp=now.last_timestamp,
        ms=run.ms(now.last_timestamp),
        totals=totals(run, now),
        progress=progress,
        since=since,
        agents=_agents(run, now, touched),
        models=[
            ModelState(
                name=name,
                calls=one.calls,
                errors=one.errors,
                wall_ms=one.wall_ms,
                tokens=one.tokens,
                cost=cost_of(run, name, one, now),
                changed=("models", name) in touched,
            )
            for name, one in now.models.items()
        ],
        tools=[
            ToolState(
                name=name,
                calls=one.calls,
                errors=one.errors,
                wall_ms=one.wall_ms,
                changed=("tools", name) in touched,
            )
            for name, one in now.tools.items()
        ],
        open_steps=[span(run, one, depth_in(now, one, depths)) for one in opened],
        open_step_count=len(now.open_steps),
        streams=_streams(now),
        facts=[fact(one, seq) for one in newest_facts(now, asked.facts)],
        fact_count=len(now.facts),
        diagnostics=_notes(now),
        diagnostic_count=len(now.diagnostics),
        changes=changes,
    )


def totals(run: Opened, now: State) -> Totals:
    """The sums of a state, with what they cost."""
    said = now.totals
    costs = [cost_of(run, name, usage, now) for name, usage in now.models.items() if usage.tokens.total]
    known = [one for one in costs if one is not None]
    return Totals(
        events=said.events,
        steps=said.steps,
        llm_calls=said.llm_calls,
        tool_calls=said.tool_calls,
        errors=said.errors,
        messages=said.messages,
        tokens=said.tokens,
        duration_ms=took(run, now),
        cost=rounded(sum(known)) if known else None if said.tokens.total or said.llm_calls else 0.0,
        facts=len(now.facts),
        checkpoints=len(now.checkpoints),
    )


def _agents(run: Opened, now: State, touched: set[tuple[str, str]]) -> list[AgentState]:
    return [
        AgentState(
            name=name,
            calls=one.calls,
            errors=one.errors,
            wall_ms=worked(run, now, name, one),
            running=one.running,
            tokens=one.tokens,
            changed=("agents", name) in touched,
        )
        for name, one in now.agents.items()
    ]


def _streams(now: State) -> list[StreamState]:
    found = (now.streams[seq] for seq in now.open_streams[-_STREAMS:] if seq in now.streams)
    return [
        StreamState(
            seq=one.seq, agent=one.agent, message_id=one.message_id, chunks=one.chunks, tokens=one.tokens
        )
        for one in found
    ]


def _notes(now: State) -> list[Note]:
    return [Note(seq=one.seq, code=one.code, text=one.text) for one in now.diagnostics[-_NOTES:]]


# -- differences ---------------------------------------------------------------------------


class DiffAsked(OfRun, kw_only=True, rename={"first": "at", "last": "to"}):
    first: int | None = None
    last: int | None = None


def state_diff(run: Opened, asked: DiffAsked) -> StateDiff:
    """What is otherwise at `to` than at `at`, whichever comes first."""
    first, last = run.seq(asked.first), run.seq(asked.last)
    if run.is_being_built:
        raise Refused("conflict", "the log is still being read; ask again when that is done")
    before, after = run.timeline.at(first), run.timeline.at(last)
    low, high = sorted((before.seq, after.seq))
    changes = state_changes(before, after, _between(run, low, high), run.prices, _costing(run))
    found = [_change(one) for one in without_pause(run, before, after, changes)]
    return StateDiff(
        first=first, last=last, changes=found[:_CHANGES], total=len(found), cut=len(found) > _CHANGES
    )


def _between(run: Opened, low: int, high: int) -> Iterator[Event]:
    """The events that may matter; of a very long stretch, its two ends."""
    if high - low <= 2 * _FAR:
        yield from run.log.events(low + 1, high + 1)
        return
    yield from run.log.events(low + 1, low + _FAR)
    yield from run.log.events(high - _FAR, high + 1)


def _changes_at(run: Opened, before: State, now: State) -> Iterator[Change]:
    """What the event at the state's seq changed."""
    events = list(run.log.events(now.seq, now.seq + 1))
    if events:
        changes = state_changes(before, now, events, run.prices, _costing(run))
        yield from map(_change, without_pause(run, before, now, changes))


def _costing(run: Opened) -> Costing:
    """By what is known of all calls of the run: to go through those of each state takes a second."""
    return lambda state, name, usage: cost_of(run, name, usage, state)


def _change(one: object) -> Change:
    return Change(**{name: getattr(one, name) for name in ("section", "name", "field", "before", "after")})
