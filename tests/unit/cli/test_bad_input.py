"""Whatever a file holds: one clear line, a documented exit code, no traceback; what can be read is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import orjson
import pytest

from lctl.chain import Chain
from tests.golden import logs
from tests.unit.cli.badlogs import READING, document, edited
from tests.unit.cli.conftest import Cli, process

UNREADABLE: dict[str, tuple[bytes, str]] = {
    "empty file": (b"", "empty"),
    "binary": (os.urandom(4096).replace(b"{", b"x"), "not a log"),
    "zeros": (b"\0" * 4096, "not a log"),
    "an image": (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "not a log"),
    "other json": (b'{"hello": "world"}', "not a log"),
    "a list of numbers": (b"[1,2,3]", "not a log"),
    "text": (b"Dear diary,\ntoday nothing happened.\n", "not a log"),
    "version 9": (document([]).replace(b'"4.0"', b'"9.0"'), "9.0"),
    "version of a wrong type": (document([]).replace(b'"4.0"', b'{"a":1}'), "version"),
    "deep nesting": (b'{"lctl":"4.0","chain":{"id":"c"},"events":' + b"[" * 100_000, ""),
}


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("command", READING)
def test_what_cannot_be_read(kind: str, command: str, place: Path, lctl: Cli) -> None:
    """A file that is no log: one line with its name and the reason, exit code 3."""
    raw, said = UNREADABLE[kind]
    (place / "bad.lctl.json").write_bytes(raw)
    got = lctl(*command.replace("{}", "bad.lctl.json").split())
    if kind == "deep nesting" and got.code != 3:  # read as a log cut at its start
        assert got.code in (0, 1, 2)
        assert "recovered: 0 events" in got.err
        return
    assert got.code == 3, got
    assert got.err.startswith("lctl: bad.lctl.json: ")
    assert got.err.count("\n") == 1
    assert said in got.err
    assert got.out == ""


DAMAGED: dict[str, tuple[bytes, str]] = {
    "tokens as a number": (edited(_4={"data": {"outcome": "success", "tokens": 350}}), "tokens"),
    "confidence in words": (
        edited(_2={"data": {"id": "F1", "text": "x", "confidence": "high"}}),
        "confidence",
    ),
    "data null": (edited(_3={"data": None}), "data"),
    "data a list": (edited(_3={"data": [1, 2]}), "data"),
    "duplicate seq": (edited(_7={"seq": 6}), "6"),
    "missing seq": (document([e for e in logs.security_review() if e["seq"] != 7]), "7"),
    "seq in words": (edited(_7={"seq": "seven"}), "seq"),
    "no type": (edited(_7={"type": None}), "type"),
    "timestamp a number": (edited(_7={"timestamp": 12}), "timestamp"),
    "an event that is a number": (document([*logs.security_review(), 5]), ""),
    "step of a wrong type": (edited(_7={"step": "one"}), "step"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_events(kind: str, place: Path, lctl: Cli) -> None:
    """A wrong event is named by `validate` with what is wrong in it; every other command reads the rest."""
    raw, said = DAMAGED[kind]
    (place / "bad.lctl.json").write_bytes(raw)
    got = lctl("validate", "bad.lctl.json")
    assert got.code == 1, got
    assert said in got.out
    for command in READING:
        got = lctl(*command.replace("{}", "bad.lctl.json").split())
        assert got.code in (0, 1), (command, got)
        assert got.out, command
        assert got.err.count("\n") <= (2 if command.startswith("diff") else 1), (command, got.err)


EXPORTING = ["jsonl", "yaml", "csv", "steps-csv", "chrome", "html", "otlp", "otlp-proto", "parquet"]


def test_whole_numbers_without_end(place: Path, lctl: Cli) -> None:
    """JSON sets them no limit: no command fails on one, nor on a damaged line beside it."""
    long = b"9" * 400
    numbers = b'"duration_ms":%s,"tokens":{"input":%s,"output":%s}' % (long, long, long)
    head, *lines = logs.written(place / "x.lctl.json", logs.security_review()).read_bytes().split(b"\n")
    lines[3] = (
        b'{"seq":4,"type":"step_end","timestamp":"2026-01-01T00:00:00Z","agent":"a","data":{%s}},' % numbers
    )
    lines[5] = lines[5].replace(b'"data":{', b'"data":{"\xff\xfe":')
    (place / "bad.lctl.json").write_bytes(b"\n".join([head, *lines]))
    for command in [*READING, *(f"export {{}} -f {form} -o out.{form}" for form in EXPORTING)]:
        got = lctl(*command.replace("{}", "bad.lctl.json").split())
        assert got.code in (0, 1, 5), (command, got)  # 5: without the extra
    got = lctl("rerun", "bad.lctl.json")
    assert (got.code, got.out) == (3, "")
    assert "does not say how its program was started" in got.err


def test_doubts(place: Path, lctl: Cli) -> None:
    """An event that does not fit those before it is a doubt, and with --strict a problem."""
    (place / "odd.lctl.json").write_bytes(edited(_1={"step": 1}, _9={"step": 77}))
    got = lctl("validate", "odd.lctl.json")
    assert got.code == 0
    assert "! event 9: " in got.out
    assert "77" in got.out
    assert lctl("validate", "--strict", "odd.lctl.json").code == 1


def test_s3_s8_d10_doubts_about_conversations_and_sessions(place: Path, lctl: Cli) -> None:
    """Gaps in numbers, ends of nothing and bad copies are told."""
    events: list[dict[str, object]] = [
        {"type": "session_end", "data": {"session_id": "S"}},
        {"type": "message", "data": {"message_id": "u", "role": "user", "content": "x", "carry": ["a", "b"]}},
        {"type": "session_start", "data": {"session_id": "T"}},
        {"type": "message", "data": {"session_id": "T", "message_number": 3, "role": "user", "content": "x"}},
        {"type": "message", "data": {"session_id": "T", "message_number": 9, "role": "user", "content": "y"}},
        {"type": "message", "data": {"message_id": "o", "parent_id": "p", "role": "user", "content": "z"}},
        {"type": "message", "data": {"message_id": "o", "session_id": "T", "message_number": 10}},
    ]
    numbered = [
        {"seq": n, "timestamp": "2026-01-01T00:00:00Z", "agent": "a", **event}
        for n, event in enumerate(events, 1)
    ]
    document = {"lctl": "4.0", "chain": {"id": "c"}, "events": numbered}
    (place / "odd.lctl.json").write_text(json.dumps(document))
    got = lctl("validate", "odd.lctl.json")
    assert got.code == 0
    assert [line for line in got.out.splitlines() if line.startswith("! ")] == [
        "! event 1: session S has not begun in this log",
        "! event 2: message u carries ['a', 'b'], which is no path",
        "! event 4: the first message of session T is 3, not 1",
        "! event 5: message 9 of session T came after 3",
        "! event 6: message o hangs on p, which is not in the log",
    ]


@pytest.mark.parametrize("bad", [{"a": 1}, [1], 3, 1.5, True, None, "", "x"])
@pytest.mark.parametrize(
    "type", ["session_start", "session_end", "message", "step_end", "checkpoint", "step_start"]
)
def test_s1_values_of_no_sense_are_no_reason_to_fail(place: Path, lctl: Cli, type: str, bad: object) -> None:
    """Whatever a log holds in the keys of sessions, it can be read."""
    names = (
        "session_id conversation_id parent_conversation_id trigger model tools tool_names seed_messages "
        "state forked_from message_number to_message_number tokens cost updates status error message_id "
        "parent_id turn_id fork_of copy_of carry serial nested_in tool_calls tool_call_id content role"
    )
    keys = names.split()
    base: dict[str, object] = {"type": "session_start", "data": {"session_id": "S", "conversation_id": "c"}}
    events: list[dict[str, object]] = [base]
    events += [{"type": type, "data": {"session_id": "S", "role": "user", key: bad}} for key in keys]
    events += [{"type": type, "data": {"session_id": f"S{n}", key: bad}} for n, key in enumerate(keys)]
    numbered = [
        {"seq": n, "timestamp": "2026-01-01T00:00:00Z", "agent": "a", **event}
        for n, event in enumerate(events, 1)
    ]
    document = {"lctl": "4.0", "chain": {"id": "c"}, "events": numbered}
    (place / "odd.lctl.json").write_text(json.dumps(document))
    assert lctl("validate", "odd.lctl.json").code in (0, 1)
    for session in Chain.load("odd.lctl.json").sessions:
        told = [session.context, session.state, session.totals, session.pending, session.inherited]
        told += [session.model, session.tools, session.tool_definitions, session.recorded_updates]
        assert len(told) == 9 and repr(session)


def test_unknown_types_are_fine(place: Path, lctl: Cli) -> None:
    """Types lctl does not know are kept and no problem."""
    logs.written(place / "u.lctl.json", logs.unknown_only())
    for command in READING:
        got = lctl(*command.replace("{}", "u.lctl.json").split())
        assert (got.code, got.err) == (0, ""), (command, got)


@pytest.mark.parametrize("cut", [1, 40, 200, 700, 1500])
def test_truncated_anywhere(cut: int, place: Path, lctl: Cli) -> None:
    """A file cut at any byte is read up to there, and the first line on stderr says so."""
    raw = logs.written(place / "whole.lctl.json", logs.security_review()).read_bytes()
    (place / "cut.lctl.json").write_bytes(raw[:-cut])
    got = lctl("replay", "cut.lctl.json")
    assert got.code == 0
    assert "Replay complete." in got.out
    assert got.err.startswith("lctl: cut.lctl.json: recovered: ") or cut == 1


def test_a_cut_header(place: Path, lctl: Cli) -> None:
    """A file cut inside its first line has no events, and is said to be cut, not to be something else."""
    (place / "cut.lctl.json").write_bytes(b'{"lctl":"4.0","chain":{"id":"agent-2026')
    got = lctl("replay", "cut.lctl.json")
    assert got.code in (0, 3)
    assert "cut.lctl.json" in got.err


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root reads everything")
def test_no_permission(place: Path, lctl: Cli) -> None:
    """A file that may not be read is said in one line."""
    path = logs.written(place / "mine.lctl.json", [], closed=False)
    path.chmod(0)
    got = lctl("stats", "mine.lctl.json")
    assert (got.code, got.err.count("\n")) == (3, 1)


def test_a_directory(place: Path, lctl: Cli) -> None:
    """A directory is no log; the line says what to do."""
    (place / "runs").mkdir()
    got = lctl("stats", "runs")
    assert got.code == 3
    assert "runs: " in got.err
    assert "lctl ls runs" in got.err
    assert lctl("ls", "runs").code == 0


def test_missing_event(place: Path, lctl: Cli) -> None:
    """Asking for an event that is not there says which there are."""
    logs.written(place / "a.lctl.json", logs.unknown_only(), closed=False)
    got = lctl("show", "a.lctl.json", "9")
    assert got.code == 2
    assert "there is no event 9; it has 1 to 2" in got.err


def test_a_missing_extra(place: Path) -> None:
    """A library that is not installed: exit code 5, and the command that installs it."""
    logs.written(place / "a.lctl.json", logs.unknown_only())
    (place / "absent").mkdir()
    (place / "absent" / "yaml.py").write_text("raise ImportError(\"No module named 'yaml'\", name='yaml')")
    got = process("convert", "--to", "yaml", "a.lctl.json", cwd=place, PYTHONPATH=str(place / "absent"))
    assert got.code == 5
    assert "pip install 'lctl[yaml]'" in got.err


def test_a_bug_of_ours(place: Path, lctl: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception nobody foresaw is one line that asks for a report; LCTL_DEBUG=1 shows where."""

    def broken(*_: object) -> None:
        raise RuntimeError("oh no")

    monkeypatch.setattr("lctl.cli.runs.files", broken)
    got = lctl("ls")
    assert got.code == 70
    assert got.err.startswith("lctl: unexpected RuntimeError: oh no.")
    assert "report" in got.err
    monkeypatch.setenv("LCTL_DEBUG", "1")
    assert "Traceback" in lctl("ls").err


