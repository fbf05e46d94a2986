"""Trajectories: what agents and their evaluations keep of their own runs (row X5)."""

from __future__ import annotations

from typing import Any

from tests.unit.importing.sources import imported, lost, said, tree


def test_x5_inspect_json_samples_calls_and_scores() -> None:
    """Samples are conversations; usage and time come from the events, scores are facts about the end."""
    answer = {"id": "b", "role": "assistant", "content": "attachment://h", "source": "generate"}
    sample: dict[str, Any] = {
        "id": 1,
        "epoch": 1,
        "target": "4",
        "attachments": {"h": "four"},
        "messages": [{"id": "a", "role": "user", "content": "2+2?", "source": "input"}, answer],
        "events": [
            {
                "event": "model",
                "model": "openai/gpt-4o",
                "timestamp": "2026-01-01T00:00:00+01:00",
                "output": {
                    "model": "gpt-4o",
                    "time": 1.5,
                    "usage": {"input_tokens": 9, "output_tokens": 2},
                    "choices": [{"message": answer, "stop_reason": "stop"}],
                },
            }
        ],
        "scores": {"match": {"value": "C", "explanation": "same"}},
    }
    found = imported(
        {
            "version": 2,
            "eval": {"task": "t", "model": "openai/gpt-4o"},
            "samples": [sample, {**sample, "epoch": 2}],
        }
    )
    conversation = tree(found)
    assert found.form == "inspect"
    assert conversation.conversations == ["1_epoch_1", "1_epoch_2"]
    assert conversation["1_epoch_1/b"].text == "four" and conversation["1_epoch_1/b"].sampled
    end = next(event for event in found.log.events() if event.type == "step_end")
    assert (end.data["duration_ms"], end.data["tokens"], end.data["finish_reason"]) == (
        1500.0,
        {"input": 9, "output": 2},
        "stop",
    )
    assert end.timestamp == "2025-12-31T23:00:00.000000Z"
    facts = [event.data for event in found.log.events() if event.type == "fact_added"]
    assert [(fact["about"], fact["value"]) for fact in facts] == [("1_epoch_1/b", "C"), ("1_epoch_2/b", "C")]


def test_inspect_calls_that_failed() -> None:
    """The sample ended by it: the call is there, with what it was told, below what had been said."""
    failed = {
        "event": "model",
        "model": "openai/gpt-4o",
        "error": "Error code: 400",
        "output": {"choices": []},
    }
    sample = {
        "id": 1,
        "epoch": 1,
        "messages": [{"id": "a", "role": "user", "content": "2+2?"}],
        "events": [failed],
    }
    found = imported({"version": 2, "eval": {"task": "t"}, "samples": [sample]})
    assert tree(found) and found.lost == []
    events = list(found.log.events())
    assert [e.data["message"] for e in events if e.type == "error"] == ["Error code: 400"]
    (start,) = [e.data for e in events if e.type == "step_start"]
    assert (start["kind"], start["model"], start["prompt"]) == ("llm", "gpt-4o", "a")


def test_x5_swe_agent_history() -> None:
    """Messages by agent, tool results by their call ids; thought and action stay beside the message."""
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    history = [
        {"role": "system", "content": "s", "agent": "main", "message_type": "system_prompt"},
        {
            "role": "assistant",
            "content": "t",
            "thought": "t",
            "action": "ls",
            "agent": "main",
            "tool_calls": [call],
        },
        {"role": "tool", "content": "a b", "agent": "main", "tool_call_ids": ["c1"]},
    ]
    found = imported(
        {
            "environment": "e",
            "trajectory": [{"action": "ls", "execution_time": 0.5}],
            "history": history,
            "info": {},
        }
    )
    conversation = tree(found)
    assert found.form == "swe-agent"
    assert conversation["m2"].data["details"]["action"] == "ls"
    assert conversation["m2"].data["details"]["step"] == {"execution_time": 0.5}
    assert conversation.transcript("m3")[2] == {"role": "tool", "content": "a b", "tool_call_id": "c1"}
    assert {event.agent for event in found.log.events()} == {"main"}


