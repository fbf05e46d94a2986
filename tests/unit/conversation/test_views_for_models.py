"""Row V11 of CONVERSATIONS.md section 4: what a model is given of a view. Each test names its row."""

from __future__ import annotations

from typing import Any

import pytest

from lctl.errors import UsageError
from tests.unit.conversation.events import Log, chain

CALLS = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]


def test_v11_only_finished_messages_are_sent() -> None:
    log = chain("u1", "a1", "u2").say("a2", "u2", status="aborted").say("u3", "a2")
    view = log.add("stream_start", message_id="a3", parent_id="u3").tree.view()
    assert [m["content"] for m in view.messages()] == ["u1", "a1", "u2", "u3"]
    assert len(view.messages(include_partial=True)) == 6
    assert all(set(m) <= {"role", "content"} for m in view.messages(True))


def test_v11_a_call_without_result() -> None:
    log = chain("u1").say("a1", "u1", tool_calls=CALLS).say("u2", "a1").say("a2", "u2")
    view = log.tree.view()
    with pytest.raises(UsageError, match=r"look \(c1\), which has no result; repair="):
        view.messages()
    assert [m["content"] for m in view.messages(repair="truncate")] == ["u1"]
    repaired = view.messages(repair="synthesize")
    assert [m["role"] for m in repaired] == ["user", "assistant", "tool", "user", "assistant"]
    assert repaired[2]["tool_call_id"] == "c1"
    with pytest.raises(UsageError, match="truncate"):
        view.messages(repair="guess")  # type: ignore[arg-type]


def test_v11_a_call_without_result_at_the_end_and_among_others() -> None:
    log = chain("u1").say("a1", "u1", tool_calls=[*CALLS, {**CALLS[0], "id": "c2"}])
    view = log.say("t1", "a1", tool_call_id="c1").tree.view()
    with pytest.raises(UsageError, match="c2"):
        view.messages()
    assert [m.get("tool_call_id") for m in view.messages(repair="synthesize")] == [None, None, "c1", "c2"]
    assert [m["content"] for m in view.messages(repair="truncate")] == ["u1"]


def test_v11_calls_and_results_as_parts() -> None:
    asks: list[dict[str, Any]] = [
        {"type": "tool_use", "id": id, "name": "look", "input": {}} for id in ("c1", "c2")
    ]
    gives = [{"type": "tool_result", "tool_use_id": "c1", "content": "x"}]
    log = chain("u1").say("a1", "u1", content=asks).say("u2", "a1", content=gives)
    view = log.tree.view()
    with pytest.raises(UsageError, match="c2"):
        view.messages()
    parts = view.messages(repair="synthesize")[2]["content"]
    assert [part["tool_use_id"] for part in parts] == ["c1", "c2"]
    assert len(log.tree["u2"].data["content"]) == 1
    alone = chain("u1").say("a1", "u1", content=asks).tree.view().messages(repair="synthesize")
    assert [(m["role"], len(m["content"])) for m in alone[1:]] == [("assistant", 2), ("user", 2)]


def test_v11_items_of_the_responses_api() -> None:
    """As the API takes them, one after the other; so is a result that is made up."""
    asks: list[dict[str, Any]] = [
        {"type": "reasoning", "id": "rs1", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
    ]
    log = chain("u1").say("a1", "u1", content=asks)
    made = log.tree.view().messages(repair="synthesize")
    assert made[1:3] == asks and made[3]["type"] == "function_call_output" and made[3]["call_id"] == "c1"
    log.say("t1", "a1", role="tool", tool_call_id="c1", content="x")
    log.events[-1]["data"]["type"] = "function_call_output"
    result = {"type": "function_call_output", "call_id": "c1", "output": "x"}
    assert log.tree.view().messages()[1:] == [*asks, result]
    empty = chain("u1").say("a1", "u1", content=[]).tree.view().messages()
    assert [message["role"] for message in empty] == ["user", "assistant"]


def test_v11_results_of_what_is_left_out_are_left_out() -> None:
    log = chain("u1").say("a1", "u1", tool_calls=CALLS, status="aborted").say("t1", "a1", tool_call_id="c1")
    view = log.say("u2", "t1").tree.view()
    assert [m["content"] for m in view.messages()] == ["u1", "u2"]
    assert len(view.messages(include_partial=True)) == 4


def test_v11_a_result_without_a_call() -> None:
    view = chain("u1").say("t1", "u1", tool_call_id="c9").say("u2", "t1").tree.view()
    with pytest.raises(UsageError, match="result of c9"):
        view.messages()
    assert [m["content"] for m in view.messages(repair="synthesize")] == ["u1", "u2"]
    assert [m["content"] for m in view.messages(repair="truncate")] == ["u1"]


def test_v11_messages_are_the_callers_own() -> None:
    log = Log().say("u1", None, content=[{"type": "text", "text": "hi"}])
    view = log.tree.view()
    view.messages()[0]["content"][0]["text"] = "changed"
    assert view.messages()[0]["content"][0]["text"] == "hi"
