"""`lctl samples` and the training formats of `lctl export` (rows G13, G14, G16)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Cli, lctl, place
from tests.unit.training import fixtures
from tests.unit.training.fixtures import Talk, start

__all__ = ["lctl", "place"]  # fixtures


def write(place: Path, talk: Talk, name: str = "run.lctl.json") -> str:
    document = {"lctl": "4.0", "chain": {"id": "run-1"}, "events": talk.events}
    (place / name).write_text(json.dumps(document))
    return name


def test_g13_the_table(lctl: Cli, place: Path) -> None:
    talk = fixtures.model_changed().tell("u4", "a3").a("a4", "u4", model="n", status="aborted")
    log = write(place, talk)
    assert lctl("samples", log).out.splitlines() == [
        "SAMPLE  MESSAGES  TRAINED  TOKENS  MODEL  WHY IT BROKE",
        "a2             5        2       8  m",
        "a4             9        1       4  n      model_changed",
        "",
        "3 answers trained in 2 rows, 1.5 a row; 4 answers in all",
        "not trained: 1 answer, aborted: its stream was left, or cancelled, before its end",
    ]


def test_g14_as_json(lctl: Cli, place: Path) -> None:
    made = json.loads(lctl("samples", write(place, fixtures.edit()), "--json").out)
    assert {key: made[key] for key in ("chain", "calls", "trained", "rows", "breaks", "skipped")} == {
        "chain": "run-1",
        "calls": 3,
        "trained": 3,
        "rows": 2,
        "breaks": {"edit": 1},
        "skipped": {},
    }
    assert [one["sample"] for one in made["samples"]] == ["a2", "a3"]


def test_g13_up_to_a_seq(lctl: Cli, place: Path) -> None:
    log = write(place, fixtures.edit())
    assert "2 answers trained in 1 row" in lctl("samples", log, "--to-seq", "5").out
    assert lctl("samples", log, "--to-seq", "2").out == "No samples: the log has no answers of a model.\n"


def test_g14_nothing_to_train(lctl: Cli, place: Path) -> None:
    talk = Talk().tell("u1", None).a("a1", "u1", status="aborted")
    said = lctl("samples", write(place, talk)).out.splitlines()
    assert said[0] == "No samples: none of 1 answer can be trained."


@pytest.mark.parametrize("format", ["calls", "openai", "hf", "axolotl", "sharegpt"])
def test_g16_export_prints_rows(lctl: Cli, place: Path, format: str) -> None:
    """Rows alone on stdout; what became of the answers, in one line, on stderr."""
    log = write(place, start())
    done = lctl("export", log, "--format", format)
    assert len([json.loads(line) for line in done.out.splitlines()]) == 1
    assert done.err == f"lctl: {log}: 1 row, 2 of 2 answers trained\n"
    done = lctl("export", log, "--format", format, "-o", "rows.jsonl")
    assert (done.out, done.err) == ("", f"lctl: {log} to rows.jsonl: 1 row, 2 of 2 answers trained\n")


def test_g17_export_pairs(lctl: Cli, place: Path) -> None:
    talk = fixtures.regenerate()
    for id, value in (("a2", 0.1), ("a2x", 0.9)):
        talk.add("fact_added", id=id, about=id, value=value)
    log = write(place, talk)
    for format in ("dpo", "dpo-openai"):
        done = lctl("export", log, "-f", format)
        assert (len(done.out.splitlines()), done.err) == (1, f"lctl: {log}: 1 row\n")
    assert lctl("export", log, "-f", "kto").err == f"lctl: {log}: 2 rows; excluded: unrated 1\n"
    assert lctl("export", log, "-f", "kto", "--to-seq", "6").out == ""


@pytest.mark.parametrize(
    "format", ["calls", "openai", "hf", "axolotl", "sharegpt", "dpo", "dpo-openai", "kto"]
)
def test_g14_nothing_is_a_models(lctl: Cli, place: Path, format: str) -> None:
    """That no row is made is said with its reason."""
    talk = Talk().tell("u1", None).tell("a1", "u1", role="assistant")
    done = lctl("export", write(place, talk), "--format", format)
    assert (done.code, done.out) == (0, "")
    assert "0 rows" in done.err and done.err.endswith(" a model gave, as far as the log says\n")


def test_g16_export_into_a_file(lctl: Cli, place: Path) -> None:
    """With -o the manifest is beside it; --to-seq holds for every format."""
    log = write(place, fixtures.edit())
    assert lctl("export", log, "-f", "openai", "-o", "out.jsonl").code == 0
    assert json.loads((place / "out.jsonl.manifest.json").read_text())["breaks"] == {"edit": 1}
    assert len((place / "out.jsonl").read_text().splitlines()) == 2
    lctl("export", log, "-f", "openai", "-o", "out.jsonl", "--to-seq", "5")
    assert len((place / "out.jsonl").read_text().splitlines()) == 1
    cut = json.loads(lctl("export", log, "--to-seq", "5").out)
    assert ([event["seq"] for event in cut["events"]], cut["chain"]["id"]) == ([1, 2, 3, 4, 5], "run-1")
    assert len(lctl("export", log, "-f", "csv", "--to-seq", "5").out.splitlines()) == 6
    assert "not here" not in lctl("export", log, "-f", "report", "--to-seq", "0").out


def test_g16_export_html(lctl: Cli, place: Path) -> None:
    done = lctl("export", write(place, start()), "-f", "samples-html")
    assert done.out.startswith("<!doctype html>")
    assert done.out.endswith("</body></html>\n")


def test_g16_what_cannot_be_written_is_one_line(lctl: Cli, place: Path) -> None:
    done = lctl("export", write(place, start()), "-f", "openai", "-o", "no/such/out.jsonl")
    assert (done.code, done.err.count("\n"), "cannot be written" in done.err) == (3, 1, True)


@pytest.mark.parametrize(
    "command", ["samples", "export -f openai", "export -f samples-html", "export -f dpo"]
)
def test_g13_any_input(lctl: Cli, place: Path, command: str) -> None:
    """Events of all shapes: an answer or one line, never a traceback."""
    odd: list[object] = [
        {"message_id": 7, "role": 3, "content": {"a": 1}, "sampled": True, "call": "x"},
        {
            "message_id": "b",
            "parent_id": ["a"],
            "sampled": True,
            "call": {"model": 3, "usage": [], "tools": 5},
        },
        {"message_id": "c", "parent_id": "b", "content": [1, None, {"type": 4}], "tool_calls": {"x": 1}},
        {
            "message_id": "d",
            "parent_id": "c",
            "sampled": True,
            "role": "assistant",
            "tool_calls": [3, None, {}],
        },
        {"message_id": "e", "parent_id": "d", "nested_in": 3, "fork_of": "c", "copy_of": "d", "carry": [1]},
    ]
    talk = Talk()
    for n, data in enumerate(odd, 1):
        talk.events.append({"seq": n, "type": "message", "timestamp": "", "agent": "a", "data": data})
    talk.add("fact_added", id=3, about={"x": 1}, value=[1]).add("step_end", message={"x": 1}, messages=3)
    talk.add("step_start", kind="llm", model=["x"], tools=[{}], prompt=3, tool_definitions="x", params=3)
    talk.add("session_start", tools=[1]).add("blob", hash=None).add("exchange", body=3)
    done = lctl(*command.split(), write(place, talk))
    assert done.code == 0, done.err
    assert "Traceback" not in done.err


def test_g14_a_refused_row_is_the_reason(lctl: Cli, place: Path) -> None:
    """Two answers of a model that say the same are no pair: that is said alone."""
    talk = Talk().tell("u1", None).a("a1", "u1", content="x").a("a2", "u1", content="x")
    for id, value in (("a1", 0.1), ("a2", 0.9)):
        talk.add("fact_added", id=f"F{id}", about=id, value=value)
    log = write(place, talk)
    why = "0 rows; refused: 1 row (chosen and rejected are the same)"
    assert lctl("export", log, "-f", "dpo").err == f"lctl: {log}: {why}\n"
