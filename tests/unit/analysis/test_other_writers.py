"""Logs of other writers: what their JSON may hold and ours does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lctl.analysis.log import raw_events
from lctl.analysis.reading import read
from lctl.analysis.surveying import survey
from lctl.chain import Chain
from lctl.codec import open_log
from lctl.payloads import check
from lctl.spans import spans_of
from lctl.state.model import Tokens


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


def test_the_keys_around_the_data_are_of_their_types() -> None:
    """Whoever reads an event need not ask."""
    odd = {"seq": 1, "type": {}, "timestamp": 7, "agent": ["a"], "step": "1", "data": "text"}
    log = open_log(json.dumps([odd, {"seq": 2, "type": "note", "step": 1, "data": {"x": 1}}]).encode())
    assert list(raw_events(log)) == [
        {"seq": 1, "type": "", "timestamp": "", "agent": "", "data": {}},
        {"seq": 2, "type": "note", "timestamp": "", "agent": "", "step": 1, "data": {"x": 1}},
    ]


@pytest.mark.parametrize(
    ("written", "counted"), [("10", 10), ("10.0", 10), ("10.5", 0), ('"10"', 0), ("true", 0), ("-1", 0)]
)
def test_a_count_is_one_everywhere(written: str, counted: int, tmp_path: Path) -> None:
    """`10.0` is a whole number: in the state, the statistics, a session's sums, spans and to `validate`."""
    end = '{"seq":2,"type":"step_end","step":1,"data":{"session_id":"s","tokens":{"input":N}}}'
    lines = '{"seq":1,"type":"step_start","data":{"kind":"llm","model":"m","session_id":"s"}},\n' + end
    raw = '{"lctl":"4.0","chain":{"id":"c"},"events":[\n' + lines.replace("N", written) + "\n]}\n"
    chain = Chain.of(open_log(raw.encode()))
    assert chain.state.totals.tokens.input == counted
    assert survey(chain.log).steps[1].tokens == (Tokens(input=counted) if counted else None)
    assert chain.sessions["s"].totals.input == counted
    _, span = spans_of(chain.log)  # behind the chain's own
    assert span.attributes.get("gen_ai.usage.input_tokens", 0) == counted
    assert bool(check(chain.log.event(2))) is not bool(counted)
