"""Logs of other writers: what their JSON may hold and ours does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lctl.analysis.log import raw_events
from lctl.analysis.reading import read
from lctl.codec import open_log


@pytest.mark.parametrize("odd", ["NaN", "1e400", '"cut \\ud83d"', "123456789012345678901234567890"])
def test_no_event_is_lost_for_what_it_holds(odd: str, tmp_path: Path) -> None:
    events = [
        {"seq": 1, "type": "step_start", "agent": "a", "data": {"intent": "work"}},
        {"seq": 2, "type": "tool_call", "agent": "a", "step": 1, "data": {"tool": "grep", "output": "ODD"}},
        {
            "seq": 3,
            "type": "step_end",
            "agent": "a",
            "step": 1,
            "data": {"tokens": {"input": 1, "output": 2}},
        },
    ]
    lines = ",\n".join(json.dumps(each, separators=(",", ":")).replace('"ODD"', odd) for each in events)
    path = tmp_path / "run.lctl.json"
    path.write_text('{"lctl":"4.0","chain":{"id":"c"},"events":[\n' + lines + "\n]}\n")
    log = open_log(path)
    assert [event["seq"] for event in raw_events(log)] == [1, 2, 3]
    trace = read(log)
    assert (list(trace.seqs), trace.unread) == ([1, 2, 3], set())
