"""What a writer got wrong is read around, and said with its line and event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from lctl.codec import Log, open_log, validate
from tests.unit.codec.samples import closed, document, event, head, jsonl, opened


def raw_lines(*rows: bytes) -> bytes:
    return head() + b"\n" + b",\n".join(rows) + b"\n]}\n"


def row(seq: int, **more: Any) -> bytes:
    return orjson.dumps(event(seq, **more))


def seqs(log: Log) -> list[int]:
    return [e.seq for e in log.events()]


def told(log: Log) -> list[str]:
    return [str(p) for p in log.problems]


DAMAGE: dict[str, tuple[list[Any], list[int], list[str]]] = {
    # name: (events as written, seqs read, problems by line of a journal)
    "a seq twice": (
        [event(1), event(2, "first"), event(2, "first"), event(3)],
        [1, 2, 3],
        ["line 4, event 2: seq is there twice; the one at line 3 stands"],
    ),
    "a seq by two writers": (
        [event(1), event(2, "first"), event(2, "second"), event(3)],
        [1, 2, 3, 4],
        [
            (
                "line 4, event 2: seq is there twice, by two writers; the one at line 3 stands, "
                "this one is read as event 4"
            )
        ],
    ),
    "a seq missing": (
        [event(1), event(4), event(5), event(7)],
        [1, 4, 5, 7],
        [
            "line 3, event 4: events 2 to 3 are missing before it",
            "line 5, event 7: event 6 is missing before it",
        ],
    ),
    "the beginning missing": (
        [event(3), event(4)],
        [3, 4],
        ["line 2, event 3: events 1 to 2 are missing before it"],
    ),
    "out of order": (
        [event(1), event(3), event(2), event(4)],
        [1, 2, 3, 4],
        ["line 4, event 2: out of order: it comes after 3; read in its place by seq"],
    ),
    "an event without seq where one is missing": (
        [event(1), {**event(0), "seq": None}, event(3)],
        [1, 2, 3],
        ["line 3, event 2: seq: expected a whole number from 1, got null; read as 2, its place"],
    ),
    "an event without seq and no place for it": (
        [event(1), {"type": "x", "data": {}}, event(2)],
        [1, 2],
        ["line 3: seq: missing, and its place is taken; left out"],
    ),
    "seqs as text and as fractions": (
        [event(1), {**event(0), "seq": "2"}, {**event(0), "seq": 3.0}, event(4)],
        [1, 2, 3, 4],
        [
            "line 3, event 2: seq: expected a whole number, got '2'; read as 2",
            "line 4, event 3: seq: expected a whole number, got 3.0; read as 3",
        ],
    ),
    "seqs that are no numbers": (
        [event(1), {**event(0), "seq": True}, {**event(0), "seq": -4}, {**event(0), "seq": 2.5}],
        [1, 2, 3, 4],
        [
            "line 3, event 2: seq: expected a whole number from 1, got true; read as 2, its place",
            "line 4, event 3: seq: expected a whole number from 1, got -4; read as 3, its place",
            "line 5, event 4: seq: expected a whole number from 1, got 2.5; read as 4, its place",
        ],
    ),
    "events that are no objects": (
        [event(1), 350, None, "x", [1], event(2)],
        [1, 2],
        [
            "line 3: event: expected an object, got 350; left out",
            "line 4: event: expected an object, got null; left out",
            "line 5: event: expected an object, got 'x'; left out",
            "line 6: event: expected an object, got a list; left out",
        ],
    ),
    "wrong types around the data": (
        [
            {**event(1), "agent": None, "timestamp": 1705314600},
            {**event(2), "step": "one", "type": 5},
            {**event(3), "data": None},
            {**event(4), "data": "x", "timestamp": "yesterday"},
            {"seq": 5, "data": {}},
        ],
        [1, 2, 3, 4, 5],
        [
            "line 2, event 1: timestamp: expected text, got 1705314600",
            "line 2, event 1: agent: expected text, got null",
            "line 3, event 2: type: expected text, got 5",
            "line 3, event 2: step: expected the seq of a step, got 'one'",
            "line 4, event 3: data: expected an object, got null",
            "line 5, event 4: timestamp: expected a time like 2024-01-15T10:30:00Z, got 'yesterday'",
            "line 5, event 4: data: expected an object, got 'x'",
            "line 6, event 5: type: missing; the event is kept and passed over",
        ],
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_journal_is_read_around_and_its_damage_said(name: str) -> None:
    """Each problem with its line and its event; the rest of the log is there."""
    events, kept, problems = DAMAGE[name]
    log = open_log(raw_lines(*map(orjson.dumps, events)))
    assert told(log) == problems
    assert (seqs(log), len(log)) == (kept, len(kept))
    assert [json.loads(line)["seq"] for line in log.lines()] == kept
    assert [e.seq for e in log.events(2, 4)] == [seq for seq in kept if 2 <= seq < 4]


@pytest.mark.parametrize("name", DAMAGE)
def test_the_same_damage_reads_the_same_in_every_form(name: str) -> None:
    """Pretty JSON and JSON Lines name their own lines; what is read is the same."""
    events, kept, problems = DAMAGE[name]
    journal = open_log(raw_lines(*map(orjson.dumps, events)))
    expected = [e.to_dict() for e in journal.events()]
    texts = sorted(p.split(": ", 1)[1].replace("the one at line 3", "the one") for p in problems)
    for raw in (document(events, 1), document(events), jsonl(events, compact=False)):
        log = open_log(raw)
        found = told(log)
        assert [e.to_dict() for e in log.events()] == expected
        assert seqs(log) == kept
        lines_removed = sorted(_without_lines(p) for p in found)
        assert lines_removed == texts
        assert all("line " in p for p in found)


def _without_lines(text: str) -> str:
    body = text.split(": ", 1)[1]
    head, mark, tail = body.partition("the one at line ")
    return f"{head}the one {tail.split(' ', 1)[1]}" if mark else body


def test_pretty_json_problems_name_the_line_of_the_event() -> None:
    """The line where the event's object begins, as an editor counts."""
    raw = document([event(1), event(2), {**event(3), "agent": 5}], indent=2)
    (problem,) = open_log(raw).problems
    assert problem.line is not None
    assert raw.split(b"\n")[problem.line - 1].strip() == b"{"
    assert raw.split(b"\n")[problem.line].strip() == b'"seq": 3,'


