"""A long log is read by a process of its own; what is asked meanwhile is answered, and says how far."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from benchmarks.trace import write_trace
from lctl.analysis.prices import Prices
from lctl.analysis.stats import stats
from lctl.analysis.whatif import what_if
from lctl.chain import Chain
from lctl.codec import open_log
from lctl.debugger import moments, opened, talking
from lctl.debugger.building import Building
from lctl.debugger.opened import Opened
from lctl.debugger.views.conversations import (
    ConversationAsked,
    ConversationsAsked,
    conversation,
    conversations,
)
from lctl.state.summary import state_to_dict
from lctl.state.timeline import Timeline
from tests.unit.debugger.conftest import Debugger

pytestmark = pytest.mark.slow

EVENTS = 6000
_SOON = 60.0  # seconds


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log that counts as long."""
    monkeypatch.setattr(opened, "LONG", 2000)
    monkeypatch.setattr(moments, "_FIRST", 500)
    path = tmp_path / "long.lctl.json"
    write_trace(path, EVENTS)
    return path


@pytest.fixture
def held_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """The reading beside does not begin until this is called."""
    begun = Building.start
    waiting: list[Building] = []
    monkeypatch.setattr(Building, "start", lambda self: waiting.append(self))

    def go() -> None:
        monkeypatch.setattr(Building, "start", begun)
        for one in waiting:
            begun(one)

    yield go


def whole(server: Debugger, path: str, **query: Any) -> Any:
    """The answer, once nothing better will come."""
    deadline = time.monotonic() + _SOON
    while (answer := server.get(path, **query)).get("progress", 1.0) < 1.0:
        assert time.monotonic() < deadline, answer
        time.sleep(0.02)
    return answer


def test_a_state_is_there_before_the_log_has_been_read(
    path: Path, debug: Any, held_back: Callable[[], None]
) -> None:
    """Made of the newest events and said to be so; the true one follows."""
    server = debug(path)
    early = server.get("/api/state", at=5500)
    assert (early["seq"], early["since"]) == (5500, 5500 - 1023)
    assert early["progress"] < 1 and early["diagnostics"] == []
    line = server.get("/api/timeline", width=100)
    assert line["progress"] < 1 and line["edges"][-1] == EVENTS + 1
    assert abs(sum(lane["total"] for lane in line["lanes"]) - EVENTS) < EVENTS / 20
    assert server.get("/api/run")["progress"] < 1
    refused = server.ask("/api/whatif", method="POST", body={"at": 10, "drop": [10]})
    assert refused.error == "conflict"
    held_back()
    late = whole(server, "/api/state", at=5500)
    state = state_to_dict(Timeline(open_log(path)).at(5500))
    assert late["since"] is None
    assert (late["totals"]["events"], late["fact_count"]) == (5500, len(state["facts"]))
    assert late["totals"]["tokens"] == server.get("/api/state", at=5500)["totals"]["tokens"]
    assert whole(server, "/api/run")["progress"] == 1.0


def test_answers_of_a_long_log_are_those_of_a_short_one(
    path: Path, debug: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time bar, state, neighbours, flow and flame graph, once it has been read."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("/api/timeline", {"width": 200}),
        ("/api/timeline", {"from": 4000, "to": 4400, "by": "time"}),
        ("/api/state", {"at": 3000}),
        ("/api/state", {"at": EVENTS}),
        ("/api/neighbour", {"seq": 3000, "what": "error"}),
        ("/api/steps", {"at": 5000, "from": 4000, "to": 5000}),
        ("/api/flow", {"at": 5000}),
        ("/api/calls", {"at": 5000, "offset": 20}),
    ]
    long = debug(path)
    whole(long, "/api/run")
    whole(long, "/api/flow")
    given = [long.get(where, **query) for where, query in asked]
    monkeypatch.setattr(opened, "LONG", 200_000)
    short = debug(path)
    for (where, query), answer in zip(asked, given, strict=True):
        assert answer == whole(short, where, **query), where


