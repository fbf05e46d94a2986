"""The weeks between a recording and its fork are no part of how long the fork took."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from lctl.analysis.pauses import duration_of
from lctl.analysis.runends import read_run
from lctl.analysis.stats import stats
from lctl.cli import main
from tests.unit.debugger.conftest import Debugger
from tests.unit.debugger.logs import Event, append, open_log, review, save

Start = Callable[..., Debugger]

_AT = 7
#: Of the whole run, ten milliseconds from event to event, but that after the pause comes at once.
_WHOLE = 10.0 * (len(review()) - 2)
_FORK = {"fork": {"at": _AT, "edits": ["tool:grep=x"]}, "parent": {"id": "run", "seq": _AT}}


def _later(events: list[Event], since: int, **by: int) -> list[Event]:
    """The same; those after event `since` happened days later."""
    made = [dict(event) for event in events]
    for event in made[since:]:
        at = datetime.fromisoformat(event["timestamp"]) + timedelta(**by)
        event["timestamp"] = at.isoformat(timespec="microseconds").replace("+00:00", "Z")
    return made


def test_times_of_a_fork_are_those_of_one_run(debug: Start, tmp_path: Path) -> None:
    events = review()  # ten milliseconds apart: the fork goes on at once
    plain = debug(save(tmp_path / "run.lctl.json", _later(events, _AT, milliseconds=-10)))
    fork = debug(save(tmp_path / "fork.lctl.json", _later(events, _AT, days=20), "fork", **_FORK))
    for route, query in (
        ("/api/events", {"limit": 100}),
        ("/api/timeline", {"width": 100}),
        ("/api/steps", {}),
        ("/api/flow", {}),
    ):
        left, right = plain.get(route, **query), fork.get(route, **query)
        for row in (*left.get("rows", []), *right.get("rows", [])):
            del row["timestamp"]
        assert left == right, route
    assert plain.get("/api/run")["duration_ms"] == fork.get("/api/run")["duration_ms"] > 0
    _without_durations(events)
    plain = debug(save(tmp_path / "run2.lctl.json", _later(events, _AT, milliseconds=-10)))
    fork = debug(save(tmp_path / "fork2.lctl.json", _later(events, _AT, days=20), "fork", **_FORK))
    for at in (_AT - 1, _AT, _AT + 1, len(events)):
        left, right = plain.get("/api/state", at=at), fork.get("/api/state", at=at)
        assert left["ms"] == right["ms"]
        assert left["totals"] == right["totals"]
        assert left["agents"] == right["agents"]
        assert left["changes"] == right["changes"]
    for to in (_AT, _AT + 1, len(events)):
        left, right = (one.get("/api/state/diff", at=1, to=to) for one in (plain, fork))
        assert left["changes"] == right["changes"]


def test_a_fork_has_one_length(debug: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In lists, in its state, in its statistics, in the page; said in words where the state is shown."""
    path = save(tmp_path / "fork.lctl.json", _later(review(), _AT, days=20), "fork", **_FORK)
    (run,) = debug(tmp_path).get("/api/runs")["runs"]
    assert run["duration_ms"] == debug(path).get("/api/run")["duration_ms"] == _WHOLE
    found = read_run(path)
    assert duration_of(found) == stats(found.log()).duration_ms == _WHOLE
    for words in (["ls", str(tmp_path)], ["runs", str(tmp_path)]):
        main(words)
        assert f" {_WHOLE:.0f}ms " in capsys.readouterr().out
    main(["show", str(path)])
    assert f"21 events over {_WHOLE:.0f}ms (without 480h 0m since its recording)" in capsys.readouterr().out


def test_a_damaged_log_is_marked_in_the_list(debug: Start, tmp_path: Path) -> None:
    """Its end counts what is no longer there."""
    whole = save(tmp_path / "whole.lctl.json", review())
    lines = whole.read_text().splitlines(keepends=True)
    (tmp_path / "gap.lctl.json").write_text("".join(lines[:8] + lines[12:]))
    rows = {row["key"]: row for row in debug(tmp_path).get("/api/runs")["runs"]}
    assert rows["whole.lctl.json"]["damage"] == ""
    assert "events 8 to 11 are missing" in rows["gap.lctl.json"]["damage"]


