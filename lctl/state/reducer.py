"""The fold: events to state. Pure: no clock, no random, no environment, no input or output.

    fold(a + b) == fold(b, start=fold(a))
    fold(a, start) == apply(apply(start, a[0]), a[1]) ...

An event is never refused. What it says that cannot be used is left out and becomes a `Diagnostic`;
a type this version does not know is counted and passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from lctl.events import Event
from lctl.state import facts, forest, intake, steps, streams
from lctl.state.builder import Builder
from lctl.state.model import State, Totals
from lctl.state.moments import widened
from lctl.state.tolerant import Odd, Taken, take

_BLOCK = 1024  # events taken from an iterable at a time


def initial(chain_id: str = "") -> State:
    """The state before any event."""
    return State(
        seq=0,
        chain_id=chain_id,
        facts={},
        steps={},
        open_steps=(),
        agents={},
        models={},
        tools={},
        messages={},
        streams={},
        tool_calls=(),
        errors=(),
        checkpoints=(),
        totals=Totals(),
        diagnostics=(),
        first_timestamp=None,
        last_timestamp=None,
        last_agent=None,
    )


def apply(state: State, event: Event) -> State:
    """The state after one more event."""
    return fold((event,), start=state)


def fold(events: Iterable[Event], start: State | None = None) -> State:
    """The state after all `events`, which come by ascending seq. Without `start` from the very beginning.

    Costs what the events change, not what `start` holds. Events out of order are applied as they come,
    with a diagnostic.
    """
    state = Builder(initial() if start is None else start)
    source = iter(events)
    while block := [take(event) for event in islice(source, _BLOCK)]:
        reduce(state, block)
    return state.frozen()


def reduce(state: Builder, block: Sequence[Taken]) -> None:
    """Write a block of events into a builder."""
    if not block:
        return
    handlers = HANDLERS
    seqs = [event.seq for event in block]
    first = state.seq + 1 if state.events else seqs[0]
    if seqs == list(range(first, first + len(seqs))):
        for event in block:
            handler = handlers[type(event)]
            if handler is not None:
                handler(state, event)
        state.seq = seqs[-1]
    else:
        _reduce_gaps(state, block, first)
    state.events += len(block)
    state.first_timestamp, state.last_timestamp = widened(
        (state.first_timestamp, state.last_timestamp), [event.timestamp for event in block]
    )
    state.last_agent = next((event.agent for event in reversed(block) if event.agent), state.last_agent)


def _reduce_gaps(state: Builder, block: Sequence[Taken], expected: int) -> None:
    """Write a block whose seqs are not one after the other."""
    for event in block:
        if event.seq == expected:
            expected += 1
        else:
            expected = _out_of_line(state, event.seq, expected)
        handler = HANDLERS[type(event)]
        if handler is not None:
            handler(state, event)
    state.seq = expected - 1


def _out_of_line(state: Builder, seq: int, expected: int) -> int:
    """Note it; the seq to expect next."""
    if seq < expected:
        state.disorder = True
        state.note(seq, "seq_order", f"event {seq} comes after event {expected - 1}")
        return expected
    missing = f"event {expected} is" if seq == expected + 1 else f"events {expected} to {seq - 1} are"
    state.note(seq, "seq_gap", f"{missing} missing")
    return seq + 1


def _spoken(state: Builder, event: intake.Intake) -> None:
    state.agents.meet(event.agent)


def _handoff(state: Builder, event: intake.Handoff) -> None:
    state.handoffs.append(event.seq)
    state.agents.meet(event.agent)


def _checkpoint(state: Builder, event: intake.Checkpoint) -> None:
    state.checkpoints.append(event.seq)


def _odd(state: Builder, event: Odd) -> None:
    state.diagnostics += event.notes
    handler = HANDLERS[type(event.event)]
    if handler is not None:
        handler(state, event.event)


Handler = Callable[[Builder, Any], None]

#: struct of an event -> what it does to a state; None: nothing
HANDLERS: dict[type, Handler | None] = {
    intake.StepStart: steps.step_start,
    intake.StepEnd: steps.step_end,
    intake.ToolCall: steps.tool_call,
    intake.Error: steps.error,
    intake.FactAdded: facts.fact_added,
    intake.FactModified: facts.fact_modified,
    intake.FactRead: _spoken,
    intake.Checkpoint: _checkpoint,
    intake.Handoff: _handoff,
    intake.Message: forest.message,
    intake.Alias: forest.message_alias,
    intake.StreamStart: streams.stream_start,
    intake.StreamChunk: streams.stream_chunk,
    intake.StreamEnd: streams.stream_end,
    intake.Unknown: None,
    Odd: _odd,
}
HANDLERS.update({form: None for form in intake.BY_TYPE.values() if form not in HANDLERS})