def test_wrong_usage_is_one_line(place: Path, lctl: Cli) -> None:
    """Usage errors: one line, what is wrong and where to look, exit code 2."""
    for words in (["replay", "--to-seq", "x"], ["nonsense"], ["stats", "--wat"], ["export", "-f", "doc"]):
        got = lctl(*words)
        assert (got.code, got.out, got.err.count("\n")) == (2, "", 1), got
        assert "--help" in got.err


def test_a_huge_file(place: Path) -> None:
    """2 GB that are no log are refused at once, without being read into memory."""
    path = place / "huge.lctl.json"
    with path.open("wb") as file:
        file.write(b"not a log\n")
        file.truncate(2_200_000_000)
    got = process("stats", "huge.lctl.json", cwd=place)
    assert got.code == 3
    assert got.err.count("\n") == 1


WIDE = [
    *READING,
    "replay --json {}",
    "show --json {}",
    "tail --json {}",
    "stats --json {}",
    "bottleneck --json {}",
    "diff --json {} review.json",
    "verify --json {}",
    "validate --json {}",
    "export --format json {}",
    "export --format chrome {}",
    "export --format messages {}",
]


@pytest.mark.parametrize("levels", [300, 900])
@pytest.mark.parametrize("command", WIDE)
def test_values_nested_deeper_than_the_json_library_writes(
    levels: int, command: str, place: Path, lctl: Cli
) -> None:
    """An event that can be read can be printed, however deep its input is."""
    deep = b'{"x":' * levels + b"1" + b"}" * levels
    raw = edited().replace(b'{"pattern":"execute.*user","file":"UserController.py"}', deep, 1)
    (place / "deep.json").write_bytes(raw)
    (place / "review.json").write_bytes(document([]))
    assert deep in raw
    got = lctl(*command.replace("{}", "deep.json").split())
    assert got.code in (0, 1), got
    if "--json" in command:
        for line in got.out.splitlines():
            orjson.loads(line)