def test_a_line_that_is_not_json_costs_itself_only() -> None:
    """Events before and after a broken line are read."""
    log = open_log(raw_lines(row(1), b'{"seq":2,"type":"fact_added","da', row(3), b'{"seq":4,}', row(5)))
    assert seqs(log) == [1, 3, 5]
    assert told(log) == [
        "line 3: not JSON; left out",
        "line 4, event 3: event 2 is missing before it",
        "line 5: not JSON; left out",
        "line 6, event 5: event 4 is missing before it",
    ]
    assert log.event(3).seq == 3


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (b'{"lctl"', b'\xfb"lctl"'),
        (b'"id":"', b'"id":\x01"'),
        (b'"id"', b'"id'),
        (b'"chain":', b'"chain"\x00'),
        (b'"events":[', b'"evdnts":['),
        (b'{"lctl":"4.0",', b""),
    ],
)
def test_a_header_that_cannot_be_read_costs_itself_only(right: bytes, wrong: bytes) -> None:
    """Whatever happened to the first line, the events below it are whole."""
    log = open_log(closed([event(1), event(2), event(3)]).replace(right, wrong, 1))
    assert seqs(log) == [1, 2, 3]
    assert told(log)[0] == "line 1: the header cannot be read; what it says of the chain is left out"
    assert not log.open and log.recovered is None


def test_the_first_event_is_lost_where_its_line_is_the_header_s() -> None:
    """A line feed that became something else joins the two."""
    log = open_log(opened([event(1), event(2), event(3)]).replace(b"\n", b"?", 1))
    assert seqs(log) == [2, 3]
    assert told(log)[1] == "line 2, event 2: event 1 is missing before it"


def test_an_event_nested_too_deeply_costs_itself_only() -> None:
    """A value of a hundred thousand brackets is named, not followed."""
    deep = b'{"seq":2,"type":"x","data":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    log = open_log(raw_lines(row(1), deep, row(3)))
    assert seqs(log) == [1, 3]
    assert told(log)[0] == "line 3: nested too deeply; left out"
    log = open_log(raw_lines(deep.replace(b'"seq":2', b'"seq":1')))
    assert seqs(log) == [] and log.id == open_log(raw_lines(row(1))).id != ""
    assert told(log)[0] == "line 2: nested too deeply; left out"


def test_a_large_closed_journal_is_trusted_until_it_proves_wrong(tmp_path: Path) -> None:
    """Its count agrees, so nothing is scanned; meeting the damage on the way changes that."""
    events = [event(n, "x" * 600) for n in range(1, 2001)]
    events[1200], events[1201] = events[1201], events[1200]  # as many as before, out of order
    path = tmp_path / "run.lctl.json"
    path.write_bytes(closed(events))
    assert seqs(open_log(path)) == list(range(1, 2001))
    assert [e.seq for e in open_log(path).events(1199, 1204)] == [1199, 1200, 1201, 1202, 1203]
    assert open_log(path).event(1202).seq == 1202
    assert told(open_log(path)) == [
        "line 1203, event 1201: out of order: it comes after 1202; read in its place by seq"
    ]