def test_what_a_program_could_not_record_is_said_in_the_list_and_of_the_run(
    debug: Start, tmp_path: Path
) -> None:
    path = save(tmp_path / "full.lctl.json", review())
    path.write_text(path.read_text().replace('"summary":{', '"summary":{"lost":345,'))
    save(tmp_path / "whole.lctl.json", review())
    rows = {row["key"]: row for row in debug(tmp_path).get("/api/runs")["runs"]}
    assert {key: row["lost"] for key, row in rows.items()} == {"full.lctl.json": 345, "whole.lctl.json": 0}
    assert "345 events could not be recorded" in debug(path).get("/api/run")["notes"]


def test_a_comparison_counts_what_the_calls_used_whoever_answered_them(debug: Start, tmp_path: Path) -> None:
    """And beside it what the fork sent itself."""
    save(tmp_path / "run.lctl.json", review())
    made = {"fork": {"at": 3, "edits": ["tool:grep=x"]}, "parent": {"id": "run", "seq": 3}}
    events = _later(review(), 3, days=20)
    events[4]["data"] = {
        **events[4]["data"],
        "match": "live",
    }  # one call was sent, the tape answered the other
    save(tmp_path / "fork.lctl.json", events, "fork", **made)
    found = debug(tmp_path).get("/api/compare", left="run.lctl.json", right="fork.lctl.json")
    left, right = found["left"], found["right"]
    for name in ("llm_calls", "tokens", "cost"):
        assert left[name] == right[name] > 0
        assert left[f"live_{name.removeprefix('llm_')}"] == left[name]
    assert 0 < right["live_calls"] < right["llm_calls"]
    assert 0 < right["live_tokens"] < right["tokens"] and 0 < right["live_cost"] < right["cost"]


def _without_durations(events: list[Event]) -> None:
    for event in events:
        if event["type"] == "step_end":
            event["data"] = {name: value for name, value in event["data"].items() if name != "duration_ms"}


def test_a_rerun_that_went_on_by_itself(debug: Start, tmp_path: Path) -> None:
    """Where it parted from its recording it says as it ends."""
    events = _later(review(), _AT, days=20)
    path = open_log(tmp_path / "rerun.lctl.json", events, "rerun", rerun={"of": "run"})
    server = debug(path)
    assert server.get("/api/timeline", width=10)["edges"]
    assert server.get("/api/run")["duration_ms"] > 86_400_000
    with path.open("a") as file:
        file.write(f'\n],"rerun":{{"exact":false,"first_difference":{{"seq":{_AT + 1}}}}}}}')
    _wait(lambda: server.get("/api/run")["duration_ms"] == _WHOLE)
    assert max(server.get("/api/timeline", width=10)["ms"]) == _WHOLE


def test_a_fork_that_is_being_written(debug: Start, tmp_path: Path) -> None:
    """Its first own event comes when the page is already open."""
    events = _later(review(), _AT, days=20)
    path = open_log(tmp_path / "fork.lctl.json", events[:_AT], "fork", **_FORK)
    server = debug(path)
    assert server.get("/api/run")["duration_ms"] == 10.0 * (_AT - 1)
    append(path, events[_AT:])
    _wait(lambda: server.get("/api/run")["last_seq"] == len(events))
    assert server.get("/api/run")["duration_ms"] == _WHOLE
    assert server.get("/api/timeline", width=10)["edges"]


def test_an_agent_that_is_at_work_has_worked(debug: Start, tmp_path: Path) -> None:
    server = debug(save(tmp_path / "run.lctl.json", review()))
    node = server.get("/api/flow", at=5)["nodes"][0]
    assert node["running"] and node["wall_ms"] == 40.0


def _wait(holds: Callable[[], bool]) -> None:
    """The server looks at a file twenty times a second at most."""
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)
