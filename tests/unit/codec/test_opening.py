"""A log opens in every form it may come in, and says the same in each."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest
import yaml
import zstandard

from lctl.codec import Log, open_log
from lctl.errors import MissingExtra, NotALog, UsageError
from tests.unit.codec.samples import (
    CHAIN,
    SPEC_EVENTS,
    closed,
    document,
    event,
    jsonl,
    lines,
    opened,
)

SPEC_YAML = yaml.safe_dump({"lctl": "4.0", "chain": CHAIN, "events": SPEC_EVENTS}, sort_keys=False).encode()

FORMS = {
    "closed journal": closed(SPEC_EVENTS),
    "open journal": opened(SPEC_EVENTS),
    "open journal, comma written": opened(SPEC_EVENTS) + b",\n",
    "pretty JSON": document(SPEC_EVENTS, indent=2),
    "JSON indented by nothing": document(SPEC_EVENTS, indent=0),
    "one-line JSON": document(SPEC_EVENTS),
    "one-line JSON, line end": document(SPEC_EVENTS) + b"\n",
    "a list of events": orjson.dumps(SPEC_EVENTS),
    "JSON Lines": jsonl(SPEC_EVENTS),
    "JSON Lines without header": jsonl(SPEC_EVENTS, header=False),
    "JSON Lines, spaced": jsonl(SPEC_EVENTS, compact=False),
    "JSON Lines, spaced, without header": jsonl(SPEC_EVENTS, header=False, compact=False),
    "YAML": SPEC_YAML,
    "YAML list": yaml.safe_dump(SPEC_EVENTS, sort_keys=False).encode(),
    "YAML with a comment first": b"# a log\n---\n" + SPEC_YAML,
    "journal with the closing pretty-printed": opened(SPEC_EVENTS) + b'\n],\n"state": {}\n}\n',
    "journal closed on the last line": opened(SPEC_EVENTS) + b"]}",
    "UTF-16, as PowerShell redirects": document(SPEC_EVENTS, 2).decode().encode("utf-16"),
}


def same(log: Log) -> None:
    assert [e.to_dict() for e in log.events()] == SPEC_EVENTS
    assert list(log.lines()) == lines(SPEC_EVENTS)
    assert (len(log), log.first_seq, log.last_seq) == (6, 1, 6)
    assert log.problems == []


@pytest.mark.parametrize("name", FORMS)
def test_each_form_gives_the_same_events(name: str) -> None:
    """The form of the bytes changes nothing in what the log says."""
    same(open_log(FORMS[name]))


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_each_form_may_be_compressed(name: str, pack: object) -> None:
    """gzip and zstd are seen by their first bytes."""
    same(open_log(pack(FORMS[name])))  # type: ignore[operator]


@pytest.mark.parametrize("name", [n for n in FORMS if "UTF-16" not in n])
def test_a_byte_order_mark_is_passed_over(name: str) -> None:
    """Editors on Windows put one in front."""
    same(open_log(codecs.BOM_UTF8 + FORMS[name]))


@pytest.mark.parametrize("name", [n for n in FORMS if "UTF-16" not in n])
def test_windows_line_ends_change_nothing(name: str) -> None:
    """Neither the events nor the bytes of their lines know about CRLF."""
    same(open_log(FORMS[name].replace(b"\n", b"\r\n")))


def test_several_gzip_members_are_one_log() -> None:
    """Two gzip files put one behind the other are one, as gzip says."""
    whole = closed(SPEC_EVENTS)
    same(open_log(gzip.compress(whole[:200]) + gzip.compress(whole[200:])))


def test_a_path_a_pipe_and_standard_input_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`-` reads standard input; a named pipe works like a file."""
    path = tmp_path / "run.lctl.json"
    path.write_bytes(closed(SPEC_EVENTS))
    same(open_log(path))
    same(open_log(str(path)))
    assert open_log(path).path == str(path)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(closed(SPEC_EVENTS))))
    log = open_log("-")
    same(log)
    assert (log.path, log.name) == ("-", "standard input")
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        assert cat.stdout is not None
        same(open_log(f"/dev/fd/{cat.stdout.fileno()}"))


def test_something_that_is_no_source_is_refused() -> None:
    """An open file or a dict is a mistake, and the message says what to give."""
    with pytest.raises(UsageError, match="opened by path, '-' or bytes, not by dict"):
        open_log({"lctl": "4.0"})  # type: ignore[arg-type]


def test_the_tail_is_read_and_an_open_log_has_none() -> None:
    """state, summary and hash are in `tail`; a document without them has no tail either."""
    log = open_log(closed(SPEC_EVENTS, {"state": {"facts": {"F1": {}}}, "summary": {"events": 6}}))
    assert log.tail is not None
    assert log.tail["summary"] == {"events": 6}
    assert log.tail["hash"]["count"] == 6
    assert (log.open, log.recovered) == (False, None)
    assert open_log(document(SPEC_EVENTS, state={"facts": {}})).tail == {"state": {"facts": {}}}
    assert open_log(document(SPEC_EVENTS)).tail is None
    unclosed = open_log(opened(SPEC_EVENTS))
    assert unclosed.open
    assert unclosed.tail is None
    assert str(unclosed.recovered) == (
        "recovered: 6 events, not closed: it is being written, or its program ended abruptly"
    )


