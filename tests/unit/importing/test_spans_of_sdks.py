"""Spans as the SDKs of tracing tools write them: Langfuse, Logfire, OpenLLMetry, the AI SDK, Pydantic AI."""

from __future__ import annotations

import json
from typing import Any

from lctl.chain import Chain
from lctl.training import samples
from tests.unit.importing.peers import ends, imported, otlp, said, span, steps, tools

WEATHER = {"name": "weather", "description": "Of a city.", "parameters": {"type": "object"}}
TOOL = {"type": "function", "function": WEATHER}
ASKED = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Rome"}'}}


def starts(found: Any) -> list[dict[str, Any]]:
    return [e.data for e in found.log.events() if e.type == "step_start" and e.data["kind"] == "llm"]


def test_langfuse_sdk() -> None:
    """An agent, a generation with tools, a tool, a failed generation, a moment."""
    about = "langfuse.observation."
    usage = {"input": 5, "output": 2, "cache_read_input_tokens": 3, "total": 10}
    found = imported(
        otlp(
            span(1, "planner", None, {f"{about}type": "agent", f"{about}input": {"q": 1}}),
            span(
                2,
                "answer",
                1,
                {
                    f"{about}type": "generation",
                    f"{about}model.name": "gpt-4o",
                    f"{about}model.parameters": {"temperature": 0.5, "max_tokens": "Infinity"},
                    f"{about}input": {"messages": [{"role": "user", "content": "hi"}], "tools": [TOOL]},
                    f"{about}output": {"role": "assistant", "tool_calls": [ASKED]},
                    f"{about}usage_details": usage,
                    f"{about}completion_start_time": '"2026-01-01T00:00:02.200000Z"',
                    f"{about}metadata.finish_reason": '"tool_calls"',
                },
            ),
            span(3, "weather", 1, {f"{about}type": "tool", f"{about}input": {"city": "Rome"},
                                   f"{about}output": "sun"}),
            span(4, "again", 1, {
                f"{about}type": "generation",
                f"{about}model.name": "gpt-4o",
                f"{about}input": [{"role": "user", "content": "hi"}],
                f"{about}level": "ERROR",
                f"{about}status_message": "overloaded",
            }),
            span(5, "clicked", 1, {f"{about}type": "event"}),
            scope="langfuse-sdk",
        )
    )  # fmt: skip
    assert steps(found) == [
        ("agent", "planner", "planner", None),
        ("llm", "answer", "planner", "planner"),
        ("llm", "again", "planner", "planner"),
    ]
    (first, second) = starts(found)
    assert (first["model"], first["params"], first["tool_definitions"]) == (
        "gpt-4o",
        {"temperature": 0.5},
        [TOOL],
    )
    assert second["prompt"] == first["prompt"]
    end = ends(found)["answer"]
    assert end["tokens"] == {"input": 8, "output": 2, "cache_read": 3}
    assert (end["finish_reason"], end["first_chunk_ms"]) == ("tool_calls", 200.0)
    assert ends(found)["again"]["outcome"] == "error"
    (ran,) = tools(found)
    assert (ran["tool"], ran["input"], ran["output"], ran["call_id"]) == (
        "weather",
        {"city": "Rome"},
        "sun",
        "c1",
    )
    assert {loss.what for loss in found.lost} == {
        "event observation: a moment, no work",
        "generation whose output is no message",
    }


