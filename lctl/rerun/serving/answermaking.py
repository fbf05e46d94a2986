"""Making the answers of a rerun: of a recorded exchange, of one that never ended, of what nobody recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lctl.rerun.serving.answers import RecordedAnswer
from lctl.session.border import RecordedError

if TYPE_CHECKING:
    from lctl.rerun.order.waiting import Order
    from lctl.rerun.tape.entries import Entry
    from lctl.rerun.tape.tape import Tape


def served_answer(tape: Tape, order: Order, entry: Entry, data: Mapping[str, Any]) -> RecordedAnswer:
    """The recorded one. `data`: of the entry's event."""
    error = data.get("error")
    raised = RecordedError.of(error) if isinstance(error, dict) and not entry.cancelled else None
    answer = RecordedAnswer(
        order,
        (tape.mark + entry.lane, "exchange", entry.number),
        entry.status,
        data.get("headers") or {},
        raised,
        lambda: [chunk for _, chunk in tape.chunks(entry)],
        timed=entry.at is not None,
        streamed=entry.times is not None,
        endless=entry.cancelled,
        lingering=entry.lingering,
        match=None,
    )
    answer.encoding = data.get("encoded")
    answer.reason = data.get("reason")
    answer.names = data.get("names") or ()
    answer.with_head = data.get("with_head") is True
    answer.closed_early = bool(data.get("closed_early"))
    answer.unsent = isinstance(error, dict) and error.get("sent") is False
    answer.blob = lambda hash: tape.blob(hash, entry)
    return answer


def shared_answer(tape: Tape, order: Order, entry: Entry, again: bool) -> RecordedAnswer:
    """To what is asked for the whole process. `again`: by another one, who waits for nobody; it is not
    recorded."""
    answer = served_answer(tape, order, entry, tape.data(entry))
    if again:
        answer.be_repeated()
    return answer


def pending_answer(order: Order, key: tuple[str, str, int]) -> RecordedAnswer:
    """To a call that never got one."""
    return RecordedAnswer(order, key, None, {}, None, list, streamed=False, endless=True, match=None)


def answer_without_content(order: Order, status: int) -> RecordedAnswer:
    """What clients of telemetry expect (200), and who asks for news that nobody recorded (404)."""
    head = {"content-type": "application/json"}
    return RecordedAnswer(
        order, ("", "", 0), status, head, None, lambda: [b"{}"], streamed=False, endless=False, match=None
    )
