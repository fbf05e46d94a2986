"""What the API says of a run, and that it says it in the shapes of its OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lctl.analysis.failures import failures
from lctl.chain import Chain
from lctl.codec import open_log
from lctl.debugger.openapi import document
from lctl.session import LCTLSession
from tests.golden import logs as golden
from tests.unit.debugger.conftest import Debugger
from tests.unit.debugger.logs import Writing, review, save

Start = Callable[..., Debugger]

ASKED: list[tuple[str, dict[str, Any]]] = [
    ("/api/session", {}),
    ("/api/runs", {}),
    ("/api/runs", {"sort": "errors", "status": "ok", "q": "run"}),
    ("/api/lineage", {}),
    ("/api/run", {}),
    ("/api/timeline", {}),
    ("/api/timeline", {"by": "time", "width": 7}),
    ("/api/timeline", {"from": 4, "to": 9}),
    ("/api/neighbour", {"seq": 1, "what": "error"}),
    ("/api/ticks", {"from": 2, "limit": 3}),
    ("/api/events", {"from": 3, "limit": 4}),
    ("/api/events", {"from": 9, "limit": 4, "back": "true"}),
    ("/api/events", {"q": "type:tool_call"}),
    ("/api/aside", {}),
    ("/api/event/4", {}),
    ("/api/event/8", {}),
    ("/api/event/19", {}),
    ("/api/state", {"at": 13}),
    ("/api/state", {"at": 0}),
    ("/api/facts", {}),
    ("/api/state/diff", {"at": 3, "to": 19}),
    ("/api/trend", {}),
    ("/api/trend", {"what": "cost"}),
    ("/api/flow", {}),
    ("/api/steps", {}),
    ("/api/steps", {"root": 1}),
    ("/api/conversations", {}),
    ("/api/conversation", {}),
    ("/api/conversation", {"leaf": "m6", "limit": 2}),
    ("/api/calls", {}),
    ("/api/call/10", {}),
    ("/api/calls/diff", {"left": 4, "right": 10}),
    ("/api/costs", {}),
    ("/api/search", {"q": "eval"}),
    ("/api/search/help", {}),
]


@cache
def validator(path: str, method: str) -> jsonschema.Draft202012Validator:
    """Of the answers to a route, as the document has it."""
    whole = document()
    found = whole["paths"][path][method]["responses"]["200"]["content"]["application/json"]["schema"]
    return jsonschema.Draft202012Validator({**found, "components": whole["components"]})


def check(path: str, answer: Any, method: str = "get") -> None:
    """The answer is of the shape the document says."""
    names = path.strip("/").split("/")
    for known in document()["paths"]:
        parts = known.strip("/").split("/")
        if len(names) == len(parts) and all(a == b or b[0] == "{" for a, b in zip(names, parts, strict=True)):
            validator(known, method).validate(answer)
            return
    raise AssertionError(f"the document has no {path}")


def test_every_answer_is_of_its_documented_shape(debug: Start, tmp_path: Path) -> None:
    """All routes that read, on a log that has something for each; the document is served, too."""
    server = debug(save(tmp_path / "run.lctl.json", review()))
    for path, query in ASKED:
        check(path, server.get(path, **query))
    assert server.get("/api/openapi.json") == document()


def test_a_request_the_document_does_not_have_is_refused_in_its_shape(debug: Start, tmp_path: Path) -> None:
    server = debug(save(tmp_path / "run.lctl.json", review()))
    wrong: list[tuple[str, dict[str, Any], int, str]] = [
        ("/api/event/99", {}, 404, "not_found"),
        ("/api/event/x", {}, 400, "bad_request"),
        ("/api/run", {"run": "../../etc/passwd"}, 404, "not_found"),
        ("/api/search", {}, 400, "bad_request"),
        ("/api/timeline", {"by": "colour"}, 400, "bad_request"),
        ("/api/nothing", {}, 404, "not_found"),
        ("/api/call/8", {}, 404, "not_found"),
        ("/api/conversation", {"leaf": "m99"}, 404, "not_found"),
    ]
    for path, query, status, code in wrong:
        answer = server.ask(path, **query)
        assert (answer.status, answer.error) == (status, code), path
    unread = server.ask("/api/search", q="tool: grep")
    assert unread.status == 400
    assert unread.json["error"]["position"] == 0


def test_the_state_at_any_seq_is_the_fold(debug: Start, tmp_path: Path) -> None:
    """Totals, facts and open steps of each seq are those of `Chain.at`."""
    path = save(tmp_path / "run.lctl.json", review())
    server, chain = debug(path), Chain.load(path)
    for seq in range(22):
        said, known = server.get("/api/state", at=seq), chain.at(seq)
        assert said["totals"]["tokens"]["input"] == known.totals.tokens.input
        assert said["totals"]["errors"] == known.totals.errors
        assert {one["id"]: one["confidence"] for one in said["facts"]} == {
            id: fact.confidence for id, fact in known.facts.items()
        }
        assert [one["seq"] for one in said["open_steps"]] == list(reversed(known.open_steps))


def test_costs_of_long_prompts_that_are_dearer(debug: Start, tmp_path: Path) -> None:
    """At every event they are those of the calls until then: in the state, over the run, and in the list of
    runs. Of sums alone they would fall when short calls follow a long one."""
    path = golden.written(tmp_path / "run.lctl.json", golden.long_prompts([270_000, 10, 1000]), "long")
    server = debug(path)
    right = [(2, 1.62), (4, 1.62003), (6, 1.62303)]
    for seq, cost in right:
        assert server.get("/api/state", at=seq)["totals"]["cost"] == pytest.approx(cost)
        assert server.get("/api/costs", at=seq)["cost"] == pytest.approx(cost)
    curve = server.get("/api/trend", what="cost")["series"][0]["points"]
    assert [one for _, one in curve if one] == pytest.approx([cost for _, cost in right])
    (run,) = server.get("/api/runs")["runs"]
    assert run["cost"] == pytest.approx(right[-1][1])


def test_confidence_zero_is_zero(debug: Start, tmp_path: Path) -> None:
    """0.0 was said; null is what nobody said."""
    server = debug(save(tmp_path / "run.lctl.json", review()))
    facts = {one["id"]: one for one in server.get("/api/state")["facts"]}
    assert facts["F0"]["confidence"] == 0.0
    assert facts["F0"]["gate"] == "block"
    series = {one["name"]: one["points"] for one in server.get("/api/trend", ids=["F0", "F1"])["series"]}
    assert series == {"F0": [[14, 0.0]], "F1": [[13, 0.85], [19, 0.95]]}


def test_what_an_event_changed_and_what_two_states_differ_in(debug: Start, tmp_path: Path) -> None:
    server = debug(save(tmp_path / "run.lctl.json", review()))
    changed = server.get("/api/state", at=19)
    assert {
        "section": "facts",
        "name": "F1",
        "field": "confidence",
        "before": 0.85,
        "after": 0.95,
    } in changed["changes"]
    assert [one["id"] for one in changed["facts"] if one["changed"]] == ["F1"]
    forward = server.get("/api/state/diff", at=15, to=21)["changes"]
    back = server.get("/api/state/diff", at=21, to=15)["changes"]
    assert len(forward) == len(back) > 3
    assert {(one["section"], one["name"], one["field"]) for one in forward} == {
        (one["section"], one["name"], one["field"]) for one in back
    }


def test_the_time_bar_counts_every_event_once(debug: Start, tmp_path: Path) -> None:
    """By seq and by time, whole and in part; marks and spans stand where they belong."""
    server = debug(save(tmp_path / "run.lctl.json", review()))
    for query in ({}, {"width": 5}, {"width": 5, "by": "time"}, {"from": 4, "to": 11, "width": 3}):
        bar = server.get("/api/timeline", **query)
        first, last = bar["from"], bar["to"]
        assert bar["edges"][0] == first and bar["edges"][-1] == last + 1
        assert sorted(bar["edges"]) == bar["edges"]
        assert len(bar["ms"]) == len(bar["edges"])
        assert sum(sum(lane["counts"]) for lane in bar["lanes"]) == last - first + 1
        assert all(sum(lane["counts"]) == lane["total"] for lane in bar["lanes"])
    whole = server.get("/api/timeline")
    assert (whole["errors"], whole["checkpoints"], whole["handoffs"]) == ([18], [20], [16])
    lanes = {lane["agent"]: lane for lane in whole["lanes"]}
    assert list(lanes) == ["planner", "fixer", "system"]
    assert [one["seq"] for one in lanes["planner"]["spans"]] == [1, 4, 10]
    assert [one["depth"] for one in lanes["planner"]["spans"]] == [0, 1, 1]
    assert [one[0] for one in lanes["planner"]["tools"]] == [8]
    inside = server.get("/api/timeline", **{"from": 11, "to": 12})
    assert [one["seq"] for one in inside["lanes"][0]["spans"]] == [1, 10]


def test_a_step_that_was_broken_off_is_an_error(debug: Start, tmp_path: Path) -> None:
    """In the list of events, on the ruler and for the keys alike."""
    log = Writing()
    for outcome in ("success", "aborted"):
        step = log.add("step_start", kind="agent", intent="plan")
        log.add("step_end", "planner", step, outcome=outcome)
    server = debug(save(tmp_path / "run.lctl.json", log.events))
    assert [row["seq"] for row in server.get("/api/events", **{"from": 1})["rows"] if row["error"]] == [4]
    assert server.get("/api/timeline")["errors"] == [4]
    assert server.get("/api/neighbour", seq=1, what="error")["seq"] == 4


def test_one_failure_is_counted_marked_and_gone_to_once(debug: Start, tmp_path: Path) -> None:
    """The ends of its steps are as red in the list, and lead nowhere else than the error does."""
    log = Writing()
    agent = log.add("step_start", kind="agent")
    call = log.add("step_start", "planner", agent, kind="llm", model="m")
    log.add("exchange", "planner", call, method="POST", url="http://x/", status=500)
    error = log.add("error", "planner", call, category="execution_error", type="server_error", message="no")
    log.add("step_end", "planner", call, outcome="error")
    log.add("step_end", "planner", agent, outcome="error")
    server = debug(save(tmp_path / "run.lctl.json", log.events))
    assert server.get("/api/neighbour", seq=1, what="error")["seq"] == error
    assert server.get("/api/neighbour", seq=error, what="error")["seq"] is None
    assert server.get("/api/neighbour", seq=6, what="error", back="true")["seq"] == error
    timeline = server.get("/api/timeline")
    assert timeline["errors"] == [4] and [sum(lane["errors"]) for lane in timeline["lanes"]] == [1]
    assert server.get("/api/run")["failures"] == 1
    said = [{"seq": error, "text": "error execution_error/server_error: no"}]
    assert server.get(f"/api/call/{call}")["failures"] == said


def test_failures_are_those_that_lctl_errors_groups(debug: Start, tmp_path: Path) -> None:
    """A failed tool call is one; a step is one where nothing that failed was in it, be it beside others."""
    log = Writing()
    team = log.add("step_start", kind="agent")
    first, second = (log.add("step_start", name, team, kind="task") for name in ("ann", "bob"))
    log.add("tool_call", "ann", first, tool="search", error="503", duration_ms=1)
    log.add("step_end", "bob", second, outcome="error")
    log.add("step_end", "ann", first, outcome="error")
    log.add("step_end", "planner", team, outcome="error")
    path = save(tmp_path / "run.lctl.json", log.events)
    server = debug(path)
    assert server.get("/api/timeline")["errors"] == [4, 5]
    assert server.get("/api/run")["failures"] == 2
    assert sorted(seq for one in failures(open_log(path)) for seq in one.seqs) == [4, 5]


def test_a_log_that_does_not_say_how_it_ended_is_asked(debug: Start, tmp_path: Path) -> None:
    """Of a log that others have written, without a summary, the events tell."""
    log = Writing()
    step = log.add("step_start", kind="agent")
    log.add("step_end", "planner", step, outcome="error")
    path = tmp_path / "run.lctl.json"
    path.write_text(json.dumps({"lctl": "4.0", "chain": {"id": "foreign"}, "events": log.events}))
    assert debug(path).get("/api/run")["status"] == "error"


@pytest.mark.parametrize(
    ("what", "forward", "back"),
    [
        ("event", 9, 7),
        ("error", 18, None),
        ("step", 10, 4),
        ("llm", 10, 4),
        ("tool", None, None),
        ("checkpoint", 20, None),
        ("change", 13, None),
        ("handoff", 16, None),
    ],
)
def test_keys_go_to_the_next_and_the_one_before(
    debug: Start, tmp_path: Path, what: str, forward: int | None, back: int | None
) -> None:
    server = debug(save(tmp_path / "run.lctl.json", review()))
    assert server.get("/api/neighbour", seq=8, what=what)["seq"] == forward
    assert server.get("/api/neighbour", seq=8, what=what, back="true")["seq"] == back


def test_an_event_has_what_belongs_to_it_and_can_be_taken_away(debug: Start, tmp_path: Path) -> None:
    server = debug(save(tmp_path / "run.lctl.json", review()))
    seen = server.get("/api/event/6")
    assert [one["seq"] for one in seen["path"]] == [1, 4]
    assert seen["call"]["step"] == 4 and seen["call"]["tokens"]["input"] == 100
    assert seen["exchanges"][0]["url"] == "https://api.openai.com/v1/chat/completions"
    assert (seen["previous"], seen["next"]) == (5, 7)
    compile(seen["copy"]["python"], "copied", "exec")
    assert "$OPENAI_API_KEY" in seen["copy"]["curl"]
    assert seen["copy"]["lctl"].endswith("run.lctl.json 6")
    raw = server.ask("/api/raw/6")
    assert raw.headers["content-disposition"].startswith("attachment")
    assert raw.json == seen["event"]


def test_a_very_large_event_shows_how_its_texts_begin(debug: Start, tmp_path: Path) -> None:
    """Also inside of lists and objects; never more than a megabyte, and the raw event is whole."""
    with LCTLSession("run", tmp_path / "run.lctl.json") as session:
        session.tool_call("read", {"path": "a", "more": "z" * 300_000}, "log " + "x" * 900_000)
        session.tool_call("list", {}, [{"name": f"n{n}", "text": "y" * 30_000} for n in range(200)])
    server = debug(tmp_path / "run.lctl.json")
    first, second = (server.get(f"/api/event/{seq}")["event"]["data"] for seq in (1, 2))
    assert first["input"]["path"] == "a" and len(first["input"]["more"]) < 21_000
    assert first["output"].startswith("log xxx") and first["output"].endswith("… (880,004 more characters)")
    assert second["output"][0]["name"] == "n0" and second["output"][0]["text"].startswith("yyy")
    assert second["output"][-1].endswith(" more") and len(str(second)) < 1_200_000
    assert len(server.ask("/api/raw/1").json["data"]["output"]) == 900_004


def test_a_call_shows_what_the_model_read_and_the_next_ones_difference(debug: Start, tmp_path: Path) -> None:
    server = debug(save(tmp_path / "run.lctl.json", review()))
    call = server.get("/api/call/10")
    assert [one["id"] for one in call["prompt"]] == ["m1", "m2", "m6", "m9"]
    assert [one["parts"][0]["kind"] for one in call["prompt"]] == ["text", "text", "tool_call", "tool_result"]
    assert call["prompt"][2]["parts"][0]["arguments"] == {"pattern": "eval"}
    assert call["prompt"][3]["parts"][0]["name"] == "grep"  # which the result itself does not say
    assert [one["id"] for one in call["answers"]] == ["m11"]
    assert [tool["name"] for tool in call["tools"]] == ["grep"]
    assert call["previous"] == 4
    diff = server.get("/api/calls/diff", left=4, right=10)
    assert [part["kind"] for part in diff["parts"]] == ["same", "same", "injected", "injected"]
    assert diff["params"] == [{"path": "temperature", "left": 0, "right": 0.5}]


def test_context_that_was_cut_changed_or_dropped_is_called_so(debug: Start, tmp_path: Path) -> None:
    """A compacted history: a long result cut short, a system prompt reworded, a message left out."""
    log = Writing()
    long = "line of a file\n" * 400
    for id, parent, role, content in (
        ("a1", None, "system", "You are a reviewer."),
        ("a2", "a1", "user", "Read the file and tell me what you see in it"),
        ("a3", "a2", "user", long),
        ("b1", None, "system", "You are a careful reviewer."),
        ("b3", "b1", "user", long[:200] + "... [truncated]"),
    ):
        log.add("message", message_id=id, parent_id=parent, role=role, content=content, conversation_id=id[0])
    calls = [log.add("step_start", kind="llm", model="m", prompt=leaf) for leaf in ("a3", "b3")]
    server = debug(save(tmp_path / "run.lctl.json", log.events))
    diff = server.get("/api/calls/diff", left=calls[0], right=calls[1])
    assert [part["kind"] for part in diff["parts"]] == ["changed", "dropped", "truncated"]
    assert diff["counts"] == {"injected": 0, "dropped": 1, "changed": 1, "truncated": 1}
    assert diff["parts"][2]["lost"] == len(long) - 215


def test_search_gives_rows_and_places_and_goes_on(debug: Start, tmp_path: Path) -> None:
    server = debug(save(tmp_path / "run.lctl.json", review()))
    found = server.get("/api/search", q="type:step_start kind:llm", width=21)
    assert [row["seq"] for row in found["rows"]] == [4, 10]
    assert [n + 1 for n, count in enumerate(found["bins"]) if count] == [4, 10]
    assert (found["matches"], found["next"], found["progress"]) == (2, None, 1.0)
    assert server.get("/api/search", q="eval", limit=1)["matches"] > 1
    assert server.get("/api/search", q="error:*")["matches"] == 1


def test_costs_are_those_of_stats(debug: Start, tmp_path: Path) -> None:
    from lctl.analysis.stats import stats
    from lctl.codec import open_log

    path = save(tmp_path / "run.lctl.json", review())
    said, known = debug(path).get("/api/costs"), stats(open_log(path))
    assert said["cost"] == known.cost and said["cost"] > 0
    assert [one["name"] for one in said["agents"]] == [one.name for one in known.agents]
    assert said["cache"]["read"] == 100 and said["cache"]["saved"] > 0
    assert said["critical"][0]["start_ms"] == 0.0


def test_a_fork_in_a_folder_costs_what_it_sent(debug: Start, tmp_path: Path) -> None:
    """Not what came from the tape, which its recording has paid for."""
    save(tmp_path / "run.lctl.json", review())
    events = list(review())
    save(
        tmp_path / "fork.lctl.json", events, "f", fork={"edits": []}, parent={"id": "run", "seq": len(events)}
    )
    rows = {one["id"]: one for one in debug(tmp_path).get("/api/runs")["runs"]}
    assert rows["run"]["cost"] > 0 and rows["run"]["tokens"]["input"] > 0
    assert (rows["f"]["cost"], rows["f"]["tokens"]["input"]) == (0.0, 0)


def test_flow_and_steps(debug: Start, tmp_path: Path) -> None:
    server = debug(save(tmp_path / "run.lctl.json", review()))
    flow = server.get("/api/flow")
    assert [node["agent"] for node in flow["nodes"]][:2] == ["planner", "fixer"]
    edges = {(one["from"], one["to"], one["kind"]): one["count"] for one in flow["edges"]}
    assert edges == {("planner", "fixer", "handoff"): 1, ("planner", "fixer", "next"): 1}
    assert server.get("/api/flow", at=10)["edges"] == []
    steps = server.get("/api/steps")
    assert [(one["seq"], one["depth"]) for one in steps["spans"]] == [(1, 0), (4, 1), (10, 1), (17, 0)]
    assert [one["seq"] for one in server.get("/api/steps", limit=1)["spans"]] == [1]
    assert server.get("/api/steps", at=5)["spans"][1]["open"] is True