def test_values_nested_too_deeply_for_yaml(place: Path, lctl: Cli) -> None:
    """YAML's writer has its limit: said in one line, with what to do."""
    deep = b'{"x":' * 900 + b"1" + b"}" * 900
    (place / "deep.json").write_bytes(
        document([]).replace(b"[]", b'[{"seq":1,"type":"x","data":' + deep + b"}]")
    )
    got = lctl("convert", "--to", "yaml", "deep.json")
    assert got.code == 3
    assert got.err.splitlines()[-1] == "lctl: an event is nested too deeply for YAML; write the log as JSON"


@pytest.mark.parametrize("command", WIDE)
def test_half_a_surrogate_pair(command: str, place: Path, lctl: Cli) -> None:
    """Other writers cut text between the halves of a pair: it is spelled out, as the recorder does."""
    raw = edited(_2={"data": {"id": "F1", "text": "cut@", "confidence": 0.5}}, _1={"agent": "a@"})
    (place / "half.json").write_bytes(raw.replace(b"@", rb"\ud83d"))
    (place / "review.json").write_bytes(document([]))
    got = lctl(*command.replace("{}", "half.json").split())
    assert got.code in (0, 1), got
    got.out.encode()
    if command == "replay --json {}":
        assert orjson.loads(got.out.splitlines()[1])["data"]["text"] == r"cut\ud83d"


