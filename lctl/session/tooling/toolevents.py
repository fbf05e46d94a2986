"""How the event of a tool call gets into the log, where there is more to it than the event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lctl.guard import guard
from lctl.record.recorder import Build, Draft
from lctl.session import hooks
from lctl.session.session import LCTLSession

#: How often a call looks again at what it changed because others wrote meanwhile.
_LOOKS = 100


class Change:
    """A call that changed objects of the program, recorded with what they are made of when it is written.

    A rerun puts the changes in place in the order of the events. Of two calls that share an object, the one
    whose event comes last must therefore not tell what the object was before the other's change.

    Args:
        seen: `session.changes` before `draft` was made. Where another event of this kind came since, `look`
            makes the draft anew.
    """

    def __init__(self, session: LCTLSession, draft: Draft, seen: int, look: Callable[[], Draft]) -> None:
        self._session, self._draft, self._seen, self._look = session, draft, seen, look
        self._is_patient = True
        self._was_tried = self._is_told = False

    def record(self) -> int:
        """Its seq, 0 when it could not be recorded."""
        for _ in range(_LOOKS):
            self._was_tried = False
            seq = self._session.emit_many(self._build)
            if self._is_told:
                return seq
            if not self._was_tried:  # it is written later, by whom this interrupted
                self._is_patient = False
                return seq
            self._seen = self._session.changes
            self._draft = self._look()
        self._is_patient = False
        return self._session.emit_many(self._build)

    def _build(self, first: int) -> list[Draft]:
        """Runs under the recorder's lock."""
        self._was_tried = True
        if self._session.changes != self._seen and self._is_patient:
            return []
        self._is_told = True
        self._session.changes += 1
        return list(with_body(self._session, (), self._draft)(first))


def with_body(
    session: LCTLSession,
    events: Sequence[Mapping[str, Any]],
    call: Draft,
    placed: Sequence[Mapping[str, Any]] = (),
) -> Build:
    """The events of a served tool's body, as recorded, and then its own, which says where they are now; those
    `placed` are in the log."""

    def build(first: int) -> list[Draft]:
        drafts: list[Draft] = []
        numbers: dict[int, int] = {}
        for event in events:
            numbers[event["seq"]] = first + len(drafts)
            step = event.get("step")
            inner = step if step is None else numbers.get(step, call[3])
            data = _renumbered(event["data"], numbers)
            drafts.append((event["type"], event["agent"], data, inner))
        there = [(event["type"], event["agent"], event["data"], event.get("step")) for event in placed]
        hooks.again(session, [*there, *drafts])
        if session.on_tool_call is not None:
            with guard("a tool call's place in its conversation"):
                session.on_tool_call(call[2])
        return [*drafts, (call[0], call[1], _renumbered(call[2], numbers), call[3])]

    return build


def _renumbered(data: dict[str, Any], numbers: Mapping[int, int]) -> dict[str, Any]:
    """The data of an event, whose tape names the events of a body by their seqs here."""
    tape = data.get("tape")
    if not isinstance(tape, Mapping) or not tape.get("inside") or not numbers:
        return data
    seqs = [numbers.get(seq, seq) for first, last in tape["inside"] for seq in range(first, last + 1)]
    return {**data, "tape": {**tape, "inside": ranges([(seq, seq) for seq in seqs])}}


def ranges(seqs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Pairs of first and last seq, those that touch joined."""
    made: list[list[int]] = []
    for first, last in sorted(seqs):
        if made and first <= made[-1][1] + 1:
            made[-1][1] = max(made[-1][1], last)
        else:
            made.append([first, last])
    return made
