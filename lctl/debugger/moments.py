"""The state at a seq as soon as somebody asks, whatever has been read of the log so far.

The states of a long log are read elsewhere. Until they are, a moment is what the events just before it say,
and says so; what the columns count is counted from the beginning all the same.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import msgspec

from lctl.debugger.columns import MODEL, Columns
from lctl.debugger.opened import Opened
from lctl.state.blocks import decode_lines
from lctl.state.builder import Builder
from lctl.state.model import State, Totals
from lctl.state.reducer import initial, reduce

#: Events that a moment is made of while the states are being read.
_WINDOW = 1024
#: So many events are read while somebody waits.
_AT_ONCE = 20_000
#: Of a log that is being read elsewhere, the first ones are.
_FIRST = 4096
_PATIENCE = 0.2  # seconds a state waits for a log to be read


class Moment(NamedTuple):
    """A state, and how true it is.

    Attributes:
        before: the state before the event at its seq; None where that is not known.
        progress: below 1: a better answer comes when more has been read.
        since: the state is of the events from this seq on; None: of all.
    """

    state: State
    before: State | None
    progress: float = 1.0
    since: int | None = None


def moment(run: Opened, at: int | None) -> Moment:
    """The state at a seq, now."""
    seq = run.seq(at)
    timeline = run.timeline
    if run.is_being_built and seq - run.log.first_seq >= _FIRST:
        run.read_ahead()
        return _of_window(run, seq)
    if not run.is_being_built and timeline.known < seq and seq - timeline.known > _AT_ONCE:
        reader = run.index_ahead()
        deadline = time.monotonic() + _PATIENCE
        while timeline.known < seq and reader.is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        known = timeline.known
        if known < seq and reader.is_alive():
            return Moment(timeline.at(known), None, known / seq)
    before, state = timeline.around(seq)
    return Moment(state, before)


def state_at(run: Opened, at: int | None) -> tuple[State, float]:
    """The state of a moment, and its progress."""
    found = moment(run, at)
    return found.state, found.progress


def _of_window(run: Opened, seq: int) -> Moment:
    first = max(run.log.first_seq, seq - _WINDOW + 1)
    builder = Builder(initial(run.log.id))
    for block in decode_lines(run.log.lines(first, seq)):
        reduce(builder, block)
    before = builder.frozen(lazy=True)
    builder = Builder(before)
    for block in decode_lines(run.log.lines(seq, seq + 1)):
        reduce(builder, block)
    state = builder.frozen(lazy=True)
    return Moment(_told(run, state), _told(run, before), min(run.progress, 0.99), first)


def _told(run: Opened, state: State) -> State:
    """What can be said of the state of a window: what ends or changes something older is no mistake of the
    log, and what the columns count is counted from the beginning."""
    state = msgspec.structs.replace(state, diagnostics=())
    if run.columns.last >= state.seq > 0:
        return msgspec.structs.replace(state, totals=_counted(run, run.columns, state))
    return state


def _counted(run: Opened, columns: Columns, state: State) -> Totals:
    """Sums from the beginning, as far as columns have them: all but the tokens."""
    stop = columns.row(state.seq + 1)

    def count(*types: str, flavour: int | None = None) -> int:
        return sum(columns.codes.count(code, 0, stop) for code in columns.codes_of(*types, flavour=flavour))

    first = run.log.event(run.log.first_seq).timestamp
    return Totals(
        events=stop,
        steps=count("step_start"),
        llm_calls=count("step_start", flavour=MODEL),
        tool_calls=count("tool_call"),
        errors=count("error"),
        messages=count("message"),
        tokens=state.totals.tokens,
        duration_ms=run.elapsed(first, state.last_timestamp),
    )
