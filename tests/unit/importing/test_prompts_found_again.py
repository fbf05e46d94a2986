"""Prompts of calls that are found among what was said before, though the tool that traced them tells the same
in other words, or leaves it out."""

from __future__ import annotations

from typing import Any

from lctl.chain import Chain
from tests.unit.importing.peers import ends, imported, otlp, said, span, steps, tools

ASK = {"role": "user", "content": "Rome?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Rome"}'}}
USER = {"role": "user", "parts": [{"type": "text", "content": "Rome?"}]}
ASKED = {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Rome"}}
SUN = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "sun"}]}


def chat(read: list[Any], gave: list[Any], **more: Any) -> dict[str, Any]:
    about = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5-mini"}
    return {**about, "gen_ai.input.messages": read, "gen_ai.output.messages": gave, **more}


def answer(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "parts": list(parts), "finish_reason": "stop"}


WORDS = {"type": "text", "content": "Sunny."}


def test_items_with_keys_that_say_nothing() -> None:
    """Langfuse's SDK writes answers of the Responses API with all keys, prompts with those that were set."""
    about = "langfuse.observation."
    thought = {"type": "reasoning", "id": "rs1", "summary": [{"type": "summary_text", "text": "Hm."}]}
    call = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city":"Rome"}'}
    result = {"type": "function_call_output", "call_id": "c1", "output": "sun"}
    words = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Sunny."}]}

    def generation(read: list[Any], gave: list[Any]) -> dict[str, Any]:
        return {f"{about}type": "generation", f"{about}model.name": "gpt-5-mini",
                f"{about}input": {"input": read}, f"{about}output": gave}  # fmt: skip

    found = imported(
        otlp(
            span(1, "a", None, generation([ASK], [{**thought, "content": None, "status": None}, call])),
            span(2, "b", None, generation([ASK, thought, call, result], [words])),
            scope="langfuse-sdk",
        )
    )
    assert [role for role, _ in said(found)] == ["user", "assistant", "tool", "assistant"]
    assert [(one["input"], one["output"]) for one in tools(found)] == [({"city": "Rome"}, "sun")]


def test_thoughts_that_are_not_told_again() -> None:
    """OpenLLMetry: a thought's summary as JSON, and not in the prompt; calls by the ids of their items."""
    item = {**ASKED, "id": "fc_1"}
    thought = {"type": "reasoning", "content": '[{"text": "Hm.", "type": "summary_text"}]'}
    found = imported(
        otlp(
            span(1, "openai.response", None, chat([USER], [answer(thought, item)])),
            span(2, "openai.response", None, chat([USER, answer(item), SUN], [answer(WORDS, thought)])),
        )
    )
    (leaf,) = Chain.of(found.log).tree.leaves
    path = Chain.of(found.log).transcript(leaf.id)
    assert [one["role"] for one in path] == ["user", "assistant", "tool", "assistant"]
    assert path[1]["content"] == [{"type": "thinking", "thinking": "Hm."}]
    assert path[2]["tool_call_id"] == "fc_1"
    assert [(one["call_id"], one["output"]) for one in tools(found)] == [("fc_1", "sun")]


def test_answers_that_are_not_told_again() -> None:
    """OpenLIT leaves an answer that only calls tools out of the prompts behind it."""
    other = {**ASKED, "id": "c2", "arguments": {"city": "Oslo"}}
    rain = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c2", "response": "rain"}]}
    thanks = {"role": "user", "parts": [{"type": "text", "content": "Thanks."}]}
    found = imported(
        otlp(
            span(1, "chat a", None, chat([USER], [answer(ASKED, other)])),
            span(2, "chat a", None, chat([USER, SUN, rain], [answer(WORDS)])),
            span(3, "chat a", None, chat([USER, SUN, rain, answer(WORDS), thanks], [answer(WORDS)])),
        )
    )
    assert [role for role, _ in said(found)] == [
        "user", "assistant", "tool", "tool", "assistant", "user", "assistant",
    ]  # fmt: skip
    assert [one["output"] for one in tools(found)] == ["sun", "rain"]


def test_answers_that_differ_in_more_than_thoughts_are_branches() -> None:
    found = imported(
        otlp(
            span(1, "chat a", None, chat([USER], [answer(WORDS)])),
            span(
                2, "chat a", None, chat([USER, answer({**WORDS, "content": "Rain."}), USER], [answer(WORDS)])
            ),
        )
    )
    assert len(Chain.of(found.log).tree.leaves) == 2