def test_a_large_open_journal_with_a_broken_line_is_read_around(tmp_path: Path) -> None:
    """Damage far inside an unclosed log is met while reading, once."""
    events = [event(n, "x" * 600) for n in range(1, 2001)]
    raw = opened(events)
    at = raw.index(b'"seq":1500,')
    path = tmp_path / "run.lctl.json"
    path.write_bytes(raw[: at + 20] + b"\xff\xfe\0" + raw[at + 23 :])
    log = open_log(path)
    assert seqs(log) == [n for n in range(1, 2001) if n != 1500]
    assert len(log) == 1999
    assert [e.seq for e in log.events(1499, 1502)] == [1499, 1501]


def test_a_fork_begins_after_its_parent() -> None:
    """A chain with a parent goes on with the next number; that is not a gap, a later one is."""
    chain = {"id": "c2", "parent": {"id": "c1", "seq": 41}}
    assert open_log(closed([event(42), event(43)], chain=chain)).problems == []
    assert open_log(document([event(42)], chain=chain)).problems == []
    assert told(open_log(opened([event(44)], chain=chain))) == [
        "line 2, event 44: events 42 to 43 are missing before it"
    ]


@pytest.mark.parametrize(
    ("top", "problem"),
    [
        ({"chain": None}, "line 1: chain: missing; expected an object with an id"),
        ({"chain": "c1"}, "line 1: chain: expected an object with an id, got 'c1'"),
        ({"chain": {}}, "line 1: chain.id: missing"),
        ({"events": None}, "events: expected a list, got null"),
        ({"events": {"1": {}}}, "events: expected a list, got dict"),
    ],
)
def test_a_header_that_is_not_right_is_said(top: dict[str, Any], problem: str) -> None:
    """The log opens all the same."""
    doc = {"lctl": "4.0", "chain": {"id": "c1"}, "events": [event(1)], **top}
    log = open_log(json.dumps(doc).encode())
    assert told(log) == [problem]
    assert log.id == ("c1" if "events" in top or top["chain"] == "c1" else "")


def test_a_log_that_names_no_version_is_read_as_this_one() -> None:
    """Fragments of the protocol's text have no `lctl` key."""
    log = open_log(json.dumps({"events": [event(1)]}).encode())
    assert (log.version, seqs(log)) == ("4.0", [1])
    assert told(log) == [
        "line 1: lctl: missing; read as version 4.0",
        "line 1: chain: missing; expected an object with an id",
    ]


def test_bytes_that_are_not_utf8_are_said() -> None:
    """A document in another encoding is read as far as it can be."""
    raw = document([event(1, "cafe")]).replace(b"cafe", b"caf\xe9")
    log = open_log(raw)
    assert log.event(1).data["text"] == "caf\N{REPLACEMENT CHARACTER}"
    assert told(log) == ["line 1: not UTF-8 from here on; such bytes are read as \N{REPLACEMENT CHARACTER}"]


def test_validate_lists_everything_once_in_order_of_place() -> None:
    """Structure and data together; the issue's own examples."""
    events = [
        {**event(1), "type": "step_end", "data": {"tokens": 350}},
        {**event(2), "data": {"id": "F1", "confidence": "high"}},
        {**event(3), "data": None},
        event(3),
        event(6),
    ]
    for raw in (raw_lines(*map(orjson.dumps, events)), jsonl(events)):
        log = open_log(raw)
        assert [str(p) for p in validate(log)] == [
            "line 2, event 1: tokens: expected an object with input and output, got 350",
            "line 3, event 2: confidence: expected a number from 0 to 1, got 'high'",
            "line 4, event 3: data: expected an object, got null",
            (
                "line 5, event 3: seq is there twice, by two writers; the one at line 4 stands, "
                "this one is read as event 7"
            ),
            "line 6, event 6: events 4 to 5 are missing before it",
        ]
    assert validate(open_log(closed([event(1), {**event(2), "type": "llm_trace"}]))) == []


@pytest.mark.parametrize("step", [{}, [1], "1", 1.5, True])
@pytest.mark.parametrize("kind", ["step_start", "step_end", "message", "session_start"])
def test_validate_names_a_step_that_is_no_number(kind: str, step: object) -> None:
    log = open_log(raw_lines(orjson.dumps({**event(1), "type": kind, "step": step, "data": {}})))
    assert any("event 1: step:" in str(problem) for problem in validate(log))
