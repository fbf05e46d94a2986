"""Tool calls answered from the tape: what the player does with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lctl.rerun.order.moments import RESUMED
from lctl.rerun.order.ordering import keys
from lctl.rerun.serving import misses
from lctl.rerun.tooling.tools import equal_call, made_up_id, served
from lctl.session.tooling.served import Rewritten, Served

if TYPE_CHECKING:
    from lctl.errors import RerunStopped
    from lctl.rerun.exactness.certificate import Tally
    from lctl.rerun.guarding.halting import Halt
    from lctl.rerun.order.livelanes import LiveLanes
    from lctl.rerun.order.waiting import Order
    from lctl.rerun.serving.matching import Match, Matcher
    from lctl.rerun.settings import Settings
    from lctl.rerun.tape.drawnids import DrawnIds
    from lctl.rerun.tape.entries import Entry
    from lctl.rerun.tape.skippedbodies import SkippedBodies
    from lctl.rerun.tape.tape import Tape
    from lctl.rerun.tooling.agenttools import AgentTools
    from lctl.session.concurrency.lane import Lane
    from lctl.session.tooling.toolcalls import ToolCall


class ToolPlayer:
    """Mixed into the player, whose attributes these are."""

    if TYPE_CHECKING:
        tape: Tape
        ends: bool
        settings: Settings
        order: Order
        tally: Tally
        again: list[str]
        halt: Halt
        ids: DrawnIds | None
        live: LiveLanes
        bodies: SkippedBodies
        _matcher: Matcher
        _agents: AgentTools

        def _take(self, match: Match) -> None: ...
        def _live(self, lane: Lane) -> Any: ...
        def _in_prefix(self, entry: Entry | None) -> bool: ...
        def _end_of_tape(self) -> RerunStopped: ...

    def tool(self, call: ToolCall, lane: Lane, number: int) -> Served | None:
        """Raises RerunStopped where the tape does not hold it."""
        self.halt.check()
        if lane in self.live:
            self.tally.add("executed")
            return None
        clean = self._matcher.comparer.clean
        match = self._matcher.other(
            lane.path, "tool", lambda entry: equal_call(self.tape.data(entry), call, clean, self.ids)
        )
        entry = match.entry
        if match.how == "none" and self.ends:
            raise self._end_of_tape()
        if entry is not None and (match.how == "exact" or self.settings.policy == "pin"):
            return self._serve_tool(match, entry, call)
        if self.settings.policy == "until-divergence" and not self._in_prefix(entry):
            self._live(lane)
        elif self.settings.on_miss == "stop":
            self.tally.add("unmatched")
            detail = []
            if entry is not None:
                data = self.tape.data(entry)
                detail = misses.diff_lines(
                    misses.told(data.get("tool"), data.get("input")),
                    misses.told(call.tool, call.input),
                    entry.seq,
                )
            raise self.halt.stop(
                misses.of_other("tool call", call.tool, match, lane.path, detail, self.settings.policy)
            )
        self.tally.add("executed")
        return None

    def gives_agent(self, call: ToolCall, lane: Lane) -> bool:
        """See `border.Player.gives_agent`: of a fork's recording, what it put there."""
        return lane not in self.live and self._agents.is_given(call, lane, self.ids)

    def agent_input(self, call: ToolCall, lane: Lane) -> dict[str, Any] | None:
        """See `border.Player.agent_input`: of a fork's recording, what it put there."""
        return None if lane in self.live else self._agents.arguments(call, self.ids)

    def _serve_tool(self, match: Match, entry: Entry, call: ToolCall) -> Served | None:
        self._take(match)
        data = self.tape.data(entry)
        found = served(
            data,
            call,
            self.order,
            (self.tape.mark + entry.lane, "tool", entry.number),
            entry.cancelled,
            self.ids,
        )
        self.tally.add("executed" if found is None else match.how)
        if found is not None:
            found.match = None if match.how == "exact" else match.how
            found.call_id = made_up_id(data, call, self.ids)
            found.ran = data["input"] if "asked" in data else None
            found.placed, found.events = self.bodies.events(found.outcome.inside)
        else:
            for key in keys(entry, self.tape.mark):
                if key[3] != RESUMED:
                    self.order.drop(key)
            self.again.append(f"event {entry.seq}: {call.tool}: {data['tape']['executed']}")
            if "asked" in data:
                return Rewritten(data["input"])
        return found
