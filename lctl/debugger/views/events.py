"""Lists of events, and one event in full."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lctl.analysis.describe import summary
from lctl.analysis.log import text
from lctl.analysis.search import Query
from lctl.debugger.asking import Bytes, OfRun
from lctl.debugger.failing import Refused
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.common import Row
from lctl.debugger.shapes.conversation import Call
from lctl.debugger.shapes.events import Events, EventView, Forkable, Place, Related
from lctl.debugger.views.calls import call_between, end_of, step_of
from lctl.debugger.views.copying import copies
from lctl.debugger.views.exchanges import exchanges_of
from lctl.debugger.views.rows import events_from, row
from lctl.events import Event
from lctl.state.model import MODEL_KINDS, State

#: Bytes of an event's line that are sent with it.
WHOLE = 1 << 20
_DEEPEST = 200
_SCAN = 50_000  # events a filtered list looks at for one answer
_BEGINNING = 20_000  # characters that are shown of a long text in a very large event
#: Types of events of which the state tells what belongs to them.
_OF_A_STATE = frozenset({"fact_added", "fact_modified", "message"})
_SCALAR = 8  # what a key, a number or a bracket counts there


class EventsAsked(OfRun, kw_only=True, rename={"first": "from"}):
    first: int | None = None
    limit: int = 200
    q: str = ""
    back: bool = False


def events(run: Opened, asked: EventsAsked) -> Events:
    """Rows from a seq on, or up to one; `q` filters."""
    log = run.log
    limit = max(1, min(asked.limit, 2000))
    query = Query(asked.q) if asked.q.strip() else None
    if asked.back:
        return _back(run, run.seq(asked.first), limit, query)
    found: list[Row] = []
    start = max(asked.first or 0, log.first_seq)
    following: int | None = None
    for n, (event, size) in enumerate(events_from(run, start)):
        if len(found) == limit or (query is not None and n >= _SCAN):
            following = event.seq
            break
        if query is None or query.matches(event):
            found.append(row(run, event, size))
    return Events(rows=found, next=following, total=len(log) if query is None else None)


def _back(run: Opened, seq: int, limit: int, query: Query | None) -> Events:
    """The newest rows up to `seq`, in the order of the log."""
    found: list[Row] = []
    stop, first = seq + 1, run.log.first_seq
    piece = limit
    while stop > first and len(found) < limit:
        start = max(first, stop - piece)
        some = [
            row(run, event, size)
            for event, size in events_from(run, start, stop)
            if query is None or query.matches(event)
        ]
        found = some + found
        stop, piece = start, 4 * piece
        if seq - stop > _SCAN:
            break
    shown = found[-limit:]
    more = shown[0].seq - 1 if len(found) > limit else stop - 1
    return Events(rows=shown, next=more if more >= first else None, total=None)


# -- one event -----------------------------------------------------------------------------


class EventAsked(OfRun, kw_only=True):
    seq: int


def event(run: Opened, asked: EventAsked) -> EventView:
    """An event, its surroundings, and what to do with it."""
    return view_of(run, asked.seq)


def view_of(run: Opened, seq: int, instead: str | None = None) -> EventView:
    """`instead`: as of `copies`."""
    line = _line(run, seq)
    found = run.event(seq)
    large = len(line) > WHOLE
    near = _is_near(run, seq)
    state = run.timeline.at(seq) if near and found.type in _OF_A_STATE else None
    call, view = _call(run, found)
    whole = found.to_dict()
    if large:
        whole = {**whole, "data": _Outline().of(found.data)}
    return EventView(
        row=row(run, found, len(line)),
        event=whole,
        raw=line[:WHOLE].decode("utf-8", "replace"),
        truncated=large,
        previous=_beside(run, seq, -1),
        next=_beside(run, seq, 1),
        path=_path(run, found),
        call=view,
        exchanges=exchanges_of(run, found, call, view),
        cost=view.cost if view is not None else None,
        tokens=view.tokens if view is not None else None,
        related=list(_related(run, found, view, near, state)),
        copy=copies(run, seq, call, instead),
        fork=_forkable(run, seq),
    )


def _line(run: Opened, seq: int) -> bytes:
    for line in run.log.lines(seq, seq + 1):
        return line
    run.event(seq)  # says what there is
    raise Refused("not_found", f"there is no event {seq}")


def _is_near(run: Opened, seq: int) -> bool:
    """Its state is at hand, or soon."""
    return not run.is_being_built and seq - run.timeline.known < 20_000


class _Outline:
    """The data of a very large event: what is short in it, and how the rest begins."""

    def __init__(self) -> None:
        self._left = WHOLE  # characters

    def of(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        self._left -= _SCALAR
        if isinstance(value, dict):
            kept = {key: self.of(one) for key, one in value.items() if self._left > 0}
            return kept if len(kept) == len(value) else {**kept, "…": f"{len(value) - len(kept):,} more"}
        if isinstance(value, list):
            some = [self.of(one) for one in value if self._left > 0]
            return some if len(some) == len(value) else [*some, f"… {len(value) - len(some):,} more"]
        return value

    def _text(self, text: str) -> str:
        kept = text[: max(0, min(_BEGINNING, self._left))]
        self._left -= len(kept) + _SCALAR
        return text if len(kept) == len(text) else f"{kept}… ({len(text) - len(kept):,} more characters)"


def _beside(run: Opened, seq: int, way: int) -> int | None:
    log = run.log
    if way > 0:
        return next((one.seq for one in log.events(seq + 1)), None) if seq < log.last_seq else None
    for piece in (1, 64, 4096):
        some = [one.seq for one in log.events(max(log.first_seq, seq - piece), seq)]
        if some:
            return some[-1]
    return None


def _path(run: Opened, found: Event) -> list[Place]:
    places: list[Place] = []
    step = found.step
    while step is not None and len(places) < _DEEPEST and (begun := run.begun(step)) is not None:
        places.append(Place(seq=step, name=begun.name, kind=begun.kind))
        step = begun.parent
    places.reverse()
    return places


def _call(run: Opened, found: Event) -> tuple[int | None, Call | None]:
    """The model call an event begins, ends or is in."""
    step = step_of(found)
    start = next(iter(run.log.events(step, step + 1)), None) if step is not None else None
    if step is None or start is None or start.type != "step_start":
        return None, None
    if text(start.data.get("kind")) not in MODEL_KINDS:
        return None, None
    # Of the events of one call each asks for it. Prices come when a long log has been read.
    name = ("call", step, run.is_being_built)
    return step, run.kept(name, lambda: call_between(run, step, end_of(run, step)), passing=True)


def _related(
    run: Opened, found: Event, view: Call | None, near: bool, state: State | None
) -> Iterator[Related]:
    """Where to look next: its step, its end, its call's parts, the fact's other events, the tool's result."""
    seen = {found.seq}
    for seq, relation in _places(run, found, view, near, state):
        if seq in seen:
            continue
        seen.add(seq)
        one = next(iter(run.log.events(seq, seq + 1)), None)
        if one is not None:
            yield Related(seq=seq, relation=relation, summary=summary(one))


