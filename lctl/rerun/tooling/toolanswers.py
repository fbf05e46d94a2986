"""What answers the tools of a session that is replayed: a mock, the recording, the tool itself, or nobody."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple

from lctl.conversation.hydrated import Hydrated
from lctl.errors import RerunStopped
from lctl.rerun.tooling.toolpolicy import stand_in
from lctl.session import border
from lctl.session.border import Answer, Live, WireRequest
from lctl.session.concurrency.lane import Lane
from lctl.session.tooling import toolresults
from lctl.session.tooling.callids import with_id_of
from lctl.session.tooling.served import Outcome, Served
from lctl.session.tooling.toolcalls import ToolCall
from lctl.state.messages import tool_calls_of, tool_results_of

Tools = Literal["recorded", "live", "dry-run"]
Matching = Literal["fifo", "strict"]
Mocks = Mapping[str, Any]


class Recorded(NamedTuple):
    """A tool call of the recording, and what it gave.

    Attributes:
        number: of the message that asked for it.
        event: the data of its `tool_call` event; None where only messages tell of it.
        output: as its message holds it; None where there is no answer.
    """

    tool: str
    input: Any
    call_id: Any
    number: int
    event: Mapping[str, Any] | None
    output: Any
    answered: bool


class Drift(NamedTuple):
    """A tool that was called with other arguments than in the recording, and given the recorded result."""

    tool: str
    recorded: Any
    given: Any


class Answered(NamedTuple):
    """One call of a tool in a replay; `by` says who answered it."""

    tool: str
    input: Any
    by: Literal["mock", "recorded", "live", "dry-run", "nobody"]


def recordings(session: Hydrated, after: int) -> list[Recorded]:
    """The tool calls that messages of a session after number `after` ask for, in order."""
    events = _Events(session)
    numbered = [(number, node) for number, node in session.numbered() if number > after]
    results: dict[Any, tuple[int, Any]] = {}
    for _, node in numbered:
        for result in tool_results_of(node.data):
            results.setdefault(result["call_id"], (node.seq, result["output"]))
    found = []
    for number, node in numbered:
        for call in tool_calls_of(node.data):
            until, output = results.get(call["id"], (_FAR, None))
            event = events.take(call, node.seq, until)
            answered = event is not None or call["id"] in results
            found.append(
                Recorded(str(call["name"]), call["arguments"], call["id"], number, event, output, answered)
            )
    return found


_FAR = 1 << 62


class _Events:
    """The `tool_call` events of a session's log, each for one call."""

    def __init__(self, session: Hydrated) -> None:
        self._named: dict[Any, Mapping[str, Any]] = {}
        self._others: list[tuple[int, Mapping[str, Any]]] = []
        for event in session.raw_events():
            if event["type"] != "tool_call":
                continue
            data = event["data"]
            id = data.get("call_id")
            if id is None:
                self._others.append((event["seq"], data))
            elif id not in self._named or not data.get("derived"):
                self._named[id] = data

    def take(self, call: Mapping[str, Any], since: int, until: int) -> Mapping[str, Any] | None:
        """The event of a call that a message at `since` asks for and one at `until` answers."""
        named = self._named.get(call["id"])
        if named is not None:
            return named
        for n, (seq, data) in enumerate(self._others):
            fits = since < seq < until and data.get("tool") == call["name"]
            if fits and _covers(call["arguments"], data.get("input")):
                return self._others.pop(n)[1]
        return None


def _covers(asked: Any, input: Any) -> bool:
    """A tool's defaults are among its arguments, but not among those the model gave."""
    if isinstance(asked, Mapping) and isinstance(input, Mapping):
        return all(key in input and input[key] == value for key, value in asked.items())
    return bool(asked == input)


