"""A log written in another form and read again is the same log."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lctl.codec import convert, open_log, verify, write_log
from lctl.codec.conversion import Format
from lctl.errors import LctlError, LogError, UsageError
from lctl.events import Event
from tests.seeds import tries
from tests.unit.codec.samples import CHAIN, SPEC_EVENTS, closed, document, event, head, opened

FORMATS: tuple[Format, ...] = ("yaml", "jsonl", "json")

TAIL = {"state": {"facts": {}}, "summary": {"events": 1}}

#: Everything JSON text can hold, lone surrogates aside (they are not UTF-8).
TEXT = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
    | st.sampled_from(
        ["yes", "no", "~", "null", "1e5", "0x1f", "017", "1:30", "2024-01-01", "=", "<<", "- x", "#"]
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
ENVELOPE = ("seq", "type", "timestamp", "agent", "step", "data")
EXTRA = st.dictionaries(TEXT.filter(lambda k: k not in ENVELOPE), VALUES, max_size=3)


@st.composite
def chains(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
    """(chain, unknown header keys, events)."""
    events = [
        {
            "seq": seq,
            "type": draw(st.sampled_from(["fact_added", "step_end", "llm_trace"]) | TEXT),
            "timestamp": "2026-01-01T00:00:00Z",
            "agent": draw(TEXT),
            **({"step": draw(st.integers(1, 9))} if draw(st.booleans()) else {}),
            "data": draw(st.dictionaries(TEXT, VALUES, max_size=4)),
            **draw(EXTRA),
        }
        for seq in range(1, draw(st.integers(0, 4)) + 1)
    ]
    known = (
        "lctl",
        "chain",
        "events",
        "trace",
        "facts",
        "handoff",
        "instruction",
        "state",
        "summary",
        "hash",
    )
    header = draw(st.dictionaries(TEXT.filter(lambda k: k not in known), VALUES, max_size=2))
    return {"id": draw(TEXT), **draw(EXTRA)}, header, events


@settings(max_examples=tries(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(chains())
def test_unknown_keys_survive_every_round_trip(
    made: tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]],
) -> None:
    """JSON to YAML to JSON Lines to JSON: header, unknown keys, unknown types, values, bytes."""
    chain, header, events = made
    raw = closed(events, TAIL, chain=chain, **header)
    log = open_log(raw)
    out = io.BytesIO()
    for format in FORMATS:
        out = io.BytesIO()
        write_log(log, out, format=format, tail=TAIL)
        log = open_log(out.getvalue())
        assert log.chain == chain
        assert log.extra == header
        assert [e.to_dict() for e in log.events()] == events
    assert out.getvalue() == raw


@settings(max_examples=tries(120), deadline=None)
@given(VALUES)
def test_dump_and_load_are_inverse(value: Any) -> None:
    """Any JSON value inside an event is the same after YAML."""
    made = Event(seq=1, type="x", agent="a", data={"value": value})
    out = io.BytesIO()
    write_log(open_log(document([made.to_dict()])), out, format="yaml")
    assert open_log(out.getvalue()).event(1) == made


def test_a_converted_log_carries_its_hash() -> None:
    """Pretty JSON to a journal: closed, sealed, and its hash is that of the original lines."""
    out = io.BytesIO()
    write_log(open_log(document(SPEC_EVENTS, 2)), out)
    assert out.getvalue() == closed(SPEC_EVENTS, tail={})
    assert verify(open_log(out.getvalue())).ok


def test_an_unclosed_journal_is_closed_by_writing_it() -> None:
    """What was recovered is whole from then on, with the state and summary the caller gives."""
    out = io.BytesIO()
    write_log(
        open_log(opened(SPEC_EVENTS)[:-9]), out, tail={"state": {"facts": {}}, "summary": {"events": 5}}
    )
    log = open_log(out.getvalue())
    assert (len(log), log.open, log.recovered) == (5, False, None)
    assert log.tail is not None
    assert list(log.tail) == ["state", "summary", "hash"]


def test_json_lines_are_read_by_anything(tmp_path: Path) -> None:
    """A header line, then an event on each line."""
    convert(closed(SPEC_EVENTS), tmp_path / "out.jsonl", to="jsonl")
    first, *rest = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(first) == {"lctl": "4.0", "chain": CHAIN}
    assert [json.loads(line) for line in rest] == SPEC_EVENTS


def test_version_3_is_written_as_version_4(tmp_path: Path) -> None:
    """`lctl convert --from v3 --to v4`; the log read says which version it was."""
    old = {"lctl": "3.0", "chain": {"id": "x"}, "trace": [{"agent": "a", "action": "did"}], "purpose": "p"}
    path = tmp_path / "new.lctl.json"
    assert convert(json.dumps(old).encode(), path, to="v4").version == "3.0"
    log = open_log(path)
    assert (log.version, log.extra, len(log)) == ("4.0", {"purpose": "p"}, 2)


def test_wrong_types_survive_too() -> None:
    """An envelope key of the wrong type is written again as it was, not as what was made of it."""
    odd = {**event(1), "agent": None, "timestamp": 5, "data": [1], "step": "x", "type": 7}
    out = io.BytesIO()
    write_log(open_log(document([odd])), out)
    assert orjson.loads(out.getvalue())["events"] == [odd]


def test_a_damaged_journal_is_written_without_its_damage() -> None:
    """Converting is the way to a clean file: what could be read is there, in order, once."""
    rows = [orjson.dumps(event(n)) for n in (1, 3, 2, 3)]
    raw = head() + b"\n" + b",\n".join([*rows, b"{broken"]) + b"\n]}"
    out = io.BytesIO()
    write_log(open_log(raw), out)
    log = open_log(out.getvalue())
    assert [e.seq for e in log.events()] == [1, 2, 3]
    assert log.problems == []


def test_writing_over_the_log_that_is_read(tmp_path: Path) -> None:
    """The file changes only when all of it is written."""
    path = tmp_path / "run.lctl.json"
    path.write_bytes(opened([event(n, "x" * 1000) for n in range(1, 3000)]))
    convert(path, path)
    log = open_log(path)
    assert (len(log), log.open) == (2999, False)
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_when_it_cannot_be_written(tmp_path: Path) -> None:
    """A directory in the way: a clear error, and no half of a file."""
    (tmp_path / "taken").mkdir()
    with pytest.raises(LogError, match="taken: cannot be written"):
        convert(closed(SPEC_EVENTS), tmp_path / "taken")
    with pytest.raises(LogError, match="cannot be written"):
        convert(closed(SPEC_EVENTS), tmp_path / "nowhere" / "x")
    assert [p.name for p in tmp_path.iterdir()] == ["taken"]


def test_to_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` writes there, and leaves it open."""
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=out))
    convert(document(SPEC_EVENTS), "-", to="jsonl")
    assert len(open_log(out.getvalue())) == 6


