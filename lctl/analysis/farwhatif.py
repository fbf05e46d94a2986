"""What if, on a log too long to fold twice: from the state before the change on, for a stretch of events.

The states before the changed event are the same, and those behind it are at hand as they were. So one stretch
is folded once, with the change, and compared with what the timeline says of its end. Gates, consensus and
contract judgements stay as recorded: to judge them anew takes the whole log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from lctl.analysis.altering import edited
from lctl.analysis.prices import Prices
from lctl.analysis.statechanges import Touched, state_changes
from lctl.analysis.whatif import Change, Span
from lctl.codec import Log
from lctl.errors import UsageError
from lctl.events import Event
from lctl.patch import Edit
from lctl.state.blocks import decode_lines
from lctl.state.builder import Builder
from lctl.state.model import Fact, State
from lctl.state.reducer import reduce
from lctl.state.timeline import Timeline
from lctl.state.tolerant import take

#: Events behind the first change that are folded, where nothing else is asked for.
STRETCH = 50_000


class FarWhatIf(msgspec.Struct, frozen=True):
    """What would be otherwise at the end of a stretch.

    Attributes:
        to_seq: where the two are compared.
        touched: seqs of what was edited or dropped.
        events: in the stretch, as changed.
    """

    changes: tuple[Change, ...]
    spans: tuple[Span, ...]
    to_seq: int
    touched: frozenset[int]
    events: int


def far_what_if(
    timeline: Timeline,
    log: Log,
    edits: Sequence[Edit],
    *,
    at: int | None,
    drop: Iterable[int] = (),
    to_seq: int | None = None,
    prices: Prices,
) -> FarWhatIf:
    """Edits of single events, and events left out (the others keep their numbers).

    Raises:
        UsageError: a change addresses nothing, or more than single events; `to_seq` is before it.
    """
    gone = set(drop)
    changed = _changed(log, edits, at)
    touched = frozenset(gone | {*changed})
    if not touched:
        raise UsageError("what if what? give a change: an edit, or an event to drop")
    for seq in gone:
        log.event(seq)  # says what there is
    first = min(touched)
    last = min(log.last_seq, to_seq if to_seq is not None else max(touched) + STRETCH)
    if last < first:
        raise UsageError(f"event {to_seq} is before the change, where nothing would be otherwise")
    builder = Builder(timeline.at(first - 1))
    count = 0
    for block in decode_lines(log.lines(first, last + 1)):
        kept = [
            take(changed[event.seq]) if event.seq in changed else event
            for event in block
            if event.seq not in gone
        ]
        reduce(builder, kept)
        count += len(kept)
    before, after = timeline.at(last), builder.frozen(lazy=True)
    stretch = [event for event in log.events(first, last + 1) if event.type in _TELLING]
    found = state_changes(before, after, [*stretch, *changed.values()], prices)
    return FarWhatIf(
        changes=tuple(one for one in found if one.section != "problems"),
        spans=tuple(_spans(before, after, Touched([*stretch, *changed.values()]).facts, first, last)),
        to_seq=last,
        touched=touched,
        events=count,
    )


_TELLING = frozenset({"fact_added", "fact_modified", "message", "step_start", "step_end"})


def _changed(log: Log, edits: Sequence[Edit], at: int | None) -> dict[int, Event]:
    found: dict[int, Event] = {}
    for edit in edits:
        scope = edit.scope
        if scope.everywhere or scope.agent is not None or scope.start is not None:
            raise UsageError(f"{edit}: of a log this long, say which event: @SEQ before the edit")
        seq = scope.at if scope.at is not None else at
        if seq is None:
            raise UsageError(f"{edit}: which event? give its seq, or write @SEQ before the edit")
        found[seq] = edited(found.get(seq) or log.event(seq), edit)
    return found


def _spans(before: State, after: State, facts: Iterable[str], first: int, last: int) -> Iterator[Span]:
    """Where the confidence of a fact differs, between two changes of it."""
    for id in facts:
        sides = [
            [(seq, value) for seq, value, _ in _history(state.facts.get(id))] for state in (before, after)
        ]
        if sides[0] == sides[1]:
            continue
        places = sorted({first, *(seq for side in sides for seq, _ in side if first <= seq <= last)})
        for seq, following in zip(places, [*places[1:], last + 1], strict=True):
            left, right = (_value(side, seq) for side in sides)
            if left != right:
                yield Span(id, seq, following - 1, left, right)


def _history(fact: Fact | None) -> Iterable[tuple[int, float | None, str | None]]:
    return () if fact is None else fact.history


def _value(side: list[tuple[int, float | None]], seq: int) -> float | None:
    return next((value for at, value in reversed(side) if at <= seq), None)