def test_messages_that_are_each_others_parents(place: Path, lctl: Cli) -> None:
    """A cycle ends every walk up the conversation, also the one that looks for repeated prompts."""
    events: list[Any] = [
        {
            "seq": 1,
            "type": "message",
            "data": {"message_id": "a", "parent_id": "b", "role": "user", "content": "x"},
        },
        {
            "seq": 2,
            "type": "message",
            "data": {"message_id": "b", "parent_id": "a", "role": "user", "content": "y"},
        },
    ]
    for seq in (3, 5):
        events.append(
            {"seq": seq, "type": "step_start", "data": {"kind": "llm", "model": "m", "prompt": "b"}}
        )
        tokens = {"input": 3, "output": 1}
        events.append({"seq": seq + 1, "type": "step_end", "step": seq, "data": {"tokens": tokens}})
    (place / "cycle.json").write_bytes(document(events))
    for command in WIDE:
        (place / "review.json").write_bytes(document([]))
        got = lctl(*command.replace("{}", "cycle.json").split())
        assert got.code in (0, 1), got


def test_cells_of_long_numbers_are_json(place: Path, lctl: Cli) -> None:
    """In CSV, nested values are JSON whatever numbers are in them."""
    (place / "log.json").write_text(json.dumps([{"seq": 1, "type": "note", "data": {"x": [2**64, None]}}]))
    assert lctl("export", "-f", "csv", "log.json").out.endswith(',"{""x"":[18446744073709551616,null]}"\n')
