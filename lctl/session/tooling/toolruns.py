"""One call of a tool, from its beginning to its event: the place every call goes through.

Where a player serves the program (`lctl.session.border`), a recorded call gives what it gave and its
body does not run. The body has a lane of its own: what it does is skipped with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lctl.errors import RerunStopped
from lctl.guard import guard
from lctl.record.recorder import Draft
from lctl.session import border, hooks, jsonable, reported
from lctl.session.concurrency import lanes, turns
from lctl.session.concurrency.comings import Coming
from lctl.session.concurrency.lane import Lane
from lctl.session.default import get_session
from lctl.session.faithful import Given
from lctl.session.faithful.owners import owner_of
from lctl.session.runs import context, untouched
from lctl.session.runs.wrappedruns import Run
from lctl.session.session import LCTLSession
from lctl.session.tooling import toolresults
from lctl.session.tooling.beneath import Beneath, is_reported
from lctl.session.tooling.generators import Draws
from lctl.session.tooling.rebinding import cannot_rewrite, rebound
from lctl.session.tooling.receiving import Incoming
from lctl.session.tooling.served import Rewritten, Served
from lctl.session.tooling.signalling import Signals
from lctl.session.tooling.toolcalls import ToolCall
from lctl.session.tooling.toolendings import said_of_end, tape_of_end
from lctl.session.tooling.toolevents import Change, with_body
from lctl.session.tooling.toolresults import Items
from lctl.session.tooling.wrote import Again, Body, streams

#: Of a tape: what the call changed.
_CHANGES = frozenset({"after", "within", "owner"})


def begin_tool(
    name: str,
    input: dict[str, Any],
    *,
    call_id: str | None = None,
    shown: Callable[[Any], Any] | None = None,
    paused: Callable[[BaseException], Any] | None = None,
    beside: Iterable[Any] = (),
    function: Any = None,
    incoming: Incoming | None = None,
    wraps: Callable[[Any], Any] | None = None,
    rebind: Callable[[dict[str, Any]], None] | None = None,
    agent: bool = False,
    mcp: str | None = None,
) -> ToolRun | None:
    """A call of the tool `name` begins, for `wrapping.wrap`. None where it is reported already: a call made
    in the body of another of the same name, with its input, is that call seen a layer below.

    Args:
        paused: of an exception that leaves the tool to be gone on with later, what it waits for; None of
            one that is a failure.
        beside: what the tool can change though it is no argument of its call.
        function: the tool itself. If it is a method, what it changes of its object is kept.
        incoming: what comes from outside while it is under way, beside its result.
        wraps: the way back from what `shown` gives: see `ToolCall`.
        rebind: is told the arguments that a fork puts in place of `input`, before the tool runs with them. If
            there is none, they are put where they are found among those of the wrapped function.
        agent, mcp: see `ToolCall`.
    """
    plain = jsonable.plain(input)
    if is_reported(name, plain):
        return None
    owner = owner_of(function, input.values())
    beside = list(beside)
    given = Given(input.values(), beside)
    values = (*input.values(), *beside)
    call = ToolCall(name, plain, call_id, given, owner, incoming, wraps, agent, mcp, values)
    return ToolRun(call, shown, paused, rebind)


class ToolRun(Run):
    """One call of a tool; becomes a `tool_call` event in the step it was made in."""

    follows = True

    def __init__(
        self,
        call: ToolCall,
        shown: Callable[[Any], Any] | None = None,
        paused: Callable[[BaseException], Any] | None = None,
        rebind: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        self._call = call
        self._shown, self._paused, self._rebind = shown, paused, rebind
        self._given = call.given or Given(())
        self._items: Items | None = None
        self._comings: list[Coming] = []
        self._asked: dict[str, Any] | None = None
        self.session = get_session()
        if self.session is not None:
            place = self.session.frame()
            self._agent, self._step = place.agent, place.step
            self._moment = self.session.under_way.begin()
        self.frame = context.raw()
        lane = lanes.current()
        # Within another tool's body it orders nothing that a rerun does: the call is served as a whole.
        self._began = turns.since() if turns.counting and lane.tool is None else None
        if call.incoming is not None and self.session is not None:
            call.incoming.begin(self.session.clock, self._moment, lane.tool is None)
        number = lane.number("tool")
        player = border.player()
        self._made_before = False
        if player is not None:
            self.served = _asked(player, call, lane, number)
        elif self.session is not None and self.session.answers is not None:
            self._ask_earlier(self.session, call)
        self._outer, self._number = lane, number
        self._again: Again | None = None
        self._draws: Draws | None = None
        if self.served is None:
            if call.owner is not None:
                call.owner.look()
            self.lane = self._body(call.input)
        elif self.served.outcome.wrote:
            body = lane.body(number, call.tool).path
            self._again = Again(self.served.outcome.wrote, lane.wrote, body)
            self._again.begin()

    def _body(self, input: Mapping[str, Any]) -> Lane:
        self._draws = Draws()
        lane = self._outer.body(self._number, self._call.tool, input)
        if self._call.mcp is not None:
            lane.beneath = Beneath(self._call.mcp)
        if streams.writers:
            lane.wrote = Body(self._outer.wrote)
        if self.session is not None:
            lane.signals = self._signals(self.session)
        return lane

    def _signals(self, session: LCTLSession) -> Signals:
        call, given, outer = self._call, self._given, self._outer
        signals = Signals(call, given, outer.signals, session.clock, self._moment, outer.tool is None)
        if given.waits or (call.owner is not None and call.owner.waits):
            signals.begin()
        return signals

    def _ask_earlier(self, session: LCTLSession, call: ToolCall) -> None:
        """A call that an earlier process made is in the log already."""
        made = None
        with guard("a tool call made before"):
            made = session.answers(call.tool, call.input, call.call_id) if session.answers else None
        if made is not None:
            self.served, self._made_before = Served(made.value), True

    def around(self) -> Lane:
        """The lane of what a framework does about a call that is served: the recorded body's."""
        lane = self._outer.body(self._number, self._call.tool, self._call.input)
        lane.wrote = self._again or lane.wrote
        return lane

    def rewritten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raises RerunStopped where it is not known how this tool is called with other arguments."""
        if not isinstance(self.served, Rewritten):
            return
        input = self.served.input
        if self._rebind is not None:
            self._rebind(input)
        else:
            self.arguments = rebound(args, kwargs, self._call.input, input)
            player = border.player()
            if self.arguments is None and player is not None:
                raise player.stopped(cannot_rewrite(self._call.tool, input))
        self.rewrite(input)

    def rewrite(self, input: dict[str, Any]) -> None:
        """The tool runs with other arguments than it was called with."""
        self.served = None
        self.lane = self._body(input)
        self._asked = self._call.input
        self._call = self._call._replace(input=jsonable.plain(input))
        if self._call.owner is not None:
            self._call.owner.look()

    def iterates(self) -> None:
        self._items = Items(self._given)

    def yielded(self, value: Any) -> None:
        if self._items is None:
            self.iterates()
        assert self._items is not None
        self._items.add(value)
        if self.asked is None or self.session is None or self._outer.tool is not None:
            return
        if len(self._comings) < toolresults.MOST_ITEMS:
            self._comings.append(Coming.now(self.session.under_way.since(self._moment), self._is_at_once()))

    def _is_at_once(self) -> bool:
        """Of a generator: whether it has gone on in the turn in which it was asked to."""
        return self.asked is not None and self.asked == turns.now()

    def returned(self, value: Any) -> None:
        if self._items is None:
            self._record({"output": value})
        else:
            self._record({} if value is None else {"returned": value})

    def failed(self, error: BaseException) -> None:
        if isinstance(error, RerunStopped):
            if self._again is not None:
                self._again.end(give_all=False)
            if self.session is not None:
                self.session.under_way.end(self._moment)
        elif self._items is not None and self._items.count and isinstance(error, GeneratorExit):
            self._record({}, closed_early=True)
        else:
            self._record({"error": error})

    def left(self) -> None:
        if self.gives != "coroutine":
            self._items = Items(self._given)
        self._record({}, closed_early=True, delivers=False)
        self.session = None  # a generator that outlives it may still be begun with

    def _record(self, parts: dict[str, Any], closed_early: bool = False, delivers: bool = True) -> None:
        served, session = self.served, self.session
        count = None if self._items is None else self._items.count
        error = parts.get("error")
        is_same = served is not None and served.outcome.is_given_by(error, count, closed_early)
        if self._again is not None:
            self._again.end(give_all=is_same)
        if session is None:
            return
        signals = None if self.lane is None else self.lane.signals
        if signals is not None and signals.is_begun:
            with guard("what a tool did that others wait for"):
                signals.end()
        elif signals is not None:
            signals.close()
        session.under_way.end(self._moment, delivers, self._is_at_once())
        if self._made_before:
            return
        if self.lane is not None and session.body_ended is not None:
            with guard("what a tool's body has read"):
                session.body_ended(self.lane)
        ended_ns = session.under_way.reading()
        more = self._about(session, ended_ns)
        seen = session.changes

        def draft(result: Mapping[str, Any]) -> Draft:
            ran = None if served is None else served.ran
            head = {"tool": self._call.tool, "input": self._call.input if ran is None else ran}
            return "tool_call", self._agent, {**head, **result, **more}, self._step

        if served is not None and is_same:
            result: Mapping[str, Any] = served.outcome.fields or {}
        else:
            result = self._result(parts, closed_early)
        if served is not None and served.events:
            session.emit_many(with_body(session, served.events, draft(result), served.placed))
            return
        returning = session.returns.begin(ended_ns=ended_ns)
        if served is not None and served.placed:
            seq = session.emit_many(with_body(session, (), draft(result), served.placed))
        elif served is None and not _CHANGES.isdisjoint(result.get("tape") or ()):
            change = Change(session, draft(result), seen, lambda: draft(self._result(parts, closed_early)))
            seq = change.record()
        else:
            seq = session.emit("tool_call", draft(result)[2], agent=self._agent, step=self._step)
        if self._outer.inside is not None:
            if served is not None:
                self._outer.inside.extend(served.outcome.inside)
            elif self.lane is not None:
                self._outer.inside.extend(self.lane.inside or ())
        session.returns.end(returning, seq)

    def _about(self, session: LCTLSession, ended_ns: int) -> dict[str, Any]:
        """What the event says beside the call and its result."""
        made: dict[str, Any] = {"duration_ms": session.under_way.between(self._moment.ns, ended_ns)}
        if self._asked is not None:
            made["asked"] = self._asked
        elif self.served is not None and self.served.ran is not None:
            made["asked"] = self._call.input
        call_id = self._call.call_id
        if self.served is not None and self.served.call_id is not None:
            call_id = self.served.call_id
        if call_id is not None:
            made["call_id"] = call_id
        made |= session.under_way.fields(self._moment, reported.is_full())
        if self._began is not None and "at" in made:
            made["began"] = self._began
        if self.served is not None and self.served.match is not None:
            made["match"] = self.served.match
        return made

    def _result(self, parts: dict[str, Any], closed_early: bool) -> dict[str, Any]:
        """What the event says of how the call ended, and its tape."""
        items, shown = self._items, self._shown
        result = said_of_end(parts, items, shown, self._paused, closed_early=closed_early)
        beneath = None if self.lane is None else self.lane.beneath
        if beneath is not None and beneath.failure is not None and "output" in result:
            del result["output"]
            result["error"] = beneath.failure._asdict()
        is_shown = items is not None or result.get("output") is parts.get("output")
        tape = toolresults.tape_of(self._call.tool, self._given, parts, items, is_shown)
        output = parts.get("output")
        tape = tape_of_end(
            self._call, self._given, tape, self.lane, self._comings, self.gives, output, self._draws
        )
        if tape is not None:
            result["tape"] = tape
        return result


def _asked(player: border.Player, call: ToolCall, lane: Lane, number: int) -> Served | None:
    """What the player gives. Whatever fails there, the tool is not run for it."""
    try:
        return player.tool(call, lane, number)
    except Exception as error:
        raise RerunStopped(
            f"the recorded result of {call.tool} cannot be given: {type(error).__name__}: {error}"
        ) from error


hooks.on_closing.append(untouched.end)
