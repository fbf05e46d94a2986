"""What keeps its order where concurrent tasks tell of themselves in another: what crossed the border of the
program, each step, and each lane's own steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

#: Ambient events that wait for their turn in a rerun.
_RELEASED = frozenset({"sleep", "timer", "wake", "mcp", "prompt", "keys", "request", "websocket"})
#: What enters the program from outside or leaves it.
_BORDER = frozenset({"exchange", "tool_call", "ambient"})


class Noted(NamedTuple):
    """What is asked of an event often. `alike`: what it has in common with each that it may be."""

    type: str
    seq: int
    step: int | None
    alike: tuple[Any, ...]


class Told(NamedTuple):
    """An event of a rerun that was found.

    Attributes:
        place: of the recorded event that it is, among those recorded.
        lane: in which it was told.
    """

    event: dict[str, Any]
    place: int
    lane: str


def in_order(told: Sequence[Told], recorded: Sequence[Noted]) -> bool:
    """Whether each step, and the border, have their own events in the recorded order, as has each lane what
    it tells outside any step; and a step that was over before its lane began another in the same one, was
    so now."""
    last: dict[Any, int] = {}
    where = {one.place: (n, one.lane) for n, one in enumerate(told)}
    for n, (event, place, lane) in enumerate(told):
        step = event.get("step")
        if event["type"] == "step_start":
            over = (where[end] for end in _ends_in(step, recorded) if end < place)
            if any(then > n and whose == lane for then, whose in over):
                return False
            continue
        key = _border_of(event) if _crosses(event) else ("outside", lane) if step is None else step
        if last.get(key, -1) > place:
            return False
        last[key] = place
    return True


def _ends_in(around: Any, recorded: Sequence[Noted]) -> list[int]:
    """Where the recording ends the steps that it begins here in the step `around`."""
    begun: set[Any] = set()
    places = []
    for m, event in enumerate(recorded):
        if event.type == "step_start" and event.step == around:
            begun.add(event.seq)
        elif event.type == "step_end" and event.step in begun:
            places.append(m)
    return places


def _crosses(event: dict[str, Any]) -> bool:
    """Not so an agent used as a tool, nor a call made of messages: what they did is told when they end, as a
    step is. Their own model calls cross the border."""
    data = event["data"]
    return event["type"] in _BORDER and not (data.get("subagent") or data.get("derived"))


def _border_of(event: dict[str, Any]) -> Any:
    """What keeps its order with this crossing: all others, but for a read of the surroundings only its own
    lane, whose it is, and in a tool's body too, as it is recorded again together with the call. What threads
    hand to event loops keeps its order among itself: an SDK may do so after an answer, and before it returns,
    which is when that is recorded (whether the one came before the other is known of their deliveries). A
    stream that nobody read on has no end that waits for its turn."""
    lane, source = event["data"].get("lane"), event["data"].get("source")
    if event["data"].get("left"):
        return "left", lane
    if event["type"] == "ambient" and source not in _RELEASED:
        return "reads", lane
    if source == "wake":
        return "wakes"
    return lane if isinstance(lane, str) and "/t" in lane else "border"
