"""Conversations of OpenHands: events of its server, and of its SDK."""

from __future__ import annotations

from typing import Any

from tests.unit.importing.sources import imported, imported_lines, lost, tree


def asked(*ids: str) -> list[dict[str, Any]]:
    return [
        {"id": id, "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}
        for id in ids
    ]


def metadata(id: str, *ids: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": "I look", "tool_calls": asked(*ids)}
    response = {
        "id": "r1", "model": "claude-sonnet-4-5", "usage": {"prompt_tokens": 100, "completion_tokens": 10},
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
    }  # fmt: skip
    return {"function_name": "bash", "tool_call_id": id, "model_response": response}


def event(id: int, source: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": f"2026-01-01T00:00:{id:02}", "source": source, "message": "", **more}


SERVER = [
    event(
        0, "agent", action="system", args={"content": "You are OpenHands", "tools": [{"type": "function"}]}
    ),
    event(1, "user", action="message", args={"content": "fix it", "image_urls": None}),
    event(2, "environment", observation="agent_state_changed", content="", extras={"agent_state": "running"}),
    event(3, "agent", action="run", args={"command": "ls"}, tool_call_metadata=metadata("c1", "c1", "c2")),
    event(
        4, "agent", observation="run", content="a.py", cause=3, tool_call_metadata=metadata("c1", "c1", "c2")
    ),
    event(5, "agent", action="run", args={"command": "ls"}, tool_call_metadata=metadata("c2", "c1", "c2")),
    event(
        6, "agent", observation="error", content="no", cause=5, tool_call_metadata=metadata("c2", "c1", "c2")
    ),
    event(7, "agent", action="finish", args={"final_thought": "Done."}),
]


def test_events_of_the_server() -> None:
    """Two actions of one answer are one message of one call."""
    found = imported(SERVER)
    assert found.form == "openhands"
    conversation = tree(found)
    (leaf,) = conversation.leaves
    path = conversation.path(leaf.id)
    assert [node.role for node in path] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert [node.text for node in path if node.text][-3:] == ["a.py", "no", "Done."]
    ends = [one.data for one in found.log.events() if one.type == "step_end"]
    assert ends[0]["tokens"] == {"input": 100, "output": 10}
    tools = [one.data for one in found.log.events() if one.type == "tool_call"]
    assert [(one["call_id"], one.get("output")) for one in tools] == [("c1", "a.py"), ("c2", None)]
    assert lost(found) == {"agent_state_changed event: no message": 1}


def sdk(kind: str, source: str, **more: Any) -> dict[str, Any]:
    return {"id": kind, "timestamp": "2026-01-01T00:00:00", "source": source, "kind": kind, **more}


def test_events_of_the_sdk() -> None:
    """As lines, and as the history of a result of its evaluations."""
    words = [{"type": "text", "text": "fix it"}]
    call = {"id": "c1", "name": "terminal", "arguments": '{"command":"ls"}', "origin": "completion"}
    acted = {"tool_name": "terminal", "llm_response_id": "r1", "thought": [{"type": "text", "text": "look"}]}
    events = [
        sdk("SystemPromptEvent", "agent", system_prompt={"type": "text", "text": "You are"}, tools=[]),
        sdk("MessageEvent", "user", llm_message={"role": "user", "content": words}),
        sdk("ActionEvent", "agent", tool_call=call, tool_call_id="c1", **acted),
        sdk("ActionEvent", "agent", tool_call={**call, "id": "c2"}, tool_call_id="c2", **acted),
        sdk("ObservationEvent", "environment", observation={"content": words}, tool_call_id="c1"),
        sdk("AgentErrorEvent", "agent", error="no such tool", tool_call_id="c2"),
        sdk("ConversationStateUpdateEvent", "environment", key="x", value=1),
    ]
    for found in (imported_lines(events), imported({"instance_id": "i", "history": events})):
        assert found.form == "openhands"
        conversation = tree(found)
        (leaf,) = conversation.leaves
        message = conversation.transcript(leaf.id)[2]
        assert [one["id"] for one in message["tool_calls"]] == ["c1", "c2"]
        assert [node.role for node in conversation.path(leaf.id)][2:] == ["assistant", "tool", "tool"]
        assert sum(one.type == "step_start" for one in found.log.events()) == 1
        assert lost(found) == {"ConversationStateUpdateEvent event: no message": 1}