def test_x5_mini_swe_agent_with_responses() -> None:
    """Usage and times come from the model's response that is kept with each message."""
    response = {"id": "r1", "model": "gpt-5", "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
    messages = [
        {"role": "user", "content": "q", "extra": {"timestamp": 1767225600.0}},
        {
            "role": "assistant",
            "content": "a",
            "extra": {"timestamp": 1767225601.0, "response": response, "cost": 0.1},
        },
    ]
    found = imported(
        {"trajectory_format": "mini-swe-agent-1", "messages": messages, "info": {"exit_status": "Submitted"}}
    )
    end = next(event for event in found.log.events() if event.type == "step_end")
    assert (end.data["model"], end.data["tokens"]) == ("gpt-5", {"input": 5, "output": 2})
    assert end.timestamp == "2026-01-01T00:00:01.000000Z"
    assert said(tree(found), "m2") == [("user", "q"), ("assistant", "a")]


def test_x5_adk_events_in_both_spellings() -> None:
    """Function calls of either spelling become what the wire has; events without content are said."""
    for call, camel in (
        ({"function_call": {"name": "f", "args": {}}}, False),
        ({"functionCall": {"name": "f", "args": {}}}, True),
    ):
        usage = (
            {"usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 2}, "modelVersion": "g"}
            if camel
            else {}
        )
        events = [
            {
                "id": "e1",
                "author": "user",
                "content": {"parts": [{"text": "q"}], "role": "user"},
                "timestamp": 1733043686.8,
            },
            {"id": "e2", "author": "root", "content": {"parts": [call], "role": "model"}, **usage},
            {"id": "e3", "author": "root", "actions": {"stateDelta": {}}},
        ]
        found = imported({"id": "s", "appName": "x", "events": events})
        conversation = tree(found)
        assert conversation["e2"].message == {
            "role": "model",
            "parts": [{"functionCall": {"name": "f", "args": {}}}],
        }
        assert lost(found)["event without content (state or control)"] == 1


def test_adk_counts_what_was_thought_as_output() -> None:
    """Google leaves it out of the answer's count."""
    usage = {"promptTokenCount": 4, "candidatesTokenCount": 2, "thoughtsTokenCount": 5}
    events = [
        {"id": "e1", "author": "user", "content": {"parts": [{"text": "q"}], "role": "user"}},
        {"id": "e2", "author": "root", "content": {"parts": [{"text": "a"}], "role": "model"},
         "usageMetadata": usage, "modelVersion": "g"},
    ]  # fmt: skip
    found = imported({"id": "s", "appName": "x", "events": events})
    (end,) = (event.data for event in found.log.events() if event.type == "step_end")
    assert end["tokens"] == {"input": 4, "output": 7, "reasoning": 5}


def test_adk_counts_what_other_providers_thought_once() -> None:
    """By LiteLLM the answer's count has it: the total says so. Snake case names the model, too."""
    usage = {"prompt_token_count": 4, "candidates_token_count": 7, "thoughts_token_count": 5,
             "total_token_count": 11}  # fmt: skip
    part = {"text": "a", "thought": None, "function_call": None}
    events = [
        {"id": "e1", "author": "user", "content": {"parts": [{"text": "q"}], "role": "user"}},
        {"id": "e2", "author": "root", "content": {"parts": [part], "role": "model"},
         "usage_metadata": usage, "model_version": "gpt-5"},
    ]  # fmt: skip
    found = imported({"id": "s", "app_name": "x", "events": events}, "adk")
    (end,) = (event.data for event in found.log.events() if event.type == "step_end")
    assert (end["tokens"], end["model"]) == ({"input": 4, "output": 7, "reasoning": 5}, "gpt-5")
    assert tree(found).transcript("e2")[-1] == {"role": "model", "parts": [{"text": "a"}]}


def test_x5_who_and_when_names_the_mistake() -> None:
    """Speakers are agents, and the mistake is a fact about its message."""
    history = [{"role": "Orchestrator (thought)", "content": "plan"}, {"role": "human", "content": "go"}]
    document = {
        "history": history,
        "mistake_step": "0",
        "mistake_agent": "Orchestrator",
        "mistake_reason": "bad plan",
    }
    found = imported(document)
    assert said(tree(found), "m1") == [("assistant", "plan"), ("user", "go")]
    (fact,) = (event.data for event in found.log.events() if event.type == "fact_added")
    assert fact["about"] == "m0" and "bad plan" in fact["text"]
    assert next(e.agent for e in found.log.events() if e.type == "message") == "Orchestrator"
