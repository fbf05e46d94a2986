"""Logs with little in them, logs that broke off, logs nobody understands: each has its answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.debugger.conftest import Debugger
from tests.unit.debugger.logs import Writing, open_log, review, save
from tests.unit.debugger.test_answers import check

Start = Callable[..., Debugger]

PANELS: list[tuple[str, dict[str, Any]]] = [
    ("/api/run", {}),
    ("/api/runs", {}),
    ("/api/timeline", {}),
    ("/api/timeline", {"by": "time"}),
    ("/api/events", {}),
    ("/api/events", {"back": "true"}),
    ("/api/aside", {}),
    ("/api/state", {}),
    ("/api/state", {"at": 7}),
    ("/api/facts", {}),
    ("/api/state/diff", {"at": 0, "to": 9}),
    ("/api/trend", {}),
    ("/api/trend", {"what": "tokens"}),
    ("/api/flow", {}),
    ("/api/steps", {}),
    ("/api/conversations", {}),
    ("/api/conversation", {}),
    ("/api/calls", {}),
    ("/api/costs", {}),
    ("/api/search", {"q": "anything"}),
    ("/api/search/help", {}),
    ("/api/ticks", {}),
    ("/api/neighbour", {"seq": 0}),
    ("/api/runs/spark", {"keys": "run.lctl.json"}),
]


def unknown() -> list[dict[str, Any]]:
    log = Writing()
    for n in range(5):
        log.add(f"vendor.thing{n % 2}", "", what=n, error="x")
    return log.events


def broken() -> list[dict[str, Any]]:
    """Right envelopes, wrong everything else."""
    junk: list[Any] = [None, True, -1, 2**63 - 1, "x", [], {}, [{"a": [1]}], 0.5]
    types = [
        "step_start",
        "step_end",
        "fact_added",
        "fact_modified",
        "tool_call",
        "error",
        "message",
        "exchange",
        "handoff",
        "stream_start",
        "stream_chunk",
        "stream_end",
        "checkpoint",
        "ambient",
    ]
    keys = (
        "id",
        "kind",
        "model",
        "tool",
        "text",
        "confidence",
        "message_id",
        "parent_id",
        "role",
        "content",
        "tokens",
        "duration_ms",
        "outcome",
        "prompt",
        "url",
        "chunks",
        "from",
        "to",
        "timestamp",
    )
    found: list[dict[str, Any]] = []
    for type in types:
        for value in junk:
            seq = len(found) + 1
            event: dict[str, Any] = {
                "seq": seq,
                "type": type,
                "timestamp": "nonsense",
                "agent": "a",
                "data": dict.fromkeys(keys, value),
            }
            found.append({**event, "step": 99} if seq % 3 else event)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "events"),
    [("empty", []), ("one", review()[:1]), ("unknown", unknown()), ("broken", broken()), ("whole", review())],
)
def test_every_panel_has_an_answer(
    debug: Start, tmp_path: Path, name: str, events: list[dict[str, Any]]
) -> None:
    """Closed and broken off alike; and each event in full."""
    for how in (save, open_log):
        folder = tmp_path / how.__name__
        folder.mkdir()
        server = debug(how(folder / "run.lctl.json", events))
        for path, query in PANELS:
            check(path, server.get(path, **query))
        for event in events[:30]:
            check(f"/api/event/{event['seq']}", server.get(f"/api/event/{event['seq']}"))


def test_an_unfinished_log_says_so(debug: Start, tmp_path: Path) -> None:
    """What was recovered, which steps never ended; no totals are made up."""
    path = open_log(tmp_path / "run.lctl.json", review()[:5])
    path.write_text(path.read_text() + ',\n{"seq":6,"type":"mess')
    server = debug(path)
    run = server.get("/api/run")
    assert (run["status"], run["live"], run["events"]) == ("unfinished", False, 5)
    assert any("recovered: 5 events" in note for note in run["notes"])
    assert [one["seq"] for one in server.get("/api/state")["open_steps"]] == [4, 1]
    assert server.get("/api/runs", status="unfinished")["total"] == 1


def test_a_log_that_was_not_closed_says_so_once(debug: Start, tmp_path: Path) -> None:
    server = debug(open_log(tmp_path / "run.lctl.json", review()[:5]))
    (note,) = server.get("/api/run")["notes"]
    assert note.startswith("not closed by its program")


def test_nobody_waits_for_what_is_wrong_in_a_large_log(
    debug: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told when it has been found."""
    start, waiting = threading.Thread.start, threading.Event()

    def held(thread: threading.Thread) -> None:
        if thread.name == "lctl-checking":
            run = thread.run
            monkeypatch.setattr(thread, "run", lambda: (waiting.wait(30), run()))
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", held)
    events = review()
    events[3]["data"]["text"] = "x" * 3_000_000
    path = save(tmp_path / "run.lctl.json", events)
    path.write_bytes(path.read_bytes().replace(b'{"seq":9,', b'{"seq":9;', 1))
    server = debug(path)
    first = server.get("/api/run")
    assert (first["problem_count"], first["progress"] < 1) == (0, True)
    waiting.set()
    deadline = time.monotonic() + 30
    while (run := server.get("/api/run"))["progress"] < 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert run["progress"] == 1.0
    assert "JSON" in run["problems"][0]["text"]