def test_requests_that_go_on_from_a_response() -> None:
    """OpenInference has what was asked anew, the id of the answer before, and its own inside the answer."""

    def response(n: int, text: str, **asked: Any) -> dict[str, Any]:
        return {
            "openinference.span.kind": "LLM",
            "llm.model_name": "gpt-5-mini",
            "llm.invocation_parameters": asked,
            "output.value": {"id": f"resp_{n}", "object": "response", "status": "completed"},
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.0.message.content": "Be brief.",
            "llm.input_messages.1.message.role": "user",
            "llm.input_messages.1.message.content": text,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": text.upper(),
        }

    found = imported(
        otlp(
            span(1, "Response", None, response(1, "hello")),
            span(2, "Response", None, response(2, "more", previous_response_id="resp_1")),
            span(3, "Response", None, response(3, "else", previous_response_id="resp_unknown")),
        )
    )
    tree = Chain.of(found.log).tree
    paths = [[one["content"] for one in Chain.of(found.log).transcript(leaf.id)] for leaf in tree.leaves]
    assert paths == [
        ["Be brief.", "hello", "HELLO", "more", "MORE"],
        ["Be brief.", "else", "ELSE"],
    ]
    assert {end["finish_reason"] for end in ends(found).values()} == {"completed"}


def test_first_chunks_of_streams() -> None:
    """OpenInference tells of it by a moment of the span, OpenLIT by an attribute that all its calls have."""
    words = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "gpt-4o",
        "llm.invocation_parameters": {"stream": True, "temperature": 0},
        "llm.output_messages.0.message.content": "hi",
        "llm.input_messages.0.message.content": "hi",
    }
    first = {"name": "First Token Stream Event", "timeUnixNano": str(1767225601_250_000_000)}
    timed = {"gen_ai.server.time_to_first_token": 2}
    found = imported(
        otlp(
            span(1, "OpenInference", None, words, events=[first]),
            span(
                2,
                "stream",
                None,
                chat([USER], [answer(WORDS)], **timed) | {"llm.invocation_parameters": {"stream": True}},
            ),
            span(3, "whole", None, chat([USER], [answer(WORDS)], **timed)),
        )
    )
    assert found.lost == []
    assert {name: end.get("first_chunk_ms") for name, end in ends(found).items()} == {
        "OpenInference": 250.0,
        "stream": 2000.0,
        "whole": None,
    }
    begun = {e.data["intent"]: e.data for e in found.log.events() if e.type == "step_start"}
    assert {name: one.get("stream") for name, one in begun.items()} == {
        "OpenInference": True,
        "stream": True,
        "whole": None,
    }
    assert begun["OpenInference"]["params"] == {"temperature": 0}


def test_calls_of_openlit_that_failed_with_nothing_but_a_name() -> None:
    failed = {"status": {"code": 2, "message": "BadRequestError: no such model"}}
    found = imported(
        otlp(span(1, "chat claude-sonnet-4-5", None, {}, **failed), scope="openlit.instrumentation.anthropic")
    )
    assert steps(found) == [("llm", "chat claude-sonnet-4-5", "assistant", None)]
    assert ends(found)["chat claude-sonnet-4-5"]["outcome"] == "error"
    (start,) = [e.data for e in found.log.events() if e.type == "step_start"]
    assert start["model"] == "claude-sonnet-4-5"


def test_prompts_that_are_not_in_a_span_are_said_to_be_lost() -> None:
    """OpenLLMetry leaves out the prompt of a call that reads an image which it cannot upload."""
    about = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": [answer(WORDS)]}
    found = imported(otlp(span(1, "openai.chat", None, about)))
    assert [loss.what for loss in found.lost] == ["call without its prompt in its span; only its answer"]


def test_usage_of_logfire_as_the_provider_counted() -> None:
    usage = {"input_tokens": 9, "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 4}}
    counted = {"gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 7, "gen_ai.usage.raw": usage}
    call = chat([USER], [answer(WORDS)], **counted) | {"logfire.span_type": "span"}
    found = imported(otlp(span(1, "Responses API", None, call), scope="logfire.openai"))
    assert ends(found)["Responses API"]["tokens"] == {"input": 9, "output": 7, "reasoning": 4}
