"""Which tool calls answer what a model asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log
from lctl.errors import UsageError
from lctl.rerun.forks.forking import edits_of
from lctl.rerun.tape.callindex import CallIndex
from lctl.rerun.tape.tape import Tape
from lctl.run.forking import prepare
from lctl.session import LCTLSession
from tests.unit.conversation.events import lines_run

Call = tuple[str | None, str, dict[str, Any]]  # id, tool, input


def asks(session: LCTLSession, *calls: Call) -> None:
    """An answer that asks for tools; without an id, as Ollama's."""
    told = [
        {**({} if id is None else {"id": id}), "function": {"name": tool, "arguments": json.dumps(input)}}
        for id, tool, input in calls
    ]
    session.emit("message", {"role": "assistant", "content": "", "sampled": True, "tool_calls": told})


def runs(session: LCTLSession, *calls: Call) -> None:
    for id, tool, input in calls:
        told = {} if id is None else {"call_id": id}
        session.emit("tool_call", {"tool": tool, "input": input, "output": 1, "duration_ms": 1.0, **told})


def batches(path: Path) -> list[list[int]]:
    index = CallIndex(Tape(open_log(path)))
    return [index.batch(event) for event in index.events.values() if event.type == "message"]


def test_by_ids_by_names_and_by_what_they_are_given(tmp_path: Path) -> None:
    path = tmp_path / "c.lctl.json"
    with LCTLSession("c", path) as session:
        asks(session, ("a", "look", {"n": 1}), ("b", "look", {"n": 1}))  # 1
        runs(session, ("b", "look", {"n": 1}), ("a", "look", {"n": 1}), ("c", "look", {"n": 1}))  # 2 to 4
        asks(session, (None, "look", {"n": 2}), (None, "look", {"n": 2}))  # 5
        runs(session, (None, "see", {"n": 2}), ("x", "look", {"n": 3}))  # 6, 7
        runs(session, ("y", "look", {"n": 2}), (None, "look", {"n": 2, "more": True}))  # 8, 9
        asks(session, ("d", "look", {"n": 4}), ("e", "see", {}))  # 10
        runs(session, (None, "look", {"n": 4}))  # 11: by a wrapper that knows no id
    assert batches(path) == [[3, 2], [8, 9], [11]]


def test_calls_before_an_answer_are_none_of_it(tmp_path: Path) -> None:
    path = tmp_path / "c.lctl.json"
    with LCTLSession("c", path) as session:
        runs(session, ("a", "look", {}), (None, "look", {}))
        asks(session, ("a", "look", {}))
    assert batches(path) == [[]]


def test_a_fork_of_a_log_four_times_as_long_costs_four_times_as_much(tmp_path: Path) -> None:
    """A debugger prepared one of 210,000 events for 20 seconds."""

    def cost(rounds: int) -> int:
        path = tmp_path / f"{rounds}.lctl.json"
        with LCTLSession("c", path) as session:
            for n in range(rounds):
                asks(session, (f"i{n}", "look", {}))
                runs(session, (f"i{n}", "look", {}))
        edits = list(edits_of(['@1 prompt.system+="x"']))

        def refused() -> None:
            with pytest.raises(UsageError, match="part of no model or tool call"):
                prepare(open_log(path), 2 * rounds - 1, edits)

        return lines_run(refused)[1]

    assert cost(400) < 6 * cost(100)
