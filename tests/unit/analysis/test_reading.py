"""A log is read into columns many lines at a time, and gives what it gives line by line."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lctl.analysis.reading import read
from lctl.codec import Log, open_log

#: What may stand in place of an event's line.
_DAMAGED = (
    '{"seq":N,"type":"note","agent":"a","da',
    "not json at all",
    '"a text"',
    '{"type":"note","data":{}}',
    '{"seq":"N","type":"note","data":{}}',
    '{"seq":N,"type":"note","agent":["a"],"step":"1","data":"x"}',
    '{"seq":N,"type":7,"agent":"a","data":{"x":1e400}}',
    '{"seq":N, "type": "note", "agent": "a", "data": {"x": [1, {"y": "{\\"seq\\":1}"}]}}',
)


def _line_by_line(log: Log) -> tuple[list[tuple[int, str, str]], set[int]]:
    """(seq, type, agent) of each event, and the numbers of the lines that hold none."""
    found, unread = [], set()
    for number, line in enumerate(log.lines()):
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        if not isinstance(event, dict) or type(event.get("seq")) is not int:
            unread.add(number)
            continue
        agent = event.get("agent")
        found.append((event["seq"], str(event.get("type")), agent if isinstance(agent, str) else ""))
    return found, unread


def _check(log: Log) -> int:
    trace = read(log)
    expected, unread = _line_by_line(log)
    assert list(zip(trace.seqs, trace.types, trace.agents, strict=True)) == expected
    assert trace.unread == unread
    return len(expected)


@given(st.lists(st.sampled_from([None, *_DAMAGED]), min_size=1, max_size=40), st.booleans())
def test_damaged_lines_are_read_as_far_as_they_go(lines: list[str | None], as_lines: bool) -> None:
    """In a log as lctl writes it, and in JSON Lines."""
    written = [
        (damage or '{"seq":N,"type":"tool_call","agent":"b","data":{"tool":"tN"}}').replace("N", str(n))
        for n, damage in enumerate(lines, 2)
    ]
    first = '{"seq":1,"type":"note","agent":"a","data":{}}'
    head = '{"lctl":"4.0","chain":{"id":"c"},"events":[\n'
    if as_lines:
        _check(open_log("\n".join([first, *written, ""]).encode()))
    else:
        _check(open_log((head + ",\n".join([first, *written]) + "\n]}\n").encode()))


def test_more_than_one_block(tmp_path: Path) -> None:
    """Long lines and short ones, in the middle one that holds no event."""
    texts = ("x" * (n * 97 % 3000) for n in range(1, 400))
    lines = [f'{{"seq":{n},"type":"note","data":{{"text":"{text}"}}}}' for n, text in enumerate(texts, 1)]
    lines[200] = '{"type":"note","data":{}}'
    path = tmp_path / "run.lctl.json"
    path.write_text('{"lctl":"4.0","chain":{"id":"c"},"events":[\n' + ",\n".join(lines) + "\n]}\n")
    assert _check(open_log(path)) == 398
