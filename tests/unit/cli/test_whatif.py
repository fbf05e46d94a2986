"""`lctl what-if` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import orjson

from tests.unit.analysis.test_whatif import review
from tests.unit.cli.conftest import Cli


def write(place: Path) -> Path:
    path = place / "run.lctl.json"
    path.write_bytes(orjson.dumps({"lctl": "4.0", "chain": {"id": "run"}, "events": review().events}))
    return path


def test_what_differs_is_shown(lctl: Cli, place: Path) -> None:
    """The event before and after, the fact on its way through the gates, and what is otherwise in the end."""
    path = write(place)
    before = path.read_bytes()
    result = lctl("what-if", path, "--at", 2, "--set", "data.confidence=0.3")
    assert result.code == 1
    assert "~ [2] analyst: fact_added F1 (confidence: 0.85)" in result.out
    assert "+ [2] analyst: fact_added F1 (confidence: 0.30)" in result.out
    assert "F1  0.85 → 0.3  from 2 to 9  proceed → block" in result.out
    assert "7  F1.gate        proceed → block" in result.out
    assert path.read_bytes() == before


def test_json_and_the_changed_log(lctl: Cli, place: Path) -> None:
    """--json is one document; -o writes the changed chain, which opens like any other."""
    write(place)
    result = lctl("what-if", "run.lctl.json", "--drop", "4", "--to-seq", 8, "--json", "-o", "new.lctl.json")
    document = orjson.loads(result.out)
    assert document["to_seq"] == 8
    assert {"section": "totals", "name": "", "field": "llm_calls", "before": 1, "after": 0} in document[
        "changes"
    ]
    assert lctl("verify", "new.lctl.json").code == 0
    assert lctl("diff", "run.lctl.json", "new.lctl.json").code == 1


def test_mistakes_are_pointed_at(lctl: Cli, place: Path) -> None:
    """The place in the edit stands under the message; nothing else is printed."""
    write(place)
    result = lctl("what-if", "run.lctl.json", "--at", 2, "--set", "data..x=1")
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines() == ["lctl: edit: a name is expected here", "  data..x=1", "       ^"]
    assert "not JSON" in lctl("what-if", "run.lctl.json", "--at", 2, "--insert", "{").err
    assert "no such file" in lctl("what-if", "run.lctl.json", "--at", 2, "--insert", "@no.json").err
