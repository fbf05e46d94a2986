"""Files that are no conversation, and files that are broken (row X5)."""

from __future__ import annotations

import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest

from lctl.errors import LctlError, LogNotFound, NotImportable
from lctl.importing import convert, load
from lctl.importing.registry import FORMS
from lctl.importing.source import Source
from tests.unit.cli.conftest import Cli, lctl, place
from tests.unit.importing.sources import claude_row, imported, lines

__all__ = ["lctl", "place"]  # fixtures

BAD = {
    "empty": (b"", "empty"),
    "blank": (b" \n\n", "empty"),
    "text": (b"Dear diary,\n", "neither JSON nor lines of JSON"),
    "binary": (bytes(range(256)), "neither JSON nor lines of JSON"),
    "number": (b"7", "JSON that holds no conversation"),
    "cut": (b'[{"role": "user", "content": "q"', "neither JSON nor lines of JSON"),
    "other JSON": (
        b'{"a": 1, "b": [2]}',
        r"no form of conversation that is known \(its first object has a, b\)",
    ),
    "empty list": (b"[]", "JSON that holds no conversation"),
    "a log": (b'{"lctl":"4.0","chain":{"id":"c"},"events":[]}', "an lctl log already"),
    "deep": (b"[" * 100_000, "neither JSON"),
}


@pytest.mark.parametrize("name", BAD)
def test_x5_bad_input_is_one_line_and_writes_nothing(name: str, place: Path, lctl: Cli) -> None:
    """What it is instead, exit code 3, and no file, half or whole."""
    data, says = BAD[name]
    Path("in.json").write_bytes(data)
    got = lctl("import", "in.json", "-o", "out.lctl.json")
    assert got.code == 3 and got.out == ""
    assert got.err.count("\n") == 1 and got.err.startswith("lctl: in.json: ")
    with pytest.raises(NotImportable, match=says):
        convert(Source(data, "in.json"))
    assert [path.name for path in place.iterdir()] == ["in.json"]


@pytest.mark.parametrize("form", FORMS)
def test_x5_a_form_that_the_file_is_not(form: str, place: Path, lctl: Cli) -> None:
    """`--from` of another form is refused, with the file's name; no importer has a failure of its own."""
    Path("in.json").write_text('{"a": {"b": [1, "x", null]}}')
    got = lctl("import", "in.json", "--from", form)
    assert got.code == 3 and got.err.startswith("lctl: in.json: "), got.err
    assert not (place / ".lctl").exists()


def test_x5_a_file_that_is_not_there(place: Path, lctl: Cli) -> None:
    got = lctl("import", "nowhere.json")
    assert (got.code, got.err) == (3, "lctl: nowhere.json: no such file\n")
    with pytest.raises(LogNotFound):
        load("nowhere.json")
    assert lctl("import", ".").code == 3


def test_x5_an_unknown_form_is_wrong_usage(place: Path, lctl: Cli) -> None:
    Path("in.json").write_text("[]")
    got = lctl("import", "in.json", "--from", "myspace")
    assert got.code == 2 and "claude-code" in got.err


