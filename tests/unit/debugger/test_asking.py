"""Comparing, what-if, preparing and running a fork, through the API."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lctl.analysis.diff import diff
from lctl.codec import open_log
from tests.unit.debugger.conftest import Debugger
from tests.unit.debugger.logs import review, save
from tests.unit.debugger.test_answers import check

Start = Callable[..., Debugger]


def test_two_runs_side_by_side(debug: Start, tmp_path: Path) -> None:
    """Every event of both stands in one row; differences are those of `lctl diff`."""
    events = review()
    changed = [dict(event) for event in events]
    changed[7] = {**changed[7], "data": {**changed[7]["data"], "output": "app.py:3\napp.py:9"}}
    del changed[17]  # the error
    for n, event in enumerate(changed, 1):
        event["seq"] = n
    left = save(tmp_path / "left.lctl.json", events, id="left")
    right = save(
        tmp_path / "right.lctl.json",
        changed,
        id="right",
        parent={"id": "left", "seq": 7},
        fork={"at": 7, "edits": ["tool:grep=x"]},
    )
    server = debug(left)
    query = {"left": "left.lctl.json", "right": "right.lctl.json"}
    found = server.get("/api/compare", **query)
    check("/api/compare", found)
    known = diff(open_log(left), open_log(right))
    assert found["total"] == len(known.differences) and found["equal"] == known.equal
    assert found["fork"] == {"seq": 7, "fork": "right", "edits": ["tool:grep=x"]}
    assert [(one["kind"], (one["left"] or one["right"])["seq"]) for one in found["differences"]] == [
        (one.kind, (one.left or one.right).seq)  # type: ignore[union-attr]
        for one in known.differences
    ]
    rows = server.get("/api/compare/rows", **query)
    check("/api/compare/rows", rows)
    assert [row["left"]["seq"] for row in rows["rows"] if row["left"]] == list(range(1, 22))
    assert sorted(row["right"]["seq"] for row in rows["rows"] if row["right"]) == list(range(1, 21))
    assert {row["difference"] for row in rows["rows"] if row["difference"] is not None} == set(
        range(found["total"])
    )
    assert found["blocks"][0] == [1, 1, 17]
    lineage = [(run["key"], run["depth"], run["parent"]) for run in server.get("/api/lineage")["runs"]]
    assert lineage == [("left.lctl.json", 0, None), ("right.lctl.json", 1, "left.lctl.json")]
    assert server.get("/api/run")["forks"][0]["key"] == "right.lctl.json"
    assert server.ask("/api/compare", left="left.lctl.json").status == 400


def test_what_if_from_the_editor(debug: Start, tmp_path: Path) -> None:
    """The changed data of an event becomes edits; what follows is said; the log stays as it is."""
    path = save(tmp_path / "run.lctl.json", review())
    before = path.read_bytes()
    server = debug(path)
    data = {**review()[12]["data"], "confidence": 0.3}
    del data["source"]
    answer = server.post("/api/whatif", {"at": 13, "data": data, "to_seq": 15})
    check("/api/whatif", answer.json, "post")
    found = answer.json
    assert found["edits"] == ["data.confidence=0.3", "del data.source"]
    assert {
        "section": "facts",
        "name": "F1",
        "field": "gate",
        "before": "proceed",
        "after": "block",
    } in found["changes"]
    assert "--at 13 --set data.confidence=0.3" in found["command"]
    assert found == server.post("/api/whatif", {"at": 13, "data": data, "to_seq": 15}).json
    assert path.read_bytes() == before
    assert server.post("/api/whatif", {"at": 13}).status == 400
    slip = server.post("/api/whatif", {"at": 13, "data": {**data, "confidense": 1}})
    assert (slip.status, "data.confidence" in slip.json["error"]["message"]) == (400, True)
    assert server.post("/api/whatif", {"at": 13, "set": ["nonsense"]}).error == "bad_request"


def test_a_fork_that_cannot_begin_says_why(debug: Start, tmp_path: Path) -> None:
    server = debug(save(tmp_path / "run.lctl.json", review()))
    made = server.post("/api/fork/prepare", {"at": 10, "set": ["model=gpt-4.1"]}).json
    check("/api/fork/prepare", made, "post")
    assert (made["possible"], made["confirm"]) == (False, None) and made["problem"]
    assert made["command"].endswith("--at 10 --set model=gpt-4.1")


PROGRAM = """
import os, sys
sys.stdout.write(f"hello {os.environ.get('NAME', 'nobody')}\\n")
"""


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording of a program that runs again."""
    import subprocess

    (tmp_path / "agent.py").write_text(PROGRAM)
    folder = tmp_path / "runs"
    environment = {"LCTL_DIR": str(folder), "LCTL_QUIET": "1", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    subprocess.run(
        [sys.executable, "-m", "lctl", "run", "agent.py"],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
    )
    monkeypatch.delenv("LCTL_DIR", raising=False)
    return next(folder.glob("*.lctl.json"))


def test_a_fork_runs_once_when_it_was_allowed_and_confirmed(debug: Start, recorded: Path) -> None:
    """Prepared, shown, confirmed: then its output is streamed and its log is among the runs."""
    server = debug(recorded, allow_run=True)
    made = server.post("/api/fork/prepare", {"at": 0}).json
    assert made["possible"], made["problem"]
    assert made["confirm"]
    stream = server.stream("/api/fork/run", method="POST", body={"confirm": made["confirm"]})
    told = list(stream)
    assert told[0] == ("started", {"command": made["command"], "job": told[0][1]["job"]})
    said = "".join(data["text"] for event, data in told if event == "output" and data["stream"] == "stdout")
    assert said == "hello nobody\n"
    ended = told[-1][1]
    assert (told[-1][0], ended["code"], ended["left"]) == ("ended", 0, recorded.name)
    assert server.get("/api/run", run=ended["run"])["kind"] == "fork"
    again = server.post("/api/fork/run", {"confirm": made["confirm"]})
    assert (again.status, again.error) == (409, "conflict")


def test_nothing_runs_that_was_not_allowed(debug: Start, recorded: Path) -> None:
    """Without --allow-run there is no code, and no code is good; with it, only one that was given."""
    server = debug(recorded)
    assert server.post("/api/fork/prepare", {"at": 0}).json["confirm"] is None
    assert server.post("/api/fork/run", {"confirm": "x"}).error == "forbidden"
    allowed = debug(recorded, allow_run=True)
    assert allowed.post("/api/fork/run", {"confirm": "x"}).error == "conflict"
    assert allowed.post("/api/fork/run", {"argv": ["rm"]}).error == "bad_request"
    assert len(list(recorded.parent.glob("*.lctl.json"))) == 1


def test_sql_reads_the_run_as_it_was(debug: Start, tmp_path: Path) -> None:
    """Rows, and the place of what is wrong; nothing is written."""
    server = debug(save(tmp_path / "run.lctl.json", review()))
    answer = server.get("/api/sql", sql="SELECT id, confidence, seq FROM facts ORDER BY id")
    check("/api/sql", answer)
    assert answer["columns"] == ["id", "confidence", "seq"] and answer["seqs"] == 2
    assert answer["rows"] and not answer["more"]
    first = server.get("/api/sql", sql="SELECT min(added) FROM facts")["rows"][0][0]
    assert server.get("/api/sql", sql="SELECT * FROM facts", at=first - 1)["rows"] == []
    wrong = server.ask("/api/sql", sql="SELECT nothing FROM facts")
    assert (wrong.status, wrong.json["error"]["position"]) == (400, 7)
    assert server.ask("/api/sql", sql="DELETE FROM facts").status == 400
    assert server.ask("/api/sql", sql=" ").status == 400
    assert "confidence" in server.get("/api/search/help")["tables"]["facts"]
