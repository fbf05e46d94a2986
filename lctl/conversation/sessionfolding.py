"""From events to sessions: one handler for each type that says something about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lctl.conversation.forest import Forest
from lctl.conversation.ledger import RUNNING, Ledger, Status
from lctl.conversation.measures import usage_of
from lctl.state.model import Diagnostic
from lctl.values import items, mapping, text, whole_number

Data = Mapping[str, Any]

#: Events that say something about sessions.
TYPES = frozenset(
    {"session_start", "session_end", "message", "stream_start", "step_start", "step_end", "checkpoint"}
)
#: Of these the data is read again when something of it is asked for.
KEPT = frozenset({"session_start", "step_end", "checkpoint"})


class Folding:
    """What the events of a log say of sessions, so far.

    Attributes:
        ledgers: by id, in the order they were first named.
        parents: conversation -> the one it came of, and since when.
        notes: what could not be taken at its word.
        repeats: events that changed nothing.
    """

    def __init__(self, forest: Forest, data_at: Callable[[int], Data]) -> None:
        self.forest = forest
        self.data_at = data_at
        self.ledgers: dict[str, Ledger] = {}
        self.parents: dict[str, tuple[str, int]] = {}  # conversation -> (its parent, since)
        self.notes: list[Diagnostic] = []
        self.repeats = 0
        self._step_session: dict[int, Ledger] = {}
        self._step_parent: dict[int, int] = {}
        self._newest = 0

    def append(self, event: Mapping[str, Any]) -> None:
        """Fold one more event, which the forest has folded already."""
        self._newest = event["seq"]
        handler = _HANDLERS.get(text(event["type"]))
        if handler is not None:
            handler(self, event["seq"], event, mapping(event.get("data")))

    def _note(self, seq: int, code: str, text: str) -> None:
        self.notes.append(Diagnostic(seq, code, text))

    def _ledger(self, id: str, seq: int, data: Data) -> Ledger:
        """Of a session that events name; one that has not begun is told of."""
        found = self.ledgers.get(id)
        if found is None:
            found = self.ledgers[id] = Ledger(id, seq)
            found.conversation = found.implied = str(data.get("conversation_id") or "main")
            self._note(seq, "session_unknown", f"session {id} has not begun in this log")
        return found

    def _running(self) -> Ledger | None:
        """The session that is meant where none is named: the only one that runs."""
        found = [one for one in self.ledgers.values() if one.status == RUNNING]
        return found[0] if len(found) == 1 else None

    def _named(self, seq: int, event: Data, data: Data) -> Ledger | None:
        id = data.get("session_id")
        if id is not None:
            return self._ledger(str(id), seq, data)
        step = _step_of(event)
        return self._step_session.get(step) if step is not None else self._running()

    def start(self, seq: int, event: Data, data: Data) -> None:
        id = str(data.get("session_id") or f"#{seq}")
        known = self.ledgers.get(id)
        if known is not None and known.start:
            self._again(known, seq, event, data)
            return
        ledger = known or Ledger(id, seq)
        self.ledgers[id] = ledger
        ledger.start = seq
        ledger.conversation = str(data.get("conversation_id") or "main")
        seeds = items(data.get("seed_messages"))
        ledger.seeds = len(seeds)
        if ledger.seeds and not all("message_id" in one for one in seeds if isinstance(one, Mapping)):
            ledger.reach(ledger.seeds, seq)
        if not ledger.statuses:
            ledger.statuses.append(Status(seq, RUNNING, None, str(event.get("timestamp") or "")))
        if data.get("state") is not None:
            ledger.states.append(seq)
        self._source(ledger, data)
        parent = data.get("parent_conversation_id")
        if parent is not None:
            self._link(ledger.conversation, str(parent), seq)

    def _again(self, ledger: Ledger, seq: int, event: Data, data: Data) -> None:
        if _content(data) != _content(self.data_at(ledger.start)):
            self._note(
                seq, "session_conflict", f"session {ledger.id} began at {ledger.start}; that start stands"
            )
        elif ledger.status == "failed":
            ledger.statuses.append(Status(seq, RUNNING, None, str(event.get("timestamp") or "")))
        else:
            self.repeats += 1

    def _source(self, ledger: Ledger, data: Data) -> None:
        given = data.get("forked_from")
        if not isinstance(given, Mapping):
            return
        source = above = self.ledgers.get(str(given.get("session_id")))
        while above is not None and above is not ledger:
            above = above.source
        if above is not None:
            self._note(ledger.start, "session_cycle", f"session {ledger.id} is forked from itself")
            return
        ledger.source = source
        number, cut = whole_number(given.get("message_number")), whole_number(given.get("seq"))
        ledger.source_number = number or 0
        ledger.source_seq = ledger.start if cut is None else min(cut, ledger.start)

    def _link(self, conversation: str, parent: str, seq: int) -> None:
        known = self.parents.get(conversation)
        if known is not None:
            if known[0] != parent:
                self._note(seq, "session_conflict", f"conversation {conversation} came of {known[0]} already")
            return
        at: str | None = parent
        while at is not None:
            if at == conversation:
                self._note(seq, "session_cycle", f"conversation {conversation} is its own ancestor")
                return
            at = self.parents.get(at, (None, 0))[0]
        self.parents[conversation] = (parent, seq)

    def end(self, seq: int, event: Data, data: Data) -> None:
        ledger = self._named(seq, event, data)
        if ledger is None:
            self._note(seq, "session_unknown", "a session_end that names no session")
        elif ledger.status != RUNNING:
            self._note(seq, "session_ended", f"session {ledger.id} is {ledger.status} already; that stands")
        else:
            status = str(data.get("status") or "completed")
            moment = str(event.get("timestamp") or "")
            ledger.statuses.append(Status(seq, status, data.get("error"), moment))

    def message(self, seq: int, event: Data, data: Data) -> None:
        id = data.get("session_id")
        if id is None:
            return
        number = whole_number(data.get("message_number"))
        name = data.get("message_id") or f"#{seq}"
        known = number is not None and isinstance(id, str | int)
        node = self.forest.by_number.get((id, number), -1) if known else -1
        if node < 0:
            node = self.forest.find(f"#{seq}" if isinstance(name, dict | list) else name)
        ledger = self._ledger(str(id), seq, data)
        if node < 0 or node in ledger.places:
            self.repeats += node >= 0
            return
        if ledger.status != RUNNING:
            self._note(seq, "session_ended", f"a message of session {ledger.id}, which is {ledger.status}")
        due = ledger.last + 1
        if number is None:
            number = due
        elif number > due and (ledger.numbers or ledger.start):
            self._note(seq, "number_gap", _gap(ledger, number, due))
        ledger.add(number, node, seq)
        step = _step_of(event)
        if step is not None and step not in self._step_session:
            self._own(step, ledger, seq)

    def _own(self, step: int, ledger: Ledger, seq: int) -> None:
        """A step is a turn of a session."""
        self._step_session[step] = ledger
        ledger.steps[step] = (seq, 0)

    def step_start(self, seq: int, event: Data, data: Data) -> None:
        around, id = _step_of(event), data.get("session_id")
        above = self._step_session.get(around) if around is not None else None
        if id is not None:
            ledger = self._ledger(str(id), seq, data)
            if ledger is not above:
                self._own(seq, ledger, seq)
                return
        if above is not None and around is not None:
            self._step_session[seq] = above
            self._step_parent[seq] = around

    def step_end(self, seq: int, event: Data, data: Data) -> None:
        step = _step_of(event)
        ledger = self._step_session.get(step) if step is not None else None
        if ledger is None and ("session_id" in data or "to_message_number" in data):
            ledger = self._named(seq, event, data) or self._running()
        if ledger is None:
            return
        nested = step in self._step_parent
        if step is not None and not nested:
            since, ended = ledger.steps.get(step, (seq, 0))
            if ended:
                return  # that end stands
            ledger.steps[step] = (since, seq)
        outcome = data.get("outcome")
        turn = not nested and outcome not in ("aborted", "cancelled")
        ledger.meter.add(seq, usage_of(data), self._above(step), turn=turn, failed=outcome == "error")
        if nested:
            return
        ledger.ends.append(seq)
        to = whole_number(data.get("to_message_number"))
        if to is not None:
            if to < ledger.to:
                self._note(
                    seq, "number_gap", f"session {ledger.id} goes back from message {ledger.to} to {to}"
                )
            ledger.to = max(ledger.to, to)
            ledger.reach(to, seq)
        if "state" in data:
            ledger.states.append(seq)

    def _above(self, step: int | None) -> list[int]:
        found: list[int] = []
        while step is not None:
            found.append(step)
            step = self._step_parent.get(step)
        return found

    def checkpoint(self, seq: int, event: Data, data: Data) -> None:
        if "state" not in data:
            return
        ledger = self._named(seq, event, data) or self._running()
        if ledger is not None:
            ledger.states.append(seq)


def _gap(ledger: Ledger, number: int, due: int) -> str:
    """Numbers left out before this one, in the words in which the tree of messages tells of it."""
    if ledger.numbers:
        return f"message {number} of session {ledger.id} came after {due - 1}"
    return f"the first message of session {ledger.id} is {number}, not {due}"


def _step_of(event: Data) -> int | None:
    """The step an event is in; None of one whose `step` is no number, which `validate` names."""
    step = event.get("step")
    return step if type(step) is int else None


def _content(data: Data) -> dict[str, Any]:
    """What a start says; null, [] and {} say nothing."""
    return {key: value for key, value in data.items() if value not in (None, [], {})}


_HANDLERS: dict[str, Callable[[Folding, int, Data, Data], None]] = {
    "session_start": Folding.start,
    "session_end": Folding.end,
    "message": Folding.message,
    "stream_start": Folding.message,
    "step_start": Folding.step_start,
    "step_end": Folding.step_end,
    "checkpoint": Folding.checkpoint,
}