def test_langfuse_counts_of_openai_hold_what_was_cached() -> None:
    """OpenAI's own usage, as its wrapper hands it on; and one whose parts make up the total."""
    about = "langfuse.observation."
    details = {
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    for usage in (
        {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12, **details},
        {"input": 5, "input_cached_tokens": 4, "output": 2, "output_reasoning_tokens": 1, "total": 12},
        {"input": 9, "input_cached_tokens": 4, "output": 3, "output_reasoning_tokens": 1, "total": 12},
    ):
        attributes = {
            f"{about}type": "generation",
            f"{about}input": "hi",
            f"{about}output": "ho",
            f"{about}usage_details": usage,
        }
        found = imported(otlp(span(1, "call", None, attributes)))
        assert ends(found)["call"]["tokens"] == {"input": 9, "output": 3, "cache_read": 4, "reasoning": 1}
        assert said(found) == [("user", "hi"), ("assistant", "ho")]


def test_logfire_streamed_answer_is_one_call() -> None:
    """It writes a span of the request, and a log of the answer when the stream is over."""
    prompt = [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "ho"}], "finish_reason": "stop"}]
    template = "Chat Completion with {request_data[model]!r}"
    asked = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.input.messages": prompt,
        "logfire.span_type": "span",
        "logfire.msg_template": template,
        "logfire.msg": "Chat Completion with 'gpt-4o'",
    }
    streamed = {
        **asked,
        "logfire.span_type": "log",
        "logfire.msg_template": "streaming response from {request_data[model]!r} took {duration:.2f}s",
        "logfire.msg": "streaming response from 'gpt-4o' took 0.01s",
        "gen_ai.output.messages": answer,
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 9,
        "gen_ai.usage.output_tokens": 2,
    }
    found = imported(
        otlp(
            span(1, template, None, asked),
            span(2, "streaming response from {request_data[model]!r}", None, streamed, traceId="2" * 32),
            span(3, template, None, {**asked, "gen_ai.output.messages": answer}),
            scope="logfire.openai",
        )
    )
    assert [one[:2] for one in steps(found)] == [("llm", "Chat Completion with 'gpt-4o'")] * 2
    end = [event.data for event in found.log.events() if event.type == "step_end"]
    assert [one.get("tokens") for one in end] == [{"input": 9, "output": 2}, None]
    assert (end[0]["finish_reason"], end[0]["duration_ms"]) == ("stop", 1500.0)
    assert found.lost == []


def test_logfire_messages_as_data_of_the_request() -> None:
    """As its earlier versions wrote them, OpenAI's and Anthropic's."""
    usage = {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 3}
    found = imported(
        otlp(
            span(1, "call", None, {
                "logfire.span_type": "span",
                "gen_ai.request.model": "m",
                "gen_ai.system": "anthropic",
                "request_data": {"model": "m", "system": "Be brief.", "tools": [TOOL],
                                 "messages": [{"role": "user", "content": "hi"}]},
                "response_data": {"message": {"role": "assistant", "content": "ho", "tool_calls": None},
                                  "usage": usage},
            }),
        )
    )  # fmt: skip
    assert said(found) == [("system", "Be brief."), ("user", "hi"), ("assistant", "ho")]
    assert ends(found)["call"]["tokens"] == {"input": 8, "output": 2, "cache_read": 3}
    assert starts(found)[0]["tool_definitions"] == [TOOL]


def test_logfire_span_that_has_only_begun() -> None:
    """It stands for the span where that is missing, and is passed over where it is there."""
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a", "logfire.span_type": "span"}
    pending = {**agent, "logfire.span_type": "pending_span", "logfire.pending_parent_id": "0" * 16}
    inner = {**pending, "logfire.pending_parent_id": f"{1:016x}"}
    found = imported(
        otlp(
            span(9, "whole", 1, pending),
            span(1, "whole", None, agent),
            span(8, "killed", 2, inner),
            scope="logfire",
        )
    )
    assert steps(found) == [("agent", "whole", "a", None), ("agent", "killed", "a", "whole")]


