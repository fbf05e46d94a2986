"""What if an event had been another one? The changed log folded again; nothing is executed.

    found = what_if(chain, at=8, set={"data.confidence": 0.3})
    for change in found.changes: ...          # at the end
    found.at(12)                              # at a later event

Pure: the chain given stays as it is, and the same question has the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from lctl.analysis.altering import Altered, Insertion, alter
from lctl.analysis.prices import Prices
from lctl.analysis.views import View, view
from lctl.chain import Chain
from lctl.codec import Log, open_log
from lctl.errors import UsageError
from lctl.events import Event
from lctl.patch import Edit, parse_edit
from lctl.state.model import State
from lctl.state.reducer import fold
from lctl.trust.deriving import rederive
from lctl.trust.gates import THRESHOLDS, Thresholds, gate
from lctl.trust.policy import policy_of
from lctl.values import index_number

Sets = Mapping[str, Any] | Iterable[str | Edit]


class Change(msgspec.Struct, frozen=True):
    """One field of the state that would be another. None: it is not there on that side.

    Attributes:
        section: facts, handoffs, steps, messages, agents, models, tools, totals or problems.
        name: which of them: a fact's id, a step's seq in the log as recorded (`+12`: the new log's).
    """

    section: str
    name: str
    field: str
    before: Any
    after: Any


class Span(msgspec.Struct, frozen=True):
    """A fact's confidence differed from one event to another, both in the numbers of the log."""

    fact: str
    first: int
    last: int
    before: float | None
    after: float | None
    thresholds: Thresholds = THRESHOLDS

    @property
    def gates(self) -> tuple[str | None, str | None]:
        """What could be done with the fact, and what could be done then."""
        return gate(self.before, self.thresholds), gate(self.after, self.thresholds)


class WhatIf:
    """A chain and the chain it would have been.

    Attributes:
        chain: the changed one, an ordinary chain: save it, fold it, compare it.
        altered: its events, and where they come from.
    """

    def __init__(self, original: Log, altered: Altered, to_seq: int | None) -> None:
        self._original = list(original.events())
        self._last = to_seq if to_seq is not None else max((e.seq for e in self._original), default=0)
        self._prices = Prices()
        self._policy = policy_of(original.chain, original.extra)
        self.altered = self._derived(altered)
        self.chain = Chain(original.id, self.altered.events)

    def _derived(self, altered: Altered) -> Altered:
        """With gates, consensus, contract judgements and routings as they would have been."""
        before = {event.seq: event for event in self._original}
        edited = {
            old
            for event in altered.events
            if (old := altered.origins.get(event.seq)) is not None and event.data != before[old].data
        }
        events = rederive(self._original, altered.events, altered.origins, edited, self._policy)
        return msgspec.structs.replace(altered, events=events)

    @property
    def to_seq(self) -> int:
        """Where `changes` compares, in the numbers of the log as recorded."""
        return self._last

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What would be otherwise at the end, or at the `to_seq` asked for."""
        return self.at(self._last)

    def at(self, seq: int) -> tuple[Change, ...]:
        """What would be otherwise after event `seq` of the log as recorded."""
        same = {event.seq: event.seq for event in self._original}
        before = self._view([e for e in self._original if e.seq <= seq], same)
        after = self._view(self._up_to(seq), self.altered.origins)
        return tuple(_compare(before, after))

    def _view(self, events: list[Event], origins: Mapping[int, int]) -> View:
        return view(fold(events), events, origins, self._prices, self._policy)

    def _up_to(self, seq: int) -> list[Event]:
        """The changed events up to that one; what was inserted behind it included."""
        later = [new for new, old in self.altered.origins.items() if old > seq]
        stop = min(later, default=None)
        return [event for event in self.altered.events if stop is None or event.seq < stop]

    @property
    def before(self) -> State:
        """The state as it was."""
        return fold([event for event in self._original if event.seq <= self._last])

    @property
    def after(self) -> State:
        """The state as it would be."""
        return fold(self._up_to(self._last))

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """Where confidences differ on the way, also where they are the same again in the end."""
        origins = self.altered.origins
        whole = (fold(self._original), fold(self.altered.events))
        seqs = [event.seq for event in self._original]
        found: list[Span] = []
        for id in dict.fromkeys([*whole[0].facts, *whole[1].facts]):
            before = _timeline(whole[0], id, {seq: seq for seq in seqs})
            after = _timeline(whole[1], id, origins)
            found += _spans(id, seqs, before, after)
        bounds = self._policy.thresholds
        return tuple(msgspec.structs.replace(span, thresholds=bounds) for span in found)

    def __bool__(self) -> bool:
        """Something would be otherwise, somewhere on the way or at the end."""
        return bool(self.changes or self.spans)


def what_if(
    chain: Chain | Log | str,
    at: int | None = None,
    *,
    set: Sets = (),
    drop: int | Iterable[int] = (),
    insert: Mapping[str, Any] | Iterable[Mapping[str, Any]] = (),
    to_seq: int | None = None,
) -> WhatIf:
    """The chain with some events changed, folded again.

    Args:
        chain: a chain, or the path of a log.
        at: the event that edits without a scope are about, and behind which events are inserted.
        set: edits: {"data.confidence": 0.3}, or texts of the patch language.
        drop: seqs of events that never happened.
        insert: events that happened too: {"type", "data"} and perhaps "agent", "step", "timestamp" (those
            of the event before it, where they are left out) and "after", the seq it comes behind.
        to_seq: compare there and not at the end.

    Raises:
        UsageError: a change addresses nothing, or there is none.
        LogError: the log cannot be read.
    """
    log = chain.log if isinstance(chain, Chain) else open_log(chain) if not isinstance(chain, Log) else chain
    events = list(log.events())
    drops = [drop] if isinstance(drop, int) else list(drop)
    for name, seq in (("at", at), *(("drop", one) for one in drops)):
        if seq is not None and index_number(seq) is None:
            raise UsageError(
                f"{name}={seq!r:.80}: it is the number of an event, such as {events[-1].seq if events else 1}"
            )
    inserted: list[Any] = [insert] if isinstance(insert, Mapping) else list(insert)
    changes = [(at, edit) for edit in edits_of(set)]
    if not (changes or drops or inserted):
        raise UsageError("what if what? give a change: an edit, an event to drop, or one to insert")
    if to_seq is not None and not any(event.seq == to_seq for event in events):
        raise UsageError(f"there is no event {to_seq} in this log")
    insertions = [_insertion(raw, at, events) for raw in inserted]
    return WhatIf(log, alter(events, changes, drops, insertions), to_seq)


def edits_of(given: Sets) -> list[Edit]:
    """Edits from a mapping of targets to values, or from texts."""
    if isinstance(given, str):
        given = [given]
    if isinstance(given, Mapping):
        from lctl.patch.writing import print_setting

        return [parse_edit(print_setting(target, value)) for target, value in given.items()]
    return [parse_edit(one) if isinstance(one, str) else one for one in given]


def _insertion(raw: Mapping[str, Any], at: int | None, events: Sequence[Event]) -> Insertion:
    if not isinstance(raw, Mapping):
        raise UsageError(f'an inserted event is {{"type": ..., "data": ...}}, not {raw!r:.80}')
    after = raw.get("after", at)
    if not isinstance(after, int) or isinstance(after, bool):
        raise UsageError('an inserted event needs a place: give `at`, or "after" in the event')
    if not isinstance(raw.get("type"), str):
        raise UsageError("an inserted event needs a type")
    near = next((event for event in events if event.seq == after), events[0] if events else None)
    usual = {} if near is None else {"timestamp": near.timestamp, "agent": near.agent, "step": near.step}
    given = {key: value for key, value in raw.items() if key not in ("after", "seq")}
    return Insertion(after, Event.from_dict({**usual, "data": {}, **given, "seq": 0}))


# -- comparing ---------------------------------------------------------------------------------


def _compare(before: View, after: View) -> Iterable[Change]:
    for section in before:
        mine, other = before[section], after[section]
        for name in dict.fromkeys([*mine, *other]):
            left, right = mine.get(name), other.get(name)
            if left is None or right is None:
                yield Change(section, name, "", _shown(left), _shown(right))
                continue
            for field in dict.fromkeys([*left, *right]):
                if left.get(field) != right.get(field):
                    yield Change(section, name, field, left.get(field), right.get(field))


def _shown(row: dict[str, Any] | None) -> dict[str, Any] | None:
    """A whole row, without what it says nothing of."""
    if row is None:
        return None
    return {k: v for k, v in row.items() if v is not None and (k == "confidence" or v not in (0, ""))}


def _timeline(state: State, id: str, origins: Mapping[int, int]) -> list[tuple[float, float | None]]:
    """(seq, confidence from there on), in the old numbers; an inserted event stands between two."""
    fact = state.facts.get(id)
    if fact is None:
        return []
    return [(_place(seq, origins), confidence) for seq, confidence, _ in fact.history]


def _place(seq: int, origins: Mapping[int, int]) -> float:
    if seq in origins:
        return origins[seq]
    before = [old for new, old in origins.items() if new < seq]
    return max(before, default=0) + 0.5


def _spans(
    id: str,
    seqs: Sequence[int],
    before: list[tuple[float, float | None]],
    after: list[tuple[float, float | None]],
) -> list[Span]:
    found: list[Span] = []
    for seq in seqs:
        left, right = _value_at(before, seq), _value_at(after, seq + 0.5)
        if left == right:
            continue
        last = found[-1] if found else None
        if last is not None and (last.before, last.after) == (left, right) and _next(seqs, last.last) == seq:
            found[-1] = msgspec.structs.replace(last, last=seq)
        else:
            found.append(Span(id, seq, seq, left, right))
    return found


def _next(seqs: Sequence[int], seq: int) -> int:
    return next((one for one in seqs if one > seq), -1)


def _value_at(timeline: list[tuple[float, float | None]], seq: float) -> float | None:
    return next((value for at, value in reversed(timeline) if at <= seq), None)
