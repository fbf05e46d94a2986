"""Tools whose body is an agent: what a fork put in the place of their results and arguments, in its rerun.

Their bodies run in a rerun, and their events are no crossings. A result that a fork gave one is recorded as
that of any tool, though; arguments are in the event, beside those that were `asked`.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lctl.rerun.tooling.tools import equal_call

if TYPE_CHECKING:
    from lctl.rerun.serving.matching import Matcher
    from lctl.rerun.tape.drawnids import DrawnIds
    from lctl.rerun.tape.tape import Tape
    from lctl.session.concurrency.lane import Lane
    from lctl.session.tooling.toolcalls import ToolCall


class AgentTools:
    """Of one tape. Safe from several threads."""

    def __init__(self, tape: Tape, matcher: Matcher) -> None:
        self._tape = tape
        self._matcher = matcher
        self._lock = threading.Lock()

    def is_given(self, call: ToolCall, lane: Lane, ids: DrawnIds | None) -> bool:
        """Whether the lane's next recorded tool call is this one."""
        entry = self._matcher.following(lane.path, "tool")
        return entry is not None and equal_call(
            self._tape.data(entry), call, self._matcher.comparer.clean, ids
        )

    def arguments(self, call: ToolCall, ids: DrawnIds | None) -> dict[str, Any] | None:
        """Those that the agent was recorded with, where they are other ones."""
        with self._lock:
            for place, data in enumerate(self._reworded):
                if data.get("call_id") in (None, call.call_id) and equal_call(
                    data, call, self._matcher.comparer.clean, ids
                ):
                    input: dict[str, Any] = self._reworded.pop(place)["input"]
                    return input
        return None

    @cached_property
    def _reworded(self) -> list[dict[str, Any]]:
        """The calls that a fork changed, those that are not asked for yet."""
        log = self._tape.log
        if "fork" not in log.chain:
            return []
        calls = (dict(event.data) for event in log.events() if event.type == "tool_call")
        return [data for data in calls if data.get("subagent") and "asked" in data]
