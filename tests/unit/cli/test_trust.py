"""`lctl confidence`, `query`, `errors` and `agents`, as typed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.golden import logs
from tests.unit.cli.conftest import Cli
from tests.unit.trust import trustlogs
from tests.unit.trust.trustlogs import events


@pytest.fixture
def review(place: Path) -> Path:
    return trustlogs.written(
        place / "chain.lctl.json", trustlogs.reviewed(), confidence={"sources": {"static-analysis": 1.0}}
    )


def test_confidence_at_an_event(review: Path, lctl: Cli) -> None:
    """As it was then; only what is asked for; exit code 1 when asked to be strict."""
    assert lctl("confidence", "--at", "4", "chain.lctl.json").out == (
        "Fact confidence timeline:\nF1: 0.85\nF2: 0.90\nF3: 0.70\n"
    )
    got = lctl("confidence", "--fact", "F3", "--causes", "--strict", "chain.lctl.json")
    assert got.code == 1
    assert got.out == (
        "Fact confidence timeline:\n"
        "F3: 0.70 → BLOCKED (below threshold)\n"
        "  [4]  0.70  code-analyzer      added\n"
        "  [8]  0.30  security-reviewer  modified (refuted)\n"
        "\n"
        "Warning: F3 blocked at step 8 due to low confidence.\n"
    )
    assert lctl("confidence", "--fact", "F1", "--strict", "chain.lctl.json").code == 0
    assert lctl("confidence", "--fact", "F9", "chain.lctl.json").err == (
        "lctl: there is no fact 'F9'; there are F1, F2, F3\n"
    )
    assert lctl("confidence", "--at", "0", "chain.lctl.json").out == "There are no facts.\n"
    document = json.loads(lctl("confidence", "--json", "chain.lctl.json").out)
    assert [fact["timeline"] for fact in document["facts"]][2] == ["0.70", "BLOCKED"]


def test_confidence_drawn(review: Path, lctl: Cli) -> None:
    """In the terminal with thresholds and a mark a fact; as SVG with a stepped curve a fact."""
    drawn = lctl("confidence", "--plot", "chain.lctl.json").out.splitlines()
    assert drawn[0].startswith(" 1.00 │") and drawn[16].startswith(" 0.00 │")
    assert drawn[19].split() == ["o", "F1", "x", "F2", "+", "F3"]
    assert "· ·" in drawn[3] and any("o──" in line for line in drawn)
    assert lctl("confidence", "--plot", "-o", "c.svg", "chain.lctl.json").out == "Wrote c.svg\n"
    picture = ElementTree.parse("c.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    curves = [one for one in picture.iter(f"{space}path") if one.get("stroke-width") == "2"]
    assert len(curves) == 3
    # F3: 0.70 from event 4 on, 0.30 from event 8 on
    assert curves[2].get("d") == "M134.0 106.0H248.7V226.0H736.0"
    assert {"proceed 0.80", "event 25", "F3"} <= {one.text for one in picture.iter(f"{space}text")}
    assert "no confidence to draw" in lctl("confidence", "--plot", "--at", "0", "chain.lctl.json").out


def test_facts_with_odd_names_are_safe(place: Path, lctl: Cli) -> None:
    """An id that would drive a terminal, or end a tag, is shown."""
    odd = events(("fact_added", "a", {"id": "\x1b[31m</text>", "confidence": 0.5}))
    trustlogs.written(place / "odd.json", [event.to_dict() for event in odd])
    assert "\x1b" not in lctl("confidence", "--plot", "--causes", "odd.json").out
    assert lctl("confidence", "-o", "odd.svg", "odd.json").code == 0
    assert "</text></text>" not in Path("odd.svg").read_text()


def test_query(review: Path, lctl: Cli) -> None:
    """A table, CSV and JSON; TARGET and query in this order, or the query alone."""
    sql = "SELECT id, round(confidence, 2) AS c FROM facts ORDER BY c"
    assert lctl("query", "chain.lctl.json", sql).out == "id     c\nF3   0.3\nF2  0.81\nF1  0.95\n"
    assert lctl("query", "--as", "security-reviewer", "chain.lctl.json", sql + " LIMIT 1 OFFSET 1").out == (
        "id     c\nF2  0.86\n"
    )
    assert lctl("query", "--at", "4", "chain.lctl.json", sql).out.splitlines()[1] == "F3   0.7"
    rows = list(csv.reader(io.StringIO(lctl("query", "--csv", "chain.lctl.json", sql).out)))
    assert rows == [["id", "c"], ["F3", "0.3"], ["F2", "0.81"], ["F1", "0.95"]]
    document = json.loads(lctl("query", "--json", "-n", "1", "chain.lctl.json", sql).out)
    assert document == {"columns": ["id", "c"], "rows": [{"id": "F3", "c": 0.3}], "more": True}
    assert "--limit" in lctl("query", "-n", "2", "chain.lctl.json", sql).out
    assert lctl("query", "chain.lctl.json", "SELECT * WHERE id = 'x'").out == "No rows.\n"


def test_query_refused(review: Path, lctl: Cli) -> None:
    """One line, the query with a caret, exit code 2."""
    got = lctl("query", "chain.lctl.json", "SELECT * FORM facts")
    assert got.code == 2
    assert got.err == ('lctl: column 10: near "FORM": syntax error\n  SELECT * FORM facts\n           ^\n')
    assert lctl("query", "chain.lctl.json", "DROP TABLE facts").code == 2
    assert "put the query in quotes" in lctl("query", "a", "SELECT", "*").err
    assert lctl("query", "nope.json", "SELECT 1").code == 3


def test_errors_over_runs(place: Path, lctl: Cli) -> None:
    """The same failures of several runs together, cycles among them; exit code 1 when there is any."""
    logs.written(place / "one.lctl.json", logs.assistant(), "one")
    logs.written(place / "two.lctl.json", logs.assistant(), "two")
    round = events(*[("tool_call", "a", {"tool": "poll", "input": 1, "output": 2})] * 3)
    (place / "more").mkdir()
    trustlogs.written(place / "more" / "three.lctl.json", [event.to_dict() for event in round])
    got = lctl("errors", "one.lctl.json", "two.lctl.json", "more")
    assert (got.code, got.err) == (1, "")
    assert got.out.splitlines()[0].endswith("in 3 runs")
    document = json.loads(lctl("errors", "--json", "one.lctl.json", "two.lctl.json", "more").out)
    groups = {f"{group['category']}/{group['type']}": group for group in document["groups"]}
    assert groups["execution_error/rate_limited"]["runs"] == {"one": [6], "two": [6]}
    assert groups["execution_error/rate_limited"]["count"] == 2
    assert groups["orchestration_error/cycle_detected"]["source"] == "cycle"
    only = lctl("errors", "--category", "orchestration_error", "--json", "one.lctl.json", "more").out
    assert [group["type"] for group in json.loads(only)["groups"]] == ["cycle_detected"]
    trustlogs.written(place / "fine.json", [])
    assert lctl("errors", "fine.json").out == "No errors in 1 run.\n"
    assert "cycle_detected        Infinite loop detected" in lctl("errors", "--taxonomy").out


def test_what_cannot_be_read_among_many_is_named(place: Path, lctl: Cli) -> None:
    """The others are read: a full disk leaves an empty file."""
    folder = place / ".lctl"
    folder.mkdir()
    logs.written(folder / "20260101-000001-good.lctl.json", logs.assistant(), "good")
    (folder / "20260101-000002-empty.lctl.json").touch()
    (folder / "20260101-000003-junk.lctl.json").write_text("junk")
    for command in (("errors", "--all"), ("errors", ".lctl"), ("agents", "--all")):
        got = lctl(*command, "--json")
        assert json.loads(got.out)["runs"] == 1
        assert got.code == (1 if command[0] == "errors" else 0)
        junk, empty = got.err.splitlines()
        assert junk.startswith("lctl: .lctl/20260101-000003-junk.lctl.json: not a log")
        assert empty.endswith("empty.lctl.json: empty, not a log; nothing was recorded in it; passed over")


def test_failures_of_all_sources_and_cycles_are_counted_apart(place: Path, lctl: Cli) -> None:
    """In the first line; a category alone counts its own."""
    raw = events(
        ("error", "a", {"category": "execution_error", "type": "timeout", "message": "m"}),
        ("tool_call", "a", {"tool": "read", "input": 1, "error": "gone"}),
        *[("tool_call", "a", {"tool": "poll", "input": 1, "output": 2})] * 3,
        ("step_start", "b", {"intent": "x"}),
        ("step_end", "b", {"outcome": "aborted"}),
    )
    trustlogs.written(place / "x.json", [event.to_dict() for event in raw])
    first, last = lctl("errors", "x.json"), lctl("errors", "--category", "orchestration_error", "x.json")
    assert first.out.splitlines()[0] == (
        "3 failures (1 error, 1 tool call, 1 step) and 1 cycle of 4 kinds in 1 run"
    )
    assert last.out.splitlines()[0] == "1 cycle of 1 kind in 1 run"
    assert "Errors: 1 (3 failures: lctl errors)" in lctl("stats", "x.json").out


def test_what_is_missing_in_logs_that_are_counted_is_said(place: Path, lctl: Cli) -> None:
    """By name, among those of a folder, and of one alone."""
    (place / "some").mkdir()
    logs.written(place / "some" / "gap.lctl.json", logs.assistant(), "gap")
    lines = (place / "some" / "gap.lctl.json").read_text().splitlines(keepends=True)
    (place / "some" / "gap.lctl.json").write_text("".join(lines[:4] + lines[5:]))
    logs.written(place / "some" / "cut.lctl.json", logs.assistant()[:9], "cut", closed=False)
    for command in ("errors", "agents"):
        told = lctl(command, "some").err.splitlines()
        assert sorted(one.split(":")[1] for one in told) == [" some/cut.lctl.json", " some/gap.lctl.json"]
        assert "event 4 is missing before it" in lctl(command, "some/gap.lctl.json").err


def test_reruns_are_no_further_evidence(place: Path, lctl: Cli) -> None:
    """Beside their recording they say of an agent what that says; nor is a log that is given twice."""
    for name, chain in (("run", {}), ("again", {"rerun": {"of": "run"}})):
        document = {
            "lctl": "4.0",
            "chain": {"id": name, "seed": "s", **chain},
            "events": trustlogs.reviewed(),
        }
        (place / f"{name}.lctl.json").write_text(json.dumps(document))
    alone = lctl("agents", "run.lctl.json").out
    assert lctl("agents", "again.lctl.json").out == alone
    assert lctl("agents", "run.lctl.json", "again.lctl.json", "./run.lctl.json").out == alone


def test_agents(review: Path, place: Path, lctl: Cli) -> None:
    """How far each was right; tools beyond a profile are named, with exit code 1."""
    got = lctl("agents", "chain.lctl.json")
    assert got.code == 0
    assert got.out.splitlines()[1].split() == ["code-analyzer", "1", "1", "1", "0.57"]
    assert "outermost" not in got.out
    raw = trustlogs.reviewed()
    raw[12]["data"]["agent_profile"] = {"type": "reviewer"}
    trustlogs.written(place / "beyond.json", raw)
    said = lctl("agents", "beyond.json")
    assert said.code == 1
    assert "fix-implementer (reviewer) used edit: file_access is not among its capabilities" in said.out
    (place / "types.yaml").write_text("agent_types:\n  reviewer:\n    capabilities: [file_access]\n")
    assert lctl("agents", "--types", "types.yaml", "beyond.json").code == 0
    (place / "types.yaml").write_text("agent_types: [")
    assert lctl("agents", "--types", "types.yaml", "beyond.json").err.startswith("lctl: types.yaml:")
    (place / "types.yaml").write_bytes(b"\xff\xfe")
    assert "types.yaml: not UTF-8 text" in lctl("agents", "--types", "types.yaml", "beyond.json").err
    assert "none.yaml: cannot be read" in lctl("agents", "--types", "none.yaml", "beyond.json").err
