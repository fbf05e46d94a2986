"""Events inside a session with a model: the life of Claude's process, or of a WebSocket.

Who is there holds the conversation, so nobody can go on from its middle: a fork parts before it.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from lctl.rerun.tape.callindex import CallIndex
from lctl.rerun.tape.entries import Entry
from lctl.rerun.tape.tape import Tape

_NAMES = ("SPAWN ", "GET ws://", "GET wss://")
#: Seconds by which one clock may tell otherwise than the other.
_ABOUT = 0.00002


class Around(NamedTuple):
    """The session around an event.

    Attributes:
        entry: its exchange, which is written at its end.
        first: the first event after its beginning.
        alone: no other one was open meanwhile.
    """

    entry: Entry
    first: int
    alone: bool


def session_around(tape: Tape, recorded: CallIndex, asked: int) -> Around | None:
    """The session that an event lies in, if in any."""
    sessions = [entry for entry in tape.entries if entry.plain and entry.name.startswith(_NAMES)]
    around = [entry for entry in sessions if asked < entry.seq]
    if not around:
        return None
    begins = _begins(tape, recorded, sessions)
    found = [entry for entry in around if _is_said_in(recorded, entry, begins[entry.seq], asked)]
    if not found:
        return None
    entry = min(found, key=lambda one: begins[one.seq])
    first = next(seq for seq in recorded.events if _time(recorded, seq) >= begins[entry.seq])
    others = (one for one in sessions if one is not entry and one.seq > first)
    return Around(entry, first, all(begins[one.seq] > _time(recorded, entry.seq) for one in others))


def _begins(tape: Tape, recorded: CallIndex, sessions: list[Entry]) -> dict[int, float]:
    """When each session began, in seconds of the clock on the wall. Its event is written some time after its
    end, where it is long; what tells the recording's origin best is what was written soonest."""
    written = {one.seq: _time(recorded, one.seq) - one.duration / 1000 for one in tape.entries}
    origin = min(
        (written[one.seq] - one.at / 1000 for one in tape.entries if one.at is not None), default=0.0
    )
    return {
        one.seq: written[one.seq] if one.at is None else origin + one.at / 1000 - _ABOUT for one in sessions
    }


def _is_said_in(recorded: CallIndex, entry: Entry, begun: float, asked: int) -> bool:
    """Whether an event is of what a session said: a model call that no exchange is of, what it was asked
    with, or in a step that it is in."""
    calls = {
        seq
        for seq in recorded.calls
        if seq < entry.seq and _time(recorded, seq) >= begun and not _has_exchange(recorded, seq)
    }
    said = calls | {seq for seq, call in recorded.opened_by.items() if call in calls}
    for seq in calls:
        above = recorded.events[seq].step
        while above is not None and above in recorded.events and _time(recorded, above) >= begun:
            said.add(above)
            above = recorded.events[above].step
    at: int | None = asked
    while at is not None and at not in said:
        event = recorded.events.get(at)
        at = None if event is None else event.step
    return at is not None


def _has_exchange(recorded: CallIndex, call: int) -> bool:
    return any(entry.kind == "exchange" for entry in recorded.by_step.get(call, ()))


def _time(recorded: CallIndex, seq: int) -> float:
    try:
        return datetime.fromisoformat(str(recorded.events[seq].timestamp)).timestamp()
    except ValueError:
        return 0.0