def test_openllmetry_before_the_conventions() -> None:
    """Messages, tools and their definitions each in attributes of their own; lists of parts are JSON."""
    result = [{"type": "tool_result", "tool_use_id": "c1", "content": "sun"}]
    shared = {
        "gen_ai.system": "Anthropic",
        "llm.request.type": "chat",
        "gen_ai.request.model": "claude-x",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": [{"type": "text", "text": "hi"}],
        "llm.request.functions.0.name": "weather",
        "llm.request.functions.0.description": "Of a city.",
        "llm.request.functions.0.parameters": {"type": "object"},
    }
    found = imported(
        otlp(
            span(1, "anthropic.chat", None, {
                **shared,
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.finish_reason": "tool_use",
                "gen_ai.completion.0.tool_calls.0.id": "c1",
                "gen_ai.completion.0.tool_calls.0.name": "weather",
                "gen_ai.completion.0.tool_calls.0.arguments": {"city": "Rome"},
                "gen_ai.usage.prompt_tokens": 9,
                "gen_ai.usage.completion_tokens": 2,
                "llm.usage.total_tokens": 11,
            }),
            span(2, "weather.tool", None, {
                "traceloop.span.kind": "tool",
                "traceloop.entity.name": "weather",
                "traceloop.entity.input": {"args": [], "kwargs": {"city": "Rome"}},
                "traceloop.entity.output": {"output": "sun", "kwargs": {}},
            }),
            span(3, "anthropic.chat", None, {
                **shared,
                "gen_ai.prompt.1.role": "assistant",
                "gen_ai.prompt.1.tool_calls.0.id": "c1",
                "gen_ai.prompt.1.tool_calls.0.name": "weather",
                "gen_ai.prompt.1.tool_calls.0.arguments": {"city": "Rome"},
                "gen_ai.prompt.2.role": "user",
                "gen_ai.prompt.2.content": result,
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.content": "sunny",
            }),
        )
    )  # fmt: skip
    assert [content for _, content in said(found)] == [
        [{"type": "text", "text": "hi"}],
        None,
        result,
        "sunny",
    ]
    (ran,) = tools(found)
    assert (ran["input"], ran["output"], ran["call_id"]) == ({"city": "Rome"}, "sun", "c1")
    (first, second) = starts(found)
    assert first["tool_definitions"] == [TOOL] and second["tools"] == first["tools"]
    assert ends(found)["anthropic.chat"].get("tokens") is None  # of the second; it has none
    assert next(e.data for e in found.log.events() if e.type == "step_end")["tokens"] == {
        "input": 9,
        "output": 2,
    }


def test_openinference_parts_that_only_say_there_was_a_call() -> None:
    """Anthropic's: the calls themselves stand beside them. The model of a call that failed is a parameter."""
    at = "llm.output_messages.0.message."
    found = imported(
        otlp(
            span(1, "messages", None, {
                "openinference.span.kind": "LLM",
                "llm.invocation_parameters": {"model": "claude-x", "max_tokens": 9},
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": "hi",
                f"{at}role": "assistant",
                f"{at}contents.0.message_content.type": "text",
                f"{at}contents.0.message_content.text": "let me look",
                f"{at}contents.1.message_content.type": "tool_use",
                f"{at}tool_calls.0.tool_call.id": "c1",
                f"{at}tool_calls.0.tool_call.function.name": "weather",
                f"{at}tool_calls.0.tool_call.function.arguments": '{"city":"Rome"}',
            }),
        )
    )  # fmt: skip
    assert said(found) == [("user", "hi"), ("assistant", "let me look")]
    assert starts(found)[0]["model"] == "claude-x"


def test_tools_of_the_ai_sdk_and_of_pydantic_ai() -> None:
    """One has each as JSON in a list, the other all of a request's parameters."""
    vercel = {
        "type": "function",
        "name": "weather",
        "description": "Of a city.",
        "inputSchema": {"type": "object"},
    }
    function = {"name": "weather", "description": "Of a city.", "parameters_json_schema": {"type": "object"}}
    for attributes in (
        {"ai.prompt.messages": [{"role": "user", "content": "hi"}], "ai.prompt.tools": [json.dumps(vercel)]},
        {
            "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}],
            "model_request_parameters": {"function_tools": [function], "output_tools": []},
        },
    ):
        found = imported(otlp(span(1, "call", None, {"gen_ai.request.model": "m", **attributes})))
        assert starts(found)[0]["tool_definitions"] == [TOOL]


