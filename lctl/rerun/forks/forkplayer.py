"""The player of a fork: the tape up to the fork point, edits made on the way, what follows from them live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lctl.errors import RerunStopped
from lctl.rerun.edits.rewording import EditedAnswer
from lctl.rerun.edits.rules import EditedResult, Place, Rules
from lctl.rerun.forks.forkreads import ForkReads
from lctl.rerun.order.ordering import keys
from lctl.rerun.serving.answers import RecordedAnswer
from lctl.rerun.serving.matching import Match
from lctl.rerun.serving.player import TapePlayer
from lctl.rerun.tape.crossings import body_of
from lctl.rerun.tooling.toolpolicy import Choice, ToolPolicy, approved, stand_in
from lctl.rerun.tooling.tools import GatedServed, equal_call, served, wrapped
from lctl.session.border import Live, WireRequest
from lctl.session.tooling.served import Outcome, Rewritten, Served
from lctl.session.tooling.toolcalls import ToolCall

if TYPE_CHECKING:
    from lctl.rerun.forks.forkpoint import ForkPoint
    from lctl.rerun.guarding.halting import Halt
    from lctl.rerun.order.waiting import Order
    from lctl.rerun.settings import Settings
    from lctl.rerun.tape.entries import Entry
    from lctl.rerun.tape.tape import Tape
    from lctl.session.concurrency.lane import Lane


class ForkPlayer(TapePlayer):
    """Serves one process from one tape up to a fork point.

    A lane leaves the tape at its first call that an edit changes, that is no longer the recorded one, or
    that lies behind the fork point in the forked lane; it never comes back. Lanes that none of this
    reaches stay on the tape to their end.
    """

    def __init__(
        self, tape: Tape, settings: Settings, order: Order, halt: Halt, rules: Rules, fork: ForkPoint
    ) -> None:
        super().__init__(tape, settings, order, halt)
        self.fork = fork
        self.turns.until = fork.at
        self.rules = rules
        self.reads = ForkReads(tape, self.settings, self.tally, halt, self.live, fork=fork)
        self._tools = ToolPolicy.parse(settings.tools)
        self._approvals: dict[str, bool] = {}

    # -- model calls -----------------------------------------------------------------------

    def _ruled(self, match: Match, entry: Entry, request: WireRequest) -> RecordedAnswer | Live | None:
        answer = self.rules.result(entry, request, self._place_of(entry, request.lane))
        if isinstance(answer, EditedAnswer):
            self._take(match)
            for part in range(1, len(entry.times or ()) + 1):  # its own chunks come in its place
                self.order.drop((self.tape.mark + entry.lane, entry.kind, entry.number, part))
            return self._edited(answer, (self.tape.mark + entry.lane, "exchange", entry.number), entry.at)
        changed = self._changed(entry, request, self._place_of(entry, request.lane, leaving=True))
        if changed is not None:
            self._take(match)
            return self._live(request.lane, changed)
        if match.how == "exact" and self.fork.goes_live(entry):
            self._take(match)
            return self._live(request.lane)
        return None

    def _diverged(self, entry: Entry | None, request: WireRequest) -> RecordedAnswer | Live:
        place = self._place_of(entry, request.lane, live=True)
        answer = self.rules.result(entry, request, place)
        if isinstance(answer, EditedAnswer):
            self._leave_tape(request.lane)
            return self._edited(answer, ("", "", 0))
        return self._live(request.lane, self._changed(entry, request, place))

    def _changed(self, entry: Entry | None, request: WireRequest, place: Place) -> Live | None:
        """What is sent in place of the program's. Raises RerunStopped where the request cannot be edited."""
        try:
            return self.rules.request(entry, request, place)
        except RerunStopped as refused:
            raise self.halt.stop(str(refused)) from None

    def _edited(
        self, answer: EditedAnswer, key: tuple[str, str, int], at: float | None = None
    ) -> RecordedAnswer:
        self.tally.add("edited")
        return RecordedAnswer(
            self.order,
            key,
            answer.status,
            answer.headers,
            answer.error,
            lambda: list(answer.chunks),
            timed=at is not None,
            streamed=False,
            endless=False,
            match="edited",
        )

    def _place_of(
        self, entry: Entry | None, lane: Lane, *, live: bool = False, leaving: bool = False
    ) -> Place:
        """`leaving`: for a request, which an edit reaches only if it left behind the fork point."""
        if entry is None:
            return Place(None, "", lane.path, True, live)
        after = self.fork.is_after(entry) and not (leaving and self.fork.has_left(entry))
        return Place(entry.seq, entry.agent, lane.path, after or live, live)

    def _in_prefix(self, entry: Entry | None) -> bool:
        """Before the event a run is forked at nothing may differ: also no call be made that is not there."""
        if entry is not None:
            return not self.fork.is_after(entry)
        return any(
            not one.used and one.seq <= self.fork.at for one in self.tape.entries if one.kind == "exchange"
        )

    def unaddressed(self) -> list[str]:
        return [f"{edit}: {why}" for edit, why in self.rules.unused()]

    def unused(self) -> list[str]:
        """What was recorded before the fork point and not asked for: the rest is another future."""
        return [
            f"event {entry.seq}: {entry.place}"
            for entry in self.tape.entries
            if not entry.used and not self.fork.is_after(entry)
        ]

    # -- tools -----------------------------------------------------------------------------

    def tool(self, call: ToolCall, lane: Lane, number: int) -> Served | None:
        """Raises RerunStopped where the tape does not hold it before the fork point."""
        self.halt.check()
        if call.agent and not super().gives_agent(call, lane):
            place = self._place_of(None, lane, live=lane in self.live)
            given = self.rules.result(None, call, place)
            return self._edited_result(given, call, None) if isinstance(given, EditedResult) else None
        if lane in self.live:
            return self._beyond(call, lane, None)
        clean = self._matcher.comparer.clean
        match = self._matcher.other(
            lane.path, "tool", lambda entry: equal_call(self.tape.data(entry), call, clean, self.ids)
        )
        entry = match.entry
        place = self._place_of(entry, lane)
        result = self.rules.result(entry, call, place)
        if isinstance(result, EditedResult):
            self._take(match)
            key = None if entry is None else (self.tape.mark + entry.lane, "tool", entry.number)
            if entry is not None and key is not None:
                for part, _ in enumerate(entry.received, 1):
                    self.order.drop((*key, part))
                self.bodies.skip(body_of(self.tape.data(entry)))
            return self._edited_result(result, call, key)
        if entry is not None and entry.seq in self.fork.bodies:
            self._run_body(match, entry)
            return None
        if self.rules.tool_input(call, place, count=False) is None and entry is not None:
            if match.how == "exact" and not self.fork.goes_live(entry):
                return self._serve_tool(match, entry, call)
            if self._in_prefix(entry):
                return super().tool(call, lane, number)  # refused there, with the reason
        try:
            return self._beyond(call, lane, entry)
        finally:
            self._take(match)

    def gives_agent(self, call: ToolCall, lane: Lane) -> bool:
        if super().gives_agent(call, lane):
            return True
        place = self._of_agent(lane)
        return place is not None and self.rules.gives(call, place)

    def agent_input(self, call: ToolCall, lane: Lane) -> dict[str, Any] | None:
        known = super().agent_input(call, lane)
        place = self._of_agent(lane) if known is None else None
        return known if place is None else self.rules.tool_input(call, place)

    def _of_agent(self, lane: Lane) -> Place | None:
        """Of an agent's call behind the fork point; None where that may be in what the agent does."""
        live = lane in self.live
        return None if not live and self._in_prefix(None) else self._place_of(None, lane, live=live)

    def _run_body(self, match: Match, entry: Entry) -> None:
        """A tool with the fork point in its body: what that asks for comes from the tape up to there."""
        self._take(match)
        for key in keys(entry, self.tape.mark):
            self.order.drop(key)
        self.tally.add("executed")

    def _beyond(self, call: ToolCall, lane: Lane, entry: Entry | None) -> Served | None:
        """A tool call that the tape does not answer any more."""
        place = self._place_of(entry, lane, live=True)
        result = self.rules.result(entry, call, place)
        if isinstance(result, EditedResult):
            return self._edited_result(result, call, None)
        self._leave_tape(lane)
        given = self.rules.tool_input(call, place)
        asked = call if given is None else call._replace(input=given)
        choice = self._tools.choose(call.tool)
        recalls = choice == "recorded" or self._recalls(call.tool, choice, lane)
        if choice == "ask":
            choice = "live" if approved(call.tool, asked.input, self._approvals) else "dry-run"
        if choice == "live":
            self.tally.add("executed")
            return None if given is None else Rewritten(given)
        known = self._recorded(asked) if recalls else None
        if known is not None:
            known.used = True
            self.tally.add("recorded")
            return self._restored(known, asked)
        if choice == "recorded":
            self.tally.add("unmatched")
            raise self.halt.stop(
                f"the tool {call.tool} is called with an input the recording does not have, and --tools "
                f"recorded runs none: {asked.input}; see --tools live, dry-run or ask"
            )
        self.tally.add("dry")
        return Served(wrapped(call, stand_in(call.tool, self._sample(call.tool))))

    def _recalls(self, tool: str, choice: Choice, lane: Lane) -> bool:
        """Whether a tool that nobody said anything about, and that is not run, gives what the same call gave
        in the recording: not where all is to be anew, and the recorded value would stand beside live ones."""
        return choice == "dry-run" and not self._tools.is_said(tool) and not self.fork.is_anew(lane.path)

    def _edited_result(
        self, result: EditedResult, call: ToolCall, key: tuple[str, str, int] | None
    ) -> Served:
        self.tally.add("edited")
        value = None if result.error is not None else wrapped(call, result.value)
        if key is None:
            return Served(value, result.error)
        return GatedServed(Outcome(value, result.error), self.order, key, False)

    def _recorded(self, call: ToolCall) -> Entry | None:
        """A recorded call of that tool with that input which nothing has used yet."""
        clean = self._matcher.comparer.clean
        for entry in self.tape.entries:
            if entry.kind == "tool" and not entry.used and entry.name == call.tool:
                data = self.tape.data(entry)
                if "output" in data and equal_call(data, call, clean, self.ids):
                    return entry
        return None

    def _restored(self, entry: Entry, call: ToolCall) -> Served:
        """What a recorded call gave, out of its turn; its body's events are recorded with it."""
        data = self.tape.data(entry)
        found = served(data, call, self.order, (entry.lane, "tool", entry.number), False)
        if found is None:
            return Served(wrapped(call, data.get("output")))
        made = Served(outcome=found.outcome)
        made.placed, made.events = self.bodies.events(found.outcome.inside)
        return made

    def _sample(self, tool: str) -> Any:
        """What the tool gave some time, for its kind; a text where it never gave anything."""
        for entry in self.tape.entries:
            if entry.kind == "tool" and entry.name == tool:
                data = self.tape.data(entry)
                if "output" in data:
                    return data["output"]
        return ""