def test_conversations_are_there_before_the_tree_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the events just before, then all, then what they cost; a message named is waited for."""
    go, read = threading.Event(), talking._Reading._go

    def held(self: Any) -> None:
        go.wait(_SOON)
        read(self)

    monkeypatch.setattr(talking._Reading, "_go", held)
    monkeypatch.setattr(talking, "WINDOW", 1000)
    run = Opened("long", path, Prices(), helped=False)
    whole = conversations(Opened("long", path, Prices(), helped=False), ConversationsAsked(at=5000))
    asked = ConversationsAsked(at=5000, early=True)
    newest = ConversationAsked(at=5000, early=True, limit=5)
    early = conversations(run, asked)
    assert (early.progress, early.since) == (0.1, 4001)
    assert early.conversations and {one.calls for one in early.conversations} == {0}
    leaves = {one.leaf for one in whole.conversations}
    assert {one.leaf for one in early.conversations if one.active} <= leaves
    last = conversation(run, newest)
    assert last.since == 4001 and last.branches == []
    assert 4900 < last.messages[-1].seq <= 5000
    go.set()
    root = whole.conversations[0].root
    old = conversation(run, ConversationAsked(at=5000, early=True, leaf=root))
    assert (old.leaf, old.since) == (root, None)
    deadline = time.monotonic() + _SOON
    while (late := conversations(run, asked)).progress < 1:
        assert late.since is None and time.monotonic() < deadline
    assert late == whole
    now = conversation(run, newest)
    assert (now.progress, now.since) == (1.0, None)
    assert [one.parts for one in now.messages] == [one.parts for one in last.messages]


def test_costs_of_a_long_log_come_in_two_steps(path: Path, debug: Any) -> None:
    """Sums at once, what takes a reading of every step later; at any seq."""
    server = debug(path)
    whole(server, "/api/run")
    early = server.get("/api/costs", at=4000)
    assert early["progress"] < 1 and early["critical"] == []
    late = whole(server, "/api/costs", at=4000)
    assert late["critical"] and late["tokens"] == early["tokens"]
    known = stats(open_log(path))
    assert whole(server, "/api/costs")["cost"] == pytest.approx(known.cost)


def test_what_if_of_a_long_log_is_that_of_a_short_one(path: Path, debug: Any) -> None:
    """From the state before the change; a stretch behind it is compared."""
    server = debug(path)
    whole(server, "/api/run")
    log = open_log(path)
    fact = next(event for event in log.events(3000) if event.type == "fact_added")
    edits = ["data.confidence=0.05"]
    asked = {"at": fact.seq, "set": edits, "to_seq": fact.seq + 200}
    answer = server.ask("/api/whatif", method="POST", body=asked).json
    found = what_if(Chain.of(log), fact.seq, set=edits, to_seq=fact.seq + 200)
    ours = {
        (one["section"], one["name"], one["field"], orjson.dumps(one["after"])) for one in answer["changes"]
    }
    theirs = {
        (one.section, one.name, one.field, orjson.dumps(one.after))
        for one in found.changes
        if one.section in ("facts", "steps", "agents")
    }
    assert theirs and theirs <= ours
    assert [(one["fact"], one["first"], one["after"]) for one in answer["confidence"]] == [
        (span.fact, span.first, span.after) for span in found.spans
    ]
    assert answer["notes"]


def test_a_reading_that_fails_is_done_by_the_server(path: Path, debug: Any, monkeypatch: Any) -> None:
    """The process cannot be started, or is killed: the answers are the same."""
    monkeypatch.setattr("lctl.debugger.building.sys.executable", "/bin/false")
    state = whole(debug(path), "/api/state", at=5000)
    assert (state["seq"], state["since"], state["totals"]["events"]) == (5000, None, 5000)


def test_a_long_log_that_grows_is_read_on(path: Path, debug: Any) -> None:
    """What was read beside is kept, what came since is added to it."""
    text = path.read_bytes().rstrip()
    lines = text.removesuffix(b"]}").rstrip().split(b"\n")
    path.write_bytes(b"\n".join(lines[:5001]).rstrip(b",") + b"\n")
    server = debug(path)
    assert whole(server, "/api/state")["seq"] == 5000
    path.write_bytes(b"\n".join(lines[:5801]).rstrip(b",") + b"\n")
    time.sleep(0.1)
    state = server.get("/api/state")
    assert (state["seq"], state["totals"]["events"]) == (5800, 5800)
    known = Timeline(open_log(path)).at(5800)
    assert state["fact_count"] == len(known.facts)
    assert state["totals"]["tokens"]["input"] == known.totals.tokens.input
