"""Events that a thread of the program reports itself, in the order they were recorded.

Steps and facts cross no border, so nothing would keep those of two threads in order when they run again.
In threads beside the main one they therefore say where and when they were reported (`lane`, `at`), and in
a rerun wait for their turn. Code on an event loop needs none of this: there one thing runs at a time.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from lctl.session import border
from lctl.session.concurrency import lanes

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession

#: What a program reports of itself.
TYPES = frozenset(
    {"step_start", "step_end", "fact_added", "fact_modified", "fact_read", "handoff", "error", "checkpoint"}
    | {"assessment", "gate", "model_routing"}
)


def stamped(session: LCTLSession, data: dict[str, Any]) -> dict[str, Any]:
    """The data of such an event, when its turn has come; as it is where order needs no telling."""
    lane = lanes.current()
    if lane.path == "0" or not is_full() or _on_loop():
        return data
    number = lane.number("event")
    player = border.player()
    if player is not None:
        player.event(lane, number)
    return {**data, "lane": lane.path, "at": session.under_way.now()}


def is_full() -> bool:
    """Whether the run is recorded to be run again. (What says so is a floor above, and may not be loaded.)"""
    return bool(getattr(sys.modules.get("lctl.instrument.settings"), "full", False))


def _on_loop() -> bool:
    events = sys.modules.get("asyncio.events")
    return events is not None and events._get_running_loop() is not None
