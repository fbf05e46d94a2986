"""Serves the tool calls of a recorded log by lane and number, as a rerun does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from lctl.errors import RerunStopped
from lctl.session import LCTLSession, border
from lctl.session.border import Answer, Live, WireRequest
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane
from lctl.session.tooling import toolresults
from lctl.session.tooling.served import Served
from lctl.session.tooling.toolcalls import ToolCall
from tests.unit.session.conftest import Open


class ToolPlayer(border.Player):
    """Strict: another tool or input than the recorded one stops."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self._events = events
        self._calls: dict[tuple[str, int], dict[str, Any]] = {}
        for lane, calls in _by_lane(events).items():
            self._calls |= {(lane, n): data for n, data in enumerate(calls, 1)}
        self.executed: list[str] = []
        self.served = 0

    def exchange(self, request: WireRequest) -> Answer | Live:
        raise RerunStopped(request.url)

    def ambient(self, source: str, key: str, lane: Lane, number: int) -> tuple[Any] | None:
        return None

    def tool(self, call: ToolCall, lane: Lane, number: int) -> Served | None:
        data = self._calls.get((lane.path, number))
        if data is None or data["tool"] != call.tool or data["input"] != call.input:
            raise RerunStopped(f"{call.tool}, call {number} of lane {lane.path}: not on the tape")
        outcome = toolresults.outcome(data, call)
        if outcome is None:
            self.executed.append(call.tool)
            return None
        self.served += 1
        served = Served(outcome=outcome)
        served.events = [
            event for event in self._events if any(a <= event["seq"] <= b for a, b in outcome.inside)
        ]
        return served


def _by_lane(events: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The calls of each lane in the order of their start: one without `at` was alone, so file order holds
    around it."""
    groups: dict[str, list[list[dict[str, Any]]]] = {}
    for event in events:
        if event["type"] == "tool_call":
            data = event["data"]
            lane = groups.setdefault(data.get("lane", "0"), [[]])
            if "at" in data:
                lane[-1].append(data)
            else:
                lane += [data], []
    return {
        lane: [data for part in parts for data in sorted(part, key=lambda data: data.get("at", 0.0))]
        for lane, parts in groups.items()
    }


def recorded(session: LCTLSession) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in session.lines()]


@contextmanager
def serving(events: list[dict[str, Any]]) -> Iterator[ToolPlayer]:
    """With lanes of its own, as a process of its own would have."""
    player = ToolPlayer(events)
    serving: Any = player  # of tools alone
    border.set_player(serving)
    token = lanes.enter(Lane("0"))
    try:
        yield player
    finally:
        lanes.leave(token)
        border.set_player(None)


@contextmanager
def recording() -> Iterator[None]:
    token = lanes.enter(Lane("0"))
    try:
        yield
    finally:
        lanes.leave(token)


def essence(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events without what is new in each run."""
    return [
        {
            **event,
            "timestamp": "",
            "data": {
                k: v for k, v in event["data"].items() if k not in ("duration_ms", "at", "turn", "began")
            },
        }
        for event in events
    ]


def again(open_session: Open, program: Callable[[], Any], times: int = 3) -> Any:
    """Record the program, serve it `times` times; what it gave, which must be the same each time."""
    with open_session("recording") as session, recording():
        first = program()
    events = recorded(session)
    for n in range(times):
        with open_session(f"again{n}") as session, serving(events) as player:
            assert program() == first
        assert player.executed == []
        assert essence(recorded(session)) == essence(events)
    return first


class Declined(Exception):
    """Its arguments are none of what it keeps."""

    def __init__(self, code: int, *, account: str) -> None:
        super().__init__(f"declined: {code}")
        self.code = code
        self.account = account