def test_a_form_that_is_none(tmp_path: Path) -> None:
    """Refused before anything is opened."""
    with pytest.raises(UsageError, match="cannot write 'xml'; the forms are json, jsonl, yaml"):
        convert("nowhere", tmp_path / "x", to="xml")


def test_a_pipe_closed_by_its_reader_is_not_ours_to_explain() -> None:
    """A binary file's own errors pass through: the caller knows what it gave."""

    class Broken(io.BytesIO):
        def write(self, _: object) -> int:
            raise BrokenPipeError(32, "Broken pipe")

    with pytest.raises(BrokenPipeError) as caught:
        convert(closed(SPEC_EVENTS), Broken())
    assert not isinstance(caught.value, LctlError)


def test_what_else_follows_the_events_is_kept() -> None:
    """Keys in the closing that nobody knows stay there, and in a document of another form too."""
    raw = closed(SPEC_EVENTS, {**TAIL, "signature": "x"})
    for format in FORMATS[:1] + FORMATS[2:]:
        out = io.BytesIO()
        write_log(open_log(raw), out, format=format)
        log = open_log(out.getvalue())
        assert {**log.extra, **(log.tail or {})}["signature"] == "x"


#: What JSON text of other writers may hold and few readers keep.
ODD = {"above": 2**64, "below": -(2**63) - 1, "half \ud83d": ["cut \ud83d", 10**40]}


@pytest.mark.parametrize("to", ["json", "jsonl"])
@pytest.mark.parametrize("form", ["one line", "pretty", "lines", "compact lines", "list", "cut", "damaged"])
def test_long_numbers_and_halves_of_surrogate_pairs_stay_what_they_are(form: str, to: Format) -> None:
    """In every form of JSON, whole or not, in keys too."""
    events = [{**event(1), "data": ODD}, {**event(2), "data": {"as it was": "\\ud83d"}}]
    compact = [json.dumps(e, separators=(",", ":")).encode() for e in events]
    raw = {
        "one line": document(events),
        "pretty": document(events, indent=1),
        "lines": "\n".join(map(json.dumps, events)).encode(),
        "compact lines": b"\n".join(compact),
        "list": json.dumps(events).encode(),
        "cut": document([*events, event(3)])[:-8],
        "damaged": b"\n".join([*compact, b"{damage"]),
    }[form]
    out = io.BytesIO()
    convert(raw, out, to=to)
    lines = [line.strip(b",") for line in out.getvalue().split(b"\n") if b'"seq":' in line]
    assert [json.loads(line)["data"] for line in lines] == [e["data"] for e in events]


def test_halves_of_surrogate_pairs_are_spelled_out_for_readers() -> None:
    """Texts of events can be printed and encoded; numbers are what they are."""
    (read,) = open_log(document([{**event(1), "data": ODD}])).events()
    assert read.data == {"above": 2**64, "below": -(2**63) - 1, "half \\ud83d": ["cut \\ud83d", 10**40]}
