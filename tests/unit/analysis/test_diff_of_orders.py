"""Comparing two runs whose events came in another order: what of that is luck, and what a difference."""

from __future__ import annotations

import json
from typing import Any

from lctl.analysis.diff import diff
from lctl.analysis.differences import title
from tests.unit.analysis.chains import Script, diff_of, log_of


def test_leaf_events_of_one_agent_in_another_order_differ() -> None:
    """To write and then test is not to test and then write."""
    left, right = Script(), Script()
    for script, order in ((left, ("write", "test")), (right, ("test", "write"))):
        step = script.start("coder", kind="agent")
        for tool in order:
            script.after(10).add("tool_call", "coder", step, tool=tool, input={}, output="ok", duration_ms=5)
        script.end(step, "coder")
    assert len(diff(left.log(), right.log()).differences) == 2


def test_tool_calls_that_ran_at_once_may_end_in_any_order() -> None:
    """They are recorded when they end; their times say that they overlapped."""
    left, right = Script(), Script()
    for script, order in ((left, ("a", "b")), (right, ("b", "a"))):
        step = script.start("coder", kind="agent")
        for tool in order:
            script.after(10).add("tool_call", "coder", step, tool=tool, input={}, output="ok", duration_ms=15)
        script.end(step, "coder")
    assert not diff(left.log(), right.log())


def test_a_prompt_shared_by_agents_may_be_first_recorded_by_either() -> None:
    """Whoever calls first records it; that is luck."""

    def run(order: tuple[str, str]) -> list[dict[str, Any]]:
        script = Script()
        steps = {agent: script.start(agent, kind="agent", intent="work") for agent in ("a", "b")}
        system: str | None = None
        for agent in order:
            if system is None:
                system = script.message("system", "shared", None, agent, steps[agent])
            user = script.message("user", f"for {agent}", system, agent, steps[agent])
            script.call(user, "done", agent, steps[agent])
        for agent, step in steps.items():
            script.end(step, agent)
        return script.events

    assert not diff_of(run(("a", "b")), run(("b", "a")))


def test_calls_one_agent_makes_at_once_may_come_in_any_order() -> None:
    """Their prompts tell them apart, also where the answers are the same."""

    def run(order: tuple[int, ...]) -> list[dict[str, Any]]:
        script = Script()
        step = script.start("planner", kind="agent")
        prompts = {n: script.message("user", f"question {n}", None, "planner", step) for n in order}
        for n in reversed(order):
            script.call(prompts[n], "yes", "planner", step)
        script.end(step, "planner")
        return script.events

    assert not diff_of(run((1, 2, 3)), run((3, 1, 2)))


def _asked_at_once(first: str) -> list[dict[str, Any]]:
    """Two agents ask the same; a recorder hangs the second question below the answer that came last."""
    script = Script()
    steps = {agent: script.start(agent, intent="work") for agent in ("a", "b")}
    order = ("a", "b") if first == "a" else ("b", "a")
    question = script.message("user", "one", None, order[0], steps[order[0]])
    answers = [script.call(question, "fine", agent, steps[agent], salt=agent) for agent in order]
    again = script.message("user", "two", answers[-1], order[0], steps[order[0]])
    for agent in order:
        script.call(again, "fine", agent, steps[agent], salt=f"{agent} again")
    for agent in ("a", "b"):
        script.end(steps[agent], agent)
    return script.events


def test_which_of_two_equal_answers_a_question_hangs_on_is_no_difference() -> None:
    """Agents in parallel that are asked the same share messages; which of them is named is luck."""
    assert list(diff(log_of(_asked_at_once("a")), log_of(_asked_at_once("b"))).differences) == []


def test_a_question_below_another_answer_is_a_difference() -> None:
    """The same where the answers are not."""
    left, right = (json.loads(json.dumps(_asked_at_once("a"))) for _ in range(2))
    for events in (left, right):
        said = [event for event in events if event["type"] == "message" and event["data"].get("sampled")]
        said[0]["data"]["content"] = "not so fine"
    asked = next(event for event in right if event["data"].get("content") == "two")
    asked["data"]["parent_id"] = next(
        event["data"]["message_id"] for event in right if event["data"].get("content") == "not so fine"
    )
    found = diff(log_of(left), log_of(right)).differences
    assert "parent_id" in [change.path for one in found for change in one.fields]


def test_where_files_of_a_page_and_threads_came_is_luck() -> None:
    """A browser asks for the files of its page at once, and threads read them."""

    def page(first: str, second: str, asked: str = "/ask", wakes: int = 1) -> Script:
        script = Script()
        wake = {"source": "wake", "key": "call_soon_threadsafe"}
        for name in (first, second):
            script.add(
                "ambient", "main", source="request", key=f"GET /static/{name}.js", value={"client": name}
            )
            script.add("ambient", "main", lane=f"o/{name}", turn=script.at, **wake)
        script.add("ambient", "main", source="request", key=f"POST {asked}", value={})
        for _ in range(wakes):
            script.add("ambient", "main", lane="o/9", **wake)
        script.add("ambient", "main", source="jobs", key="pools", value={"ended": [first, second]})
        return script

    assert not diff_of(page("a", "b").events, page("b", "a", wakes=2).events)
    (changed,) = diff_of(page("a", "b").events, page("b", "a", "/other").events).differences
    assert (changed.left and changed.left.data["key"], changed.right and changed.right.data["key"]) == (
        "POST /ask",
        "POST /other",
    )
    (missing,) = diff_of(page("a", "b").events, page("a", "c").events).differences
    assert title(missing) == "~ main: ambient request GET /static/b.js"


def test_the_ids_of_those_who_ask_are_no_difference() -> None:
    """A page of NiceGUI's says who it is in the query; others do so in the path."""

    def asked(id: str, path: str = "/ws") -> Script:
        script = Script()
        for source in ("request", "websocket", "gone"):
            script.add("ambient", "main", source=source, key=f"GET {path}?client={id}", value={"data": id})
            script.add("ambient", "main", source=source, key=f"GET {path}/{id}", value={})
        return script

    mine, other = "b5028b74-e291-4efe-bc06-7b1d980e1d57", "de3ad34c-56fa-4815-91aa-8b4b08089c49"
    assert not diff_of(asked(mine).events, asked(other).events)
    assert len(diff_of(asked(mine).events, asked(other, "/chat").events).differences) == 6
