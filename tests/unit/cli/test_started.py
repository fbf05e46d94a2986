"""When a run began, and what it is listed by: two things, of a file that was imported or copied."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import orjson
import pytest

from lctl.debugger.catalogue import Catalogue
from lctl.debugger.views.runs import row
from tests.unit.cli.conftest import Cli

BEGAN = "2025-09-29T10:00:00Z"
#: When the files were written.
WRITTEN = 1_767_225_600  # 2026-01-01T00:00:00Z


def event(seq: int, timestamp: str, text: str = "x") -> dict[str, Any]:
    data = {"id": f"F{seq}", "text": text}
    return {"seq": seq, "type": "fact_added", "timestamp": timestamp, "agent": "a", "data": data}


def journal(
    folder: Path, name: str, stamps: list[str], *, written: int = WRITTEN, text: str = "x", **chain: Any
) -> Path:
    """A log under this name, without an end."""
    folder.mkdir(exist_ok=True)
    raw = orjson.dumps({"lctl": "4.0", "chain": {"id": name, **chain}})[:-1] + b',"events":[\n'
    raw += b",\n".join(orjson.dumps(event(n, stamp, text)) for n, stamp in enumerate(stamps, 1))
    return dated(folder / f"{name}.lctl.json", raw, written)


def dated(path: Path, raw: bytes, written: int) -> Path:
    path.write_bytes(raw)
    os.utime(path, (written, written))
    return path


@pytest.fixture
def folder(place: Path) -> Path:
    (place / ".lctl").mkdir()
    return place / ".lctl"


def listed(lctl: Cli) -> dict[str, str]:
    """The runs in the order of `lctl ls`, and when each began."""
    got = lctl("ls", "--json")
    assert got.code == 0
    return {row["id"]: row["started"] for row in map(json.loads, got.out.splitlines())}


def test_a_run_began_with_its_first_event(folder: Path, lctl: Cli) -> None:
    """Whatever the file's date; a list, `last` and `last~1` are by what was written here last."""
    journal(folder, "old", ["2025-12-31T00:00:00Z"], written=WRITTEN - 60)
    journal(folder, "imported", [BEGAN, "2025-09-29T11:00:00Z"])
    assert listed(lctl) == {"imported": BEGAN, "old": "2025-12-31T00:00:00Z"}
    assert json.loads(lctl("ls", str(folder), "--json", "-n", "1").out)["started"] == BEGAN
    assert "imported" in lctl("stats", "last").out
    assert "old" in lctl("stats", "last~1").out


def test_lists_of_commands_and_of_the_page_agree(
    folder: Path, lctl: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal(folder, "imported", [BEGAN])
    monkeypatch.setattr("time.time", lambda: 1_759_140_000.0 + 7200)  # two hours after that
    for command in ("ls", "runs"):
        assert "2 h ago" in lctl(command).out
    page = Catalogue([folder])
    ((key, run),) = page.runs()
    assert row(page, key, run, {}, page.own_sums.begin()).started == BEGAN


def test_what_the_name_says_stands(folder: Path, lctl: Cli) -> None:
    journal(folder, "agent-20251224-180000-aaaaaa", [BEGAN])
    assert list(listed(lctl).values()) == ["2025-12-24T18:00:00Z"]


@pytest.mark.parametrize("stamps", [["", BEGAN], ["soon", BEGAN], [BEGAN]])
def test_events_without_a_time_are_passed_over(folder: Path, lctl: Cli, stamps: list[str]) -> None:
    journal(folder, "run", stamps)
    assert listed(lctl) == {"run": BEGAN}


@pytest.mark.parametrize(
    ("stamps", "chain"), [([], {}), ([""], {}), ([BEGAN], {"rerun": {"of": "x"}}), ([BEGAN], {"fork": {}})]
)
def test_a_file_that_does_not_tell(folder: Path, lctl: Cli, stamps: list[str], chain: dict[str, Any]) -> None:
    """Nothing is in it, or its first times are those of the run it came of: the file's date stands."""
    journal(folder, "run", stamps, **chain)
    assert listed(lctl) == {"run": "2026-01-01T00:00:00Z"}


def test_the_head_of_a_file_is_all_that_is_looked_at(folder: Path, lctl: Cli) -> None:
    journal(folder, "run", ["", BEGAN], text="x" * 70_000)
    assert listed(lctl) == {"run": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize("form", ["json", "lines", "gzip"])
def test_logs_in_other_forms(folder: Path, lctl: Cli, form: str) -> None:
    events = [event(1, BEGAN)]
    whole = json.dumps({"lctl": "4.0", "chain": {"id": "run"}, "events": events}, indent=1).encode()
    raw = {
        "json": whole,
        "lines": b"".join(
            orjson.dumps(one) + b"\n" for one in ({"lctl": "4.0", "chain": {"id": "run"}}, *events)
        ),
        "gzip": gzip.compress(whole, mtime=0),
    }[form]
    dated(folder / "run.lctl.json", raw, WRITTEN)
    assert listed(lctl) == {"run": BEGAN}