def test_a_log_without_events_is_a_log() -> None:
    """A session that recorded nothing leaves a header and perhaps a closing."""
    for raw in (
        opened([]),
        closed([]),
        opened([]) + b"\n",
        document([]),
        b'{"lctl":"4.0","chain":{"id":"x"}}',
    ):
        log = open_log(raw)
        assert (len(log), log.first_seq, log.last_seq, list(log.events())) == (0, 0, 0, [])
        assert log.problems == []
        assert log


def test_one_event_by_its_seq() -> None:
    """`event` gives it, or says which there are."""
    log = open_log(closed(SPEC_EVENTS))
    assert log.event(4).data["tokens"] == {"input": 500, "output": 200}
    with pytest.raises(UsageError, match="<bytes>: there is no event 7; it has 1 to 6"):
        log.event(7)
    with pytest.raises(UsageError, match="it has no events"):
        open_log(opened([])).event(1)


def test_ranges_are_half_open() -> None:
    """start <= seq < stop, in every form."""
    for raw in (closed(SPEC_EVENTS), document(SPEC_EVENTS), jsonl(SPEC_EVENTS)):
        log = open_log(raw)
        assert [e.seq for e in log.events(2, 5)] == [2, 3, 4]
        assert [e.seq for e in log.events(5)] == [5, 6]
        assert [e.seq for e in log.events(0, 2)] == [1]
        assert list(log.events(7)) == list(log.events(3, 3)) == list(log.events(5, 2)) == []
        assert list(log.lines(6)) == lines(SPEC_EVENTS)[5:]


def test_unknown_keys_and_types_are_kept() -> None:
    """An event of another type, with keys nobody knows, comes back as it was."""
    odd = {**event(1), "type": "llm_trace", "zone": {"a": [1]}, "data": {"usage": None}}
    for raw in (closed([odd]), document([odd]), yaml.safe_dump([odd]).encode()):
        log = open_log(raw)
        assert log.event(1).extra == {"zone": {"a": [1]}}
        assert log.event(1).to_dict() == odd
    assert open_log(document([odd], streaming={"enabled": True})).extra == {"streaming": {"enabled": True}}
    assert open_log(closed([odd], streaming=1)).extra == {"streaming": 1}


def test_the_original_bytes_of_a_journal_are_given() -> None:
    """`lines` does not decode and encode again: spelling that JSON allows stays."""
    line = b'{"seq":1,"type":"fact_added","agent":"\\u0061","data":{"id":"F1","x":1.50}}'
    log = open_log(b'{"lctl":"4.0","chain":{"id":"x"},"events":[\n' + line + b"\n]}")
    assert list(log.lines()) == [line]
    assert log.event(1).agent == "a"


def test_yaml_plain_text_stays_text() -> None:
    """Times, yes and no, and clock times are text; null, true and numbers are not."""
    text = b"""
lctl: 4.0
chain: {id: x}
events:
- seq: 1
  type: fact_added
  timestamp: 2024-01-15T10:30:00Z
  agent: a
  data: {id: F1, text: no, at: 10:30, n: 017, ok: true, none: null, f: 1e3, 5: key, true: flag}
"""
    log = open_log(text)
    assert log.event(1).timestamp == "2024-01-15T10:30:00Z"
    assert log.event(1).data == {
        "id": "F1", "text": "no", "at": "10:30", "n": "017", "ok": True, "none": None, "f": 1000.0,
        "5": "key", "true": "flag",
    }  # fmt: skip


def test_what_needs_an_extra_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library the message is the command that installs it."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtra, match=r"pip install 'lctl\[yaml\]'"):
        open_log(SPEC_YAML)
    with pytest.raises(MissingExtra, match=r"pip install 'lctl\[zstd\]'"):
        open_log(zstandard.compress(closed(SPEC_EVENTS)))


def test_other_archives_are_not_taken_for_logs() -> None:
    """bzip2 is not read, and is not mistaken for YAML."""
    with pytest.raises(NotALog):
        open_log(bz2.compress(closed(SPEC_EVENTS)))


def test_nan_and_long_numbers_are_read() -> None:
    """Other writers put NaN and numbers past 64 bits into JSON; NaN reads as null."""
    raw = document([]).replace(b"[]", b'[{"seq":1,"type":"x","data":{"a":NaN,"b":123456789012345678901234}}]')
    assert open_log(raw).event(1).data["a"] is None
    line = b'{"seq":1,"type":"x","data":{"a":-Infinity,"s":"\\ud800"}}'
    log = open_log(b'{"lctl":"4.0","chain":{"id":"x"},"events":[\n' + line)
    assert log.event(1).data == {"a": None, "s": r"\ud800"}
    assert log.problems == []


def test_many_problems_in_one_line() -> None:
    """A large list of somebody else's in one line: each of its events has a problem, and where that is is
    told without going through the text for each."""
    count = 40_000
    raw = orjson.dumps([{"type": "row", "data": {"text": "word " * 20}} for _ in range(count)])
    log = open_log(raw)
    assert len(log) == count
    assert {problem.line for problem in log.problems} == {1}