def test_calls_that_do_not_say_what_they_used_are_not_free(debug: Start, tmp_path: Path) -> None:
    """As `lctl stats` has it; a run without calls is."""
    log = Writing()
    step = log.add("step_start", kind="llm", model="gpt-4.1-mini")
    log.add("step_end", "planner", step, outcome="success")
    save(tmp_path / "silent.lctl.json", log.events, id="silent")
    save(tmp_path / "run.lctl.json", log.events[:0], id="run")
    server = debug(tmp_path)
    rows = {row["id"]: row for row in server.get("/api/runs")["runs"]}
    assert (rows["silent"]["cost"], rows["silent"]["tokens"]) == (None, None)
    assert server.get("/api/state", run="silent.lctl.json")["totals"]["cost"] is None
    assert server.get("/api/costs", run="silent.lctl.json")["cost"] is None
    assert server.get("/api/state", run="run.lctl.json")["totals"]["cost"] == 0.0


def test_an_empty_log_has_no_time(debug: Start, tmp_path: Path) -> None:
    server = debug(save(tmp_path / "run.lctl.json", []))
    run = server.get("/api/run")
    assert (run["events"], run["first_timestamp"], run["notes"]) == (0, None, ["no events"])
    state = server.get("/api/state")
    assert (state["seq"], state["ms"], state["totals"]["cost"]) == (0, None, 0.0)


def test_a_log_in_another_form_is_read_the_same(debug: Start, tmp_path: Path) -> None:
    """YAML, JSON Lines, with gaps and doubles: whatever `lctl` reads."""
    from lctl.chain import Chain

    Chain.from_dict({"lctl": "4.0", "chain": {"id": "x"}, "events": review()}).save(tmp_path / "run.yaml")
    server = debug(tmp_path / "run.yaml")
    assert server.get("/api/run")["form"] == "yaml"
    assert sum(lane["total"] for lane in server.get("/api/timeline")["lanes"]) == 21
    gaps = [event for event in review() if event["seq"] not in (5, 9)]
    other = debug(open_log(tmp_path / "gaps.lctl.json", gaps))
    assert other.get("/api/timeline")["edges"][-1] == 22
    assert sum(lane["total"] for lane in other.get("/api/timeline")["lanes"]) == 19
    assert other.get("/api/neighbour", seq=4)["seq"] == 6
    assert other.ask("/api/event/5").status == 404


def test_a_file_that_is_no_log_is_named_as_that(debug: Start, tmp_path: Path) -> None:
    save(tmp_path / "run.lctl.json", review())
    (tmp_path / "bad.lctl.json").write_text("<html>")
    server = debug(tmp_path)
    listed = {one["key"]: one["status"] for one in server.get("/api/runs")["runs"]}
    assert listed == {"run.lctl.json": "ok", "bad.lctl.json": "unreadable"}
    assert server.ask("/api/run", run="bad.lctl.json").error == "unreadable"
    assert (
        server.get("/api/runs/spark", keys=["bad.lctl.json", "run.lctl.json"])["sparks"]["bad.lctl.json"]
        == []
    )


def test_large_documents_of_others_hold_up_no_list(debug: Start, tmp_path: Path) -> None:
    """Neither for their totals nor for their curve; they open when they are asked for."""
    large = tmp_path / "20260101-000001-large.lctl.json"
    events = [{"seq": 1, "type": "x", "data": {"text": "word " * 1_000_000}}]
    large.write_text(json.dumps({"lctl": "4.0", "chain": {"id": "large"}, "events": events}, indent=1))
    server = debug(save(tmp_path / "20260101-000002-run.lctl.json", review()))
    found = server.get("/api/runs")["runs"]
    assert [(run["id"], run["events"], run["problem"]) for run in found][1] == ("large", None, "")
    assert server.get("/api/runs/spark", keys=large.name)["sparks"] == {large.name: []}
    assert server.get("/api/run", run=large.name)["events"] == 1


def test_a_fork_of_a_log_with_half_a_character_is_prepared(debug: Start, tmp_path: Path) -> None:
    """As others write JSON. (lctl writes such a character as its escape.)"""
    log = Writing()
    log.add("tool_call", tool="look", input={}, output="cut \ud83d")
    log.add("error", category="execution_error", message="the end")
    text = json.dumps(
        {
            "lctl": "4.0",
            "chain": {"id": "half", "program": {"argv": ["python", "x.py"]}},
            "events": log.events,
        }
    )
    (tmp_path / "half.lctl.json").write_text(text)
    running = debug(tmp_path / "half.lctl.json")
    answer = running.post("/api/fork/prepare", {"run": "half.lctl.json", "at": 2})
    assert answer.status == 200, answer.body


def test_a_body_beside_a_message_whose_id_is_none(debug: Start, tmp_path: Path) -> None:
    """The message it refers to is found behind others, of whatever kind their ids are."""
    log = Writing()
    call = log.add("step_start", kind="llm", model="m")
    body = ['{"content":', {"$content": "m"}, "}"]
    log.add("exchange", "planner", call, method="POST", url="http://h/", status=200, body=body)
    log.add("message", "planner", call, message_id={"a": 1}, role="assistant", content="?")
    log.add("message", "planner", call, message_id="m", role="assistant", content="Hi")
    seen = debug(save(tmp_path / "run.lctl.json", log.events)).get("/api/event/2")["exchanges"]
    assert seen[0]["response"]["body"] == '{"content":"Hi"}'