def test_a_loop_of_the_ai_sdk_is_one_conversation() -> None:
    """Its prompts have calls, reasoning and results as parts: the answers are found again in them."""
    asked = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "hi"},
                                     {"type": "file", "data": "iVBORw0KGgo=", "mediaType": "image/png"}]},
    ]  # fmt: skip
    call = {"toolCallId": "c1", "toolName": "weather", "input": {"city": "Rome"}}
    other = {**call, "toolCallId": "c2"}
    answer = [
        {"type": "reasoning", "text": "hm"},
        {"type": "text", "text": "let me look"},
        {"type": "tool-call", **call},
        {"type": "tool-call", **other},
    ]
    results = [
        {
            "type": "tool-result",
            "toolCallId": "c1",
            "toolName": "weather",
            "output": {"type": "json", "value": [1]},
        },
        {"type": "tool-result", "toolCallId": "c2", "output": {"type": "error-text", "value": "away"}},
    ]
    first = {
        "gen_ai.request.model": "m",
        "ai.prompt.messages": asked,
        "ai.response.text": "let me look",
        "ai.response.reasoning": "hm",
        "ai.response.toolCalls": [call, other],
    }
    second = {
        "gen_ai.request.model": "m",
        "ai.prompt.messages": [
            *asked,
            {"role": "assistant", "content": answer},
            {"role": "tool", "content": results},
        ],
        "ai.response.text": "sunny",
    }
    found = imported(otlp(span(1, "ai.doGenerate", None, first), span(2, "ai.doGenerate", None, second)))
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    assert said(found) == [
        ("system", "Be brief."),
        ("user", [{"type": "text", "text": "hi"}, picture]),
        ("assistant", "let me look"),
        ("tool", "[1]"),
        ("tool", "away"),
        ("assistant", "sunny"),
    ]
    assert [(one["call_id"], one.get("output"), one.get("error")) for one in tools(found)] == [
        ("c1", "[1]", None),
        ("c2", None, "away"),
    ]
    (row,) = samples(Chain.of(found.log).tree)
    assert (row.weights, row.break_reason) == ([0, 0, 1, 0, 0, 1], None)


def test_numbers_past_64_bits_and_odd_values_of_spans() -> None:
    """They are kept, or nothing is made of them: no import ends by one."""
    huge = 2**70
    tool = {"type": "function", "name": "weather", "inputSchema": {"maximum": huge}}
    read = [{"role": "user", "content": [{"type": "text", "text": "hi", "n": huge}]}]
    found = imported(
        otlp(
            span(1, "call", None, {
                "logfire.span_type": "span",
                "gen_ai.request.model": ["m"],
                "ai.prompt.messages": read,
                "ai.prompt.tools": [tool],
            }),
        )
    )  # fmt: skip
    assert said(found) == [("user", read[0]["content"])]
    assert starts(found)[0]["tool_definitions"][0]["function"]["parameters"] == {"maximum": huge}


def test_openllmetry_tells_calls_of_the_responses_api_by_their_items() -> None:
    """The results, which have the ids of the calls, are those of the calls: in their order."""

    def call(message: int, n: int) -> dict[str, Any]:
        place = f"gen_ai.{'completion' if message == 0 else 'prompt'}.{message}.tool_calls.{n}"
        return {f"{place}.id": f"fc_{n}", f"{place}.name": "weather", f"{place}.arguments": {"n": n}}

    shared = {"llm.request.type": "chat", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "hi"}
    results = {
        f"gen_ai.prompt.{n + 2}.{key}": value
        for n in (0, 1)
        for key, value in {"role": "tool", "tool_call_id": f"call_{n}", "content": f"sun {n}"}.items()
    }
    found = imported(
        otlp(
            span(1, "openai.response", None, {
                **shared, "gen_ai.completion.0.role": "assistant", **call(0, 0), **call(0, 1),
            }),
            span(2, "openai.response", None, {
                **shared, "gen_ai.prompt.1.role": "assistant", **call(1, 0), **call(1, 1), **results,
                "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "sunny",
            }),
        )
    )  # fmt: skip
    assert [(one["call_id"], one["input"], one["output"]) for one in tools(found)] == [
        ("fc_0", {"n": 0}, "sun 0"),
        ("fc_1", {"n": 1}, "sun 1"),
    ]
    assert len(said(found)) == 5