def _places(
    run: Opened, found: Event, view: Call | None, near: bool, state: State | None
) -> Iterator[tuple[int, str]]:
    """`near`: states are at hand. `state`: that of the event, where it is asked for something."""
    if found.step is not None:
        yield found.step, "begins" if found.type == "step_end" else "step"
    if near and found.type == "step_start":
        ending = end_of(run, found.seq)
        if ending is None:  # of a very long log, that names no steps
            end = run.log.last_seq if _is_near(run, run.log.last_seq) else found.seq
            last = run.timeline.at(end)
            step = last.steps.get(found.seq)
            ending = step.end_seq if step is not None else None
        if ending is not None:
            yield ending, "ends"
    if view is not None and near:
        for id, relation in ((view.prompt, "prompt"), (view.answer, "answer")):
            message = run.timeline.at(view.end_seq or found.seq).messages.get(id) if id else None
            if message is not None:
                yield message.seq, relation
    if state is not None and found.type in ("fact_added", "fact_modified"):
        fact = state.facts.get(str(found.data.get("id")))
        for entry in fact.history if fact is not None else ():
            yield entry[0], "same fact"
    if state is not None and found.type == "message":
        message = state.messages.get(text(found.data.get("parent_id")))
        if message is not None:
            yield message.seq, "parent"


def _forkable(run: Opened, seq: int) -> Forkable:
    program = run.log.chain.get("program")
    if isinstance(program, dict) and program.get("argv"):
        return Forkable(at=seq, possible=True, reason="")
    return Forkable(at=seq, possible=False, reason="the log does not say how its program was started")


def raw(run: Opened, asked: EventAsked) -> Bytes:
    """An event's line as it stands in the log."""
    return Bytes(_line(run, asked.seq), "text/plain; charset=utf-8", f"event-{asked.seq}.json")
