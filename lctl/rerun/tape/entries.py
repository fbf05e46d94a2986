"""Recorded crossings of the border: exchanges and tool calls, and reads of the surroundings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

#: What the program stops a call with from elsewhere; and what may come to it in the middle of one.
_STOPS = frozenset({"CancelledError", "Cancelled"})
_CANCELLATIONS = _STOPS | {"KeyboardInterrupt", "SystemExit"}


class Read(NamedTuple):
    """A recorded read of the surroundings; `place` is the line of code, `seq` of its event."""

    key: str
    value: Any
    place: str | None
    seq: int


class Ran(NamedTuple):
    """A cell that was run; `seq` of its event."""

    name: str
    code: str
    seq: int


class Entry:
    """What the tape knows of a crossing without reading its body.

    Attributes:
        kind: "exchange" or "tool"; with `lane` and `number` its identity.
        seq: of its event; of its step_start where the call never ended.
        begins: where it stands in the order of starts, as a seq.
        step: the model call's step; else the step it was made in.
        name: the tool's; "POST url" of an exchange.
        plain: an exchange that is no model call.
        hash: of the request body.
        at: milliseconds from the recording's origin to its start; None where nothing else was under way.
        times: of each chunk of a stream, in milliseconds since the start; None of any other response.
        cancelled: the program ended it before its answer was there.
        turn: of an event loop, counted from what reached that before its end.
        ahead: of a wake, in older logs: how many callbacks of that turn ran before it; None if unknown.
        behind: how many of the program's own ran in that turn after its end or wake; None for none.
        began: as `turn`, of a tool call's start.
        counted: turns of its event loop are counted from its start on.
        turns: as `turn`, of each chunk of a stream; None if unknown.
        head: milliseconds from its start to the head of a stream; None if unknown.
        head_turn: as `turn`, of the head.
        behinds: as `behind`, of the head (0) and of chunks (from 1), where it is not none; None if unknown.
        received: of what came from outside during a tool call, beside its result, or of the items of an async
            generator: milliseconds since the start (None: before it), `turn` and `behind`.
        lingering: the program ended the call when the whole answer was there, before it took it.
        left: of a stream: the program neither read it to its end nor closed it. Of a tool that gave a
            generator or coroutine: nobody has begun with that, so the call brought nothing.
        retry: another attempt at a call: nothing was written when it began.
        resumed: milliseconds from the recording's origin to the program's going on, where others' events
            were written between.
        told: seq of the first event that its lane recorded after it, where `resumed` is known.
        whole: an exchange whose answer came to its end.
        slept: of a thread's sleep: for how long it asked, and where; None of all else.
        used: it has been served.
    """

    __slots__ = (
        "agent",
        "ahead",
        "at",
        "began",
        "begins",
        "behind",
        "behinds",
        "cancelled",
        "counted",
        "duration",
        "hash",
        "head",
        "head_turn",
        "kind",
        "lane",
        "left",
        "lingering",
        "name",
        "number",
        "plain",
        "received",
        "resumed",
        "retry",
        "seq",
        "slept",
        "status",
        "step",
        "times",
        "timestamp",
        "told",
        "turn",
        "turns",
        "used",
        "whole",
    )

    def __init__(self, kind: str, lane: str, seq: int, begins: int) -> None:
        self.kind = kind
        self.lane = lane
        self.number = 0
        self.seq = seq
        self.begins = begins
        self.step: int | None = None
        self.turn: int | None = None
        self.turns: list[int] | None = None
        self.head: float | None = None
        self.head_turn: int | None = None
        self.ahead: int | None = None
        self.behind: int | None = None
        self.behinds: dict[int, int] | None = None
        self.began: int | None = None
        self.counted = False
        self.agent = ""
        self.name = ""
        self.plain = False
        self.hash: str | None = None
        self.at: float | None = None
        self.duration = 0.0
        self.timestamp = ""
        self.status: int | None = None
        self.received: list[tuple[float | None, int | None, int | None]] = []
        self.times: list[float] | None = None
        self.cancelled = False
        self.lingering = False
        self.retry = False
        self.left = False
        self.whole = False
        self.resumed: float | None = None
        self.told: int | None = None
        self.slept: tuple[float, str] | None = None
        self.used = False

    @property
    def place(self) -> str:
        """As a person reads it: `call 3 of lane 0.2`, `sleep 1 of lane 0`."""
        what = _SAID.get(self.kind, self.kind)
        return f"{what} {self.number} of lane {self.lane}"

    def __repr__(self) -> str:
        return f"<{self.place}: event {self.seq}>"


#: Kinds that a person calls otherwise.
_SAID = {"exchange": "call", "tool": "tool call"}


def lane_of(data: Mapping[str, Any]) -> str:
    lane = data.get("lane")
    return lane if isinstance(lane, str) else "0"


def is_stopped(name: str) -> bool:
    """Whether a tool that raised a class of that name was stopped by the program: it will be again."""
    return name in _STOPS


def is_cancellation(name: str) -> bool:
    """Whether an exception class of that name is the program stopping the call, not a failure of it."""
    return name in _CANCELLATIONS
