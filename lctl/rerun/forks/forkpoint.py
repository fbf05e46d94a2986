"""Where a recording is forked: what still comes from the tape, and whose future is dropped.

Everything up to and with event N is the tape's. Five events are no places to part at, and the fork says so:

- one that opens a model call (its prompt, its step_start) goes back to before the call, which is then the
  first to be asked anew;
- one between two attempts of a model call does the same if the request is changed: both send one prompt;
- one inside a stream goes on to the end of that stream; one inside a tool that asks no model and no tool
  to the end of that call, or before it, if its arguments are changed;
- one inside a session with a model (`lctl.rerun.forks.sessions`) goes back to before what that said;
- one inside a batch of tool calls stays, and the rest of the batch comes from the tape: providers refuse a
  request that answers half of what they asked for.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from lctl.errors import UsageError
from lctl.events import Event
from lctl.patch import Edit
from lctl.rerun.edits.repeating import inherited_edits
from lctl.rerun.forks.reach import Reach
from lctl.rerun.forks.sessions import Around, session_around
from lctl.rerun.forks.strand import Strand
from lctl.rerun.tape.callindex import CallIndex
from lctl.rerun.tape.crossings import body_of
from lctl.rerun.tape.entries import Entry
from lctl.rerun.tape.tape import Tape


class ForkPoint:
    """One place in one recording.

    Attributes:
        recorded: the recording's calls.
        asked: the event named by the user.
        at: the last event that is the tape's.
        call: seq of the crossing that event belongs to, which a result edit addresses too; None without.
        strand: whose recorded future is dropped; None where the edits say themselves which calls they are
            about.
        around: seqs of tool calls whose bodies it is in (a tool that asks a sub-agent), the outermost last:
            they run again, from the tape up to there.
        bodies: seqs of tool calls that are not served: those, and calls that were paused and gone on with by
            one of them, for what they left in the program is needed; and those in whose bodies an edit
            names a call.
        batch: seqs of tool calls after `at` that come from the tape all the same.
        notes: what a user should know of all this.
    """

    def __init__(self, tape: Tape, asked: int, edits: Iterable[Edit] = (), *, all_live: bool = False) -> None:
        log = tape.log
        if asked != 0 and not log.first_seq <= asked <= log.last_seq:
            raise UsageError(
                f"--at {asked}: {log.name} has events {log.first_seq} to {log.last_seq} (0: before all)"
            )
        self._tape = tape
        self._edits = list(edits)
        self.all_live = all_live
        self.asked = asked
        self.notes: list[str] = []
        self.recorded = CallIndex(tape)
        self._message: Event | None = None  # that asked for an agent whose result is changed
        asked = self._before_agent(self._changed_around(asked))
        self._session = session_around(tape, self.recorded, asked)
        step = self._call_at(asked) if self._session is None else None
        if self._session is not None:
            self.at = self._before_session(self._session)
        else:
            self.at = self._settle(asked) if step is None else self._before(step)
        self.call = self.recorded.call_of(asked) if self.at >= asked else None
        self.around = self._calls_around(asked)
        self.bodies = frozenset((*self.around, *self._paused_before(), *self._with_edited_calls()))
        self.batch = self._rest_of_batch()
        self._reach = Reach(self._edits, self.at, self.call, self.recorded)
        self.strand = self._strand(step) if self._reach.is_open else None
        self._reach.check([entry for entry in self._tape.entries if self.goes_live(entry)])
        self.notes += self._reach.notes(self.inherited)

    @property
    def chain_id(self) -> str:
        """Of the recording."""
        return self._tape.log.id

    @property
    def inherited(self) -> list[str]:
        """The edits of the forks this recording came of, and its own."""
        return inherited_edits(self._tape)

    # -- what the player asks ----------------------------------------------------------------

    def is_after(self, entry: Entry) -> bool:
        """Whether a recorded crossing lies behind the fork point. A stream that was left to the collector of
        garbage is told at the end of the log; it lies where it began."""
        place = entry.begins if entry.left else entry.seq
        return place > self.at and entry.seq not in self.batch

    def has_left(self, entry: Entry) -> bool:
        """Whether the request of a crossing behind the fork point was sent before it. A call sent again
        after a failure was not: the failure comes before it, and so does what its lane did until then."""
        if entry.begins != entry.seq and entry.begins in self.recorded.crossings:
            return entry.begins < self.at and not self.follows(entry.lane, entry.seq)
        return entry.begins <= self.at

    def goes_live(self, entry: Entry) -> bool:
        """Whether the recorded answer is dropped though the request is the recorded one."""
        follows = entry.seq >= self._reach.since and self.follows(entry.lane, entry.seq)
        return self.is_after(entry) and (self.all_live or follows)

    def follows(self, lane: str, seq: int | None = None) -> bool:
        """Whether calls of that lane, or the recorded one of that event, follow from the forked one."""
        if self.strand is None:
            return False
        entry = None if seq is None else self.recorded.crossings.get(seq)
        return self.strand.has(lane, None if entry is None else entry.begins)

    def is_anew(self, lane: str) -> bool:
        """Whether nothing of the tape comes before what that lane does behind the fork point, or beside."""
        return self.all_live or (self.at == 0 and self.follows(lane))

    @property
    def prefix(self) -> int:
        """Up to this event the fork's log is the recording's to the byte."""
        if self.call is None or not any(self._changes(edit, self.call) for edit in self._edits):
            return self.at
        return min(self.at, self.recorded.beginning(self.call) - 1)

    # -- settling ----------------------------------------------------------------------------

    def _call_at(self, seq: int) -> int | None:
        """The step of the model call which that event is inside or opens, so that it is asked anew."""
        return self.recorded.opened_by.get(seq, seq if seq in self.recorded.calls else self._tried_again(seq))

    def _before(self, step: int) -> int:
        """The last event before a model call."""
        first = min([step, *(at for at, call in self.recorded.opened_by.items() if call == step)])
        where = "opens" if self._tried_again(self.asked) is None else "is between two attempts of"
        self.notes.append(
            f"event {self.asked} {where} the model call of step {step}; forked before it, at {first - 1}"
        )
        return first - 1

    def _before_session(self, around: Around) -> int:
        """The last event before what a session said."""
        what = "Claude's process" if around.entry.name.startswith("SPAWN") else "a live session"
        self.notes.append(
            f"event {self.asked} is inside {what}, with which nobody can go on; forked before it, at "
            f"{around.first - 1}"
        )
        if not around.alone:
            self.all_live = True
            self.notes.append("others were open at that time: all behind the fork point is live")
        return around.first - 1

    def _settle(self, seq: int) -> int:
        lane = self.recorded.lane_of(seq) if seq else None
        for start, event in self.recorded.calls.items():
            end = self.recorded.ends.get(start)
            own = self.recorded.by_step.get(start, ())
            if event.data.get("stream") is not True or end is None or not start < seq < end or not own:
                continue
            if own[-1].left:
                continue  # the program went on without it: its end is the log's
            event_in = self.recorded.events[seq]
            if own[-1].lane == lane and event_in.step != start and seq not in self.recorded.crossings:
                self.notes.append(
                    f"event {seq} is inside the stream of step {start}; forked at its end, {end}"
                )
                return end
        return seq

    def _changed_around(self, asked: int) -> int:
        """That event; or, of one inside a tool call, the end of that if what it gives is changed or its body
        asked for nothing, and what comes before it if its arguments are changed: the body does not run."""
        for entry in self._tape.entries:
            if entry.kind != "tool" or not self.recorded.is_in_body(entry, asked):
                continue
            to, why = entry.seq, ""
            if any(self._changes(edit, entry.seq) for edit in self._edits):
                why = "whose result is changed"
            elif any(self._calls_otherwise(edit, entry) for edit in self._edits):
                to, why = self.recorded.beginning(entry.seq) - 1, "whose arguments are changed"
            elif not any(self.recorded.is_in_body(entry, other.seq) for other in self._tape.entries):
                why = "which asks no model and no tool"
            if why:
                said = f"event {asked} is inside the tool call of event {entry.seq}, {why}"
                self.notes.append(f"{said}; forked at {to}")
                return to
        return asked

    def _calls_otherwise(self, edit: Edit, entry: Entry) -> bool:
        """Whether an edit is about the arguments of that recorded tool call."""
        if edit.side != "input" or not edit.is_of_tool(entry.name):
            return False
        return edit.scope.at in (None, entry.seq) and edit.scope.agent in (None, entry.agent)

    def _before_agent(self, asked: int) -> int:
        """That event; or of the call of a tool that is an agent, and whose result is changed, the end of the
        model call that asked for it: the agent's own calls come before its event, and are of no use then."""
        event = self.recorded.events.get(asked)
        if event is None or event.type != "tool_call" or not event.data.get("subagent"):
            return asked
        tool = event.data.get("tool")
        changed = (e.side == "result" and e.is_of_tool(tool) for e in self._edits)
        message = self.recorded.asking(event) if any(changed) else None
        if message is None or message.step not in self.recorded.ends:
            return asked
        self._message, end = message, self.recorded.ends[message.step]
        what = f"event {asked} is an agent's call, whose result is changed"
        self.notes.append(f"{what}; forked before it, at {end}")
        return end

    def _calls_around(self, asked: int) -> tuple[int, ...]:
        tools = [entry for entry in self._tape.entries if entry.kind == "tool" and entry.seq > self.at]
        found = sorted(entry.seq for entry in tools if self.recorded.is_in_body(entry, asked))
        for seq in found:
            body = "its body runs again, from the tape up to there"
            self.notes.append(f"event {self.asked} is inside the tool call of event {seq}: {body}")
        return tuple(found)

    def _with_edited_calls(self) -> list[int]:
        """Tool calls behind the fork point in whose bodies an edit names a call, by its event or agent."""
        scopes = [e.scope for e in self._edits if e.side != "result" or e.root == "answer"]
        calls = {self.recorded.call_of(scope.at or scope.start or 0) for scope in scopes}
        everywhere, agents = any(scope.everywhere for scope in scopes), {scope.agent for scope in scopes}
        behind = [entry for entry in self._tape.entries if entry.seq > self.at]
        named = sorted(
            entry.seq
            for entry in behind
            if not entry.plain and (everywhere or entry.agent in agents or entry.seq in calls)
        )
        return [
            tool.seq
            for tool in (behind if named else ())
            if tool.kind == "tool"
            and any(
                bisect_left(named, first) < bisect_right(named, last)
                for first, last in body_of(self.recorded.events[tool.seq].data)
            )
        ]

    def _paused_before(self) -> list[int]:
        def name(entry: Entry) -> tuple[Any, ...]:
            return entry.name, self.recorded.events[entry.seq].data.get("call_id")

        names = {name(self.recorded.crossings[seq]) for seq in self.around}
        tools = [entry for entry in self._tape.entries if entry.kind == "tool" and entry.seq < self.at]
        return [
            entry.seq
            for entry in tools
            if names and name(entry) in names and "paused" in self.recorded.events[entry.seq].data
        ]

    def _tried_again(self, seq: int) -> int | None:
        """The step of the model call that failed at this event and was sent again, if a request changes."""
        event = self.recorded.events.get(seq)
        if event is None or event.type not in ("exchange", "error") or event.step not in self.recorded.calls:
            return None
        tries = [entry.seq for entry in self.recorded.by_step.get(event.step, ()) if entry.kind == "exchange"]
        if not tries or not tries[0] <= seq < tries[-1]:
            return None
        changes = any(edit.side == "request" and edit.scope.at is None for edit in self._edits)
        return event.step if changes else None

    def _rest_of_batch(self) -> frozenset[int]:
        """Tool calls behind `at` that the same answer asked for as one before it."""
        if self._message is not None:
            return frozenset(self.recorded.batch(self._message))
        for event in reversed(self.recorded.events.values()):
            if event.seq > self.at or event.type != "message" or event.data.get("sampled") is not True:
                continue
            batch = self.recorded.batch(event)
            done = [seq for seq in batch if seq <= self.at]
            rest = [seq for seq in batch if seq > self.at]
            if done and rest:
                self.notes.append(
                    f"event {self.at} is inside a batch of {len(batch)} tool calls; "
                    f"the rest of it ({', '.join(map(str, rest))}) comes from the tape"
                )
                return frozenset(rest)
        return frozenset()

    # -- lanes -------------------------------------------------------------------------------

    def _strand(self, step: int | None) -> Strand:
        """Of the model call of that step, where the fork is before one; else of the fork point."""
        tries = [entry for entry in self.recorded.by_step.get(step, ()) if step and entry.kind == "exchange"]
        lane = tries[0].lane if tries else self.recorded.lane_of(self.at)
        if self._session is not None:
            lane = self._session.entry.lane
        until = tries[-1].seq if tries else self.at
        around = [(self.recorded.crossings[seq].lane, seq) for seq in self.around]
        served = self._tape.inside_others(self.bodies)  # nobody asks for what their bodies asked for
        entries = [entry for entry in self._tape.entries if entry.seq not in served]
        return Strand(entries, lane, self.at, until, self.batch, around)

    # -- edits -------------------------------------------------------------------------------

    def _changes(self, edit: Edit, call: int) -> bool:
        """Whether a result edit is about that recorded crossing."""
        entry = self.recorded.crossings[call]
        if edit.side != "result" or (edit.scope.agent is not None and edit.scope.agent != entry.agent):
            return False
        if edit.scope.at is not None:
            return self.recorded.call_of(edit.scope.at) == call
        if edit.scope.start is not None and call < edit.scope.start:
            return False
        if edit.root == "tool":
            return entry.kind == "tool" and edit.is_of_tool(entry.name)
        return entry.kind == "exchange" and not entry.plain

    @cached_property
    def live_calls(self) -> list[Entry]:
        """The recorded model calls behind the fork point that will be asked anew, as far as can be told."""
        return [
            entry
            for entry in self._tape.entries
            if entry.kind == "exchange" and not entry.plain and self.is_after(entry)
        ]