def test_x5_damaged_archives() -> None:
    """A cut zip, a zip without conversations, a sample that is no JSON."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/1_epoch_1.json", "{broken")
    whole = held.getvalue()
    with pytest.raises(NotImportable, match=r"samples/1_epoch_1\.json in it cannot be read"):
        convert(Source(whole, "x.eval"))
    with pytest.raises(NotImportable, match="damaged or was cut"):
        convert(Source(whole[:60], "x.eval"))
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(NotImportable, match="a zip archive without conversations in it"):
        convert(Source(other.getvalue(), "x.zip"))


def test_x5_values_of_the_wrong_kind_anywhere() -> None:
    """Half a thousand files of each kind with values put where others belong: imported, or refused in one
    line; what is imported is a sound log."""
    from tests.unit.importing.sources import tree

    r = random.Random(5)
    found = 0
    for base in _samples():
        for _ in range(60):
            value = _disturbed(r, json.loads(json.dumps(base)))
            data = (
                lines(value) if isinstance(value, list) and r.random() < 0.5 else json.dumps(value).encode()
            )
            try:
                made = convert(Source(data, "x"))
            except LctlError as error:
                assert "\n" not in str(error)
                continue
            tree(made)
            found += 1
    assert found > 100


def _samples() -> list[Any]:
    claude = [
        claude_row("u1", None),
        claude_row("a1", "u1", "assistant"),
        claude_row("s1", "a1", isSidechain=True),
    ]
    chat = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]},
    ]
    node = {"id": "n", "parent": None, "message": {"author": {"role": "user"}, "content": {"parts": ["x"]}}}
    pi = [
        {"type": "session", "id": "s", "cwd": "/", "version": 3},
        {"type": "message", "id": "e1", "parentId": None, "message": {"role": "user", "content": "x"}},
        {"type": "compaction", "id": "e2", "parentId": "e1", "summary": "x", "firstKeptEntryId": "e1"},
    ]
    return [
        claude,
        chat,
        [{"mapping": {"n": node}, "current_node": "n"}],
        pi,
        {"eval": {}, "samples": [{"id": 1, "messages": chat, "scores": {"a": {"value": 1}}}]},
        {
            "messages": [
                {
                    "message": {"id": "m", "role": "assistant", "content": [{"type": "tool-call"}]},
                    "parentId": None,
                }
            ]
        },
        [
            {
                "message_tree_id": "t",
                "prompt": {"message_id": "p", "role": "prompter", "text": "x", "replies": []},
            }
        ],
        {"tree": {"tree": {"node_type": "Thought", "description": "x", "children": []}}},
        {"history": chat, "mistake_step": "0"},
        {"history": chat, "trajectory": [{}]},
        {"id": "s", "events": [{"id": "e", "author": "user", "content": {"parts": [{"text": "x"}]}}]},
        {
            "trace": {},
            "observations": [{"id": "o", "traceId": "t", "type": "GENERATION", "input": chat, "output": "x"}],
        },
        [{"conversations": [{"from": "human", "value": "x"}]}],
    ]


def _disturbed(r: random.Random, value: Any) -> Any:
    """The value with something in it replaced by something else."""
    if isinstance(value, dict) and value and r.random() < 0.9:
        key = r.choice(list(value))
        value[key] = _disturbed(r, value[key])
        return value
    if isinstance(value, list) and value and r.random() < 0.9:
        place = r.randrange(len(value))
        value[place] = _disturbed(r, value[place])
        return value
    return r.choice([None, 7, -1.5, "", "x", [], {}, [[1]], {"a": {}}, True, "assistant", 10**20, "\ud800"])


def test_x5_a_log_is_written_whole_or_not_at_all(place: Path, lctl: Cli) -> None:
    """Over an older file only when it is complete; a folder that is none is one line."""
    Path("in.json").write_text('[{"role": "user", "content": "q"}]')
    Path("file").write_text("x")
    got = lctl("import", "in.json", "-o", "file/out.lctl.json")
    assert got.code == 3 and got.err.count("\n") == 1
    assert lctl("import", "in.json", "-o", "out.lctl.json").code == 0
    before = Path("out.lctl.json").read_bytes()
    Path("in.json").write_text("[{")
    assert lctl("import", "in.json", "-o", "out.lctl.json").code == 3
    assert Path("out.lctl.json").read_bytes() == before


def test_x5_the_same_file_gives_the_same_log() -> None:
    """Byte for byte: no clock, no chance."""
    rows = [claude_row("u1", None), claude_row("a1", "u1", "assistant")]
    one, other = (imported(lines(rows)).log for _ in range(2))
    assert list(one.lines()) == list(other.lines())
    assert one.chain == other.chain


def test_x5_what_every_command_does_with_an_import(place: Path, lctl: Cli) -> None:
    """It is an ordinary log: found as `last`, and opened by all that read logs."""
    Path("s.jsonl").write_bytes(lines([claude_row("u1", None), claude_row("a1", "u1", "assistant")]))
    got = lctl("import", "s.jsonl")
    assert got.code == 0 and got.err == ""
    assert "is claude-code: rows with uuid, parentUuid and sessionId" in got.out
    assert "2 messages in 1 conversation, 1 model call" in got.out
    for words in (
        "replay",
        "show",
        "show last 2",
        "ls",
        "tail",
        "stats",
        "bottleneck",
        "verify --sealed",
        "validate --strict",
        "tree",
        "branches",
        "transcript",
        "export",
        "export --format messages",
        "convert --to jsonl",
    ):
        done = lctl(*words.split())
        assert (done.code, done.err) == (0, ""), words
    report = json.loads(lctl("import", "s.jsonl", "--json").out)
    assert (report["form"], report["messages"], report["model_calls"]) == ("claude-code", 2, 1)
    assert report["lost"][0]["what"].startswith("system prompt")


def test_x5_import_from_standard_input(place: Path, lctl: Cli) -> None:
    got = lctl("import", "-", "-o", "out.lctl.json", stdin=b'[{"role":"user","content":"q"}]')
    assert got.code == 0, got.err
    assert Path("out.lctl.json").exists()