class ToolAnswers(border.Player):
    """Serves the tools of one replay; all else goes on as it is.

    Attributes:
        answered: every call, in order.
        drifts: those given a result that was recorded for other arguments.
        unconsumed: recorded calls that nobody has made (yet).
    """

    def __init__(
        self,
        recorded: list[Recorded],
        tools: Tools,
        mocks: Mocks,
        matching: Matching,
        pure: Collection[str],
    ) -> None:
        self.answered: list[Answered] = []
        self.drifts: list[Drift] = []
        self.unconsumed = [one for one in recorded if one.answered]
        self._tools = tools
        self._mocks = mocks
        self._matching = matching
        self._pure = frozenset(pure)
        self._lock = threading.Lock()

    def exchange(self, request: WireRequest) -> Answer | Live:
        return Live(None, None)

    def ambient(self, source: str, key: str, lane: Lane, number: int) -> tuple[Any] | None:
        return None

    def tool(self, call: ToolCall, lane: Lane, number: int) -> Served | None:
        if call.tool in self._mocks:
            self._note(call, "mock")
            return Served(outcome=_mocked(self._mocks[call.tool], call.input))
        if self._tools == "live":
            self._note(call, "live")
            return None
        with self._lock:
            found = self._take(call)
        if found is not None:
            self._note(call, "recorded")
            return Served(outcome=_outcome(found, call))
        if call.tool in self._pure:
            self._note(call, "live")
            return None
        if self._tools == "dry-run":
            self._note(call, "dry-run")
            return Served(stand_in(call.tool, ""))
        self._note(call, "nobody")
        raise RerunStopped(self._refusal(call))

    def _note(self, call: ToolCall, by: Literal["mock", "recorded", "live", "dry-run", "nobody"]) -> None:
        self.answered.append(Answered(call.tool, call.input, by))

    def _take(self, call: ToolCall) -> Recorded | None:
        """The recorded call that this one is: with the same arguments, else the next one of the tool."""
        mine = [one for one in self.unconsumed if one.tool == call.tool]
        exact = [one for one in mine if _same_input(one, call.input)]
        named = [one for one in exact if call.call_id is not None and one.call_id == call.call_id]
        found = next(iter(named or exact), None)
        if found is None and self._matching == "fifo" and mine:
            found = mine[0]
            self.drifts.append(Drift(call.tool, found.input, call.input))
        if found is not None:
            self.unconsumed.remove(found)
        return found

    def _refusal(self, call: ToolCall) -> str:
        others = [one.input for one in self.unconsumed if one.tool == call.tool]
        known = f"it was recorded with {others[0]!r}" if others else "no call of it is left in the recording"
        return (
            f"{call.tool}({call.input!r}): {known}; give a mock (mocks={{{call.tool!r}: ...}}), name it in "
            "pure=, or replay with tools='dry-run' or 'live'"
        )


def _same_input(recorded: Recorded, input: Any) -> bool:
    if recorded.event is not None:
        return bool(recorded.event.get("input") == input)
    return _covers(recorded.input, input)


def _mocked(mock: Any, input: Mapping[str, Any]) -> Outcome:
    if isinstance(mock, BaseException):
        return Outcome(error=mock)
    if not callable(mock):
        return Outcome(mock)
    run: Callable[..., Any] = mock
    try:
        return Outcome(run(**input))
    except Exception as error:
        return Outcome(error=error)


def _outcome(recorded: Recorded, call: ToolCall) -> Outcome:
    if recorded.event is not None:
        given = call._replace(owner=None)  # it is not as it was
        event = with_id_of(recorded.event, call)
        found = toolresults.outcome({**event, "tape": _plain_tape(event, call)}, given)
        if found is not None:
            return found._replace(fields=None, inside=(), wrote=())
    return Outcome(recorded.output)


def _plain_tape(event: Mapping[str, Any], call: ToolCall) -> Any:
    """The event's tape, if it is for arguments of this shape and not an order to run the tool."""
    tape = event.get("tape")
    given = 0 if call.given is None else len(call.given.nodes)
    if not isinstance(tape, Mapping) or "executed" in tape or tape.get("given", 0) != given:
        return None
    return tape
