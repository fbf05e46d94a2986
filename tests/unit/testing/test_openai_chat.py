"""Chat completions, read by the real SDK."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from lctl.testing import ModelServer, Reply, ToolCall

USER: list[Any] = [{"role": "user", "content": "Where is the SQL built?"}]
GREP: Any = {
    "type": "function",
    "function": {
        "name": "grep",
        "parameters": {
            "type": "object",
            "properties": {"pattern": {"type": "string"}},
            "required": ["pattern"],
        },
    },
}
MODEL = "gpt-4.1-mini"


class Finding(BaseModel):
    title: str
    severity: int


def test_a_scripted_text_comes_back_with_counted_usage(server: ModelServer, gpt: openai.OpenAI) -> None:
    """`reply("text")` is what the SDK returns; tokens follow from the lengths."""
    server.reply("In line 45 of it.")
    answer = gpt.chat.completions.create(model=MODEL, messages=USER)
    assert answer.choices[0].message.content == "In line 45 of it."
    assert answer.choices[0].finish_reason == "stop"
    assert answer.id.startswith("chatcmpl-") and answer.object == "chat.completion"
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (13, 5)
    assert answer.usage.total_tokens == 18


def test_tool_calls_and_their_results_make_a_loop(server: ModelServer, gpt: openai.OpenAI) -> None:
    """Parallel tool calls arrive with ids, and the next request may carry their results."""
    server.script(
        [Reply(tool_calls=[("grep", {"pattern": "execute"}), ToolCall("grep", {}, id="call_x")]), "Done."]
    )
    first = gpt.chat.completions.create(model=MODEL, messages=USER, tools=[GREP])
    calls: Any = first.choices[0].message.tool_calls
    assert first.choices[0].finish_reason == "tool_calls"
    assert first.choices[0].message.content is None
    assert [c.function.arguments for c in calls] == ['{"pattern":"execute"}', "{}"]
    assert calls[1].id == "call_x" and calls[0].id.startswith("call_")
    history = [*USER, first.choices[0].message.model_dump(exclude_none=True)]
    history += [{"role": "tool", "tool_call_id": c.id, "content": f"hit {c.id}"} for c in calls]
    second = gpt.chat.completions.create(model=MODEL, messages=history, tools=[GREP])
    assert second.choices[0].message.content == "Done."
    assert server.requests[1].tool_results == [f"hit {calls[0].id}", "hit call_x"]


def test_a_stream_says_what_the_plain_answer_says(server: ModelServer, gpt: openai.OpenAI) -> None:
    """Text, tool call pieces, finish reason; usage only where asked for."""
    server.reply("two words", tool_calls=[("grep", {"pattern": "a" * 30})], times=2)
    chunks = list(gpt.chat.completions.create(model=MODEL, messages=USER, stream=True))
    assert "".join(c.choices[0].delta.content or "" for c in chunks) == "two words"
    pieces = [t.function.arguments for c in chunks for t in c.choices[0].delta.tool_calls or () if t.function]
    assert len(pieces) > 3 and "".join(p or "" for p in pieces) == '{"pattern":"' + "a" * 30 + '"}'
    assert chunks[-1].choices[0].finish_reason == "tool_calls"
    assert all(c.usage is None for c in chunks)
    counted = list(
        gpt.chat.completions.create(
            model=MODEL, messages=USER, stream=True, stream_options={"include_usage": True}
        )
    )
    assert counted[-1].choices == [] and counted[-1].usage is not None
    assert counted[-1].usage.completion_tokens > 10


def test_chunks_can_be_cut_by_hand(server: ModelServer, gpt: openai.OpenAI) -> None:
    """`chunks` says where a streamed text is cut, and is the text of a plain answer."""
    server.reply(Reply(chunks=["a", "bc", ""]), times=2)
    with gpt.chat.completions.create(model=MODEL, messages=USER, stream=True) as stream:
        assert [c.choices[0].delta.content for c in stream] == ["", "a", "bc", "", None]
    assert gpt.chat.completions.create(model=MODEL, messages=USER).choices[0].message.content == "abc"


def test_n_choices_take_turns_in_a_stream(server: ModelServer, gpt: openai.OpenAI) -> None:
    """n > 1 gives as many choices, scripted or seeded."""
    server.reply("one", choices=["two", "three"], times=2)
    plain = gpt.chat.completions.create(model=MODEL, messages=USER, n=3)
    assert [c.message.content for c in plain.choices] == ["one", "two", "three"]
    texts = ["", "", ""]
    for chunk in gpt.chat.completions.create(model=MODEL, messages=USER, n=3, stream=True):
        texts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert texts == ["one", "two", "three"]
    seeded = gpt.chat.completions.create(model=MODEL, messages=USER, n=2)
    assert seeded.choices[0].message.content != seeded.choices[1].message.content


def test_parse_gets_a_value_that_fits_its_schema(server: ModelServer, gpt: openai.OpenAI) -> None:
    """Structured output: scripted JSON, and a seeded value that fits the model."""
    server.reply(json={"title": "SQL injection", "severity": 9})
    answer = gpt.chat.completions.parse(model=MODEL, messages=USER, response_format=Finding)
    assert answer.choices[0].message.parsed == Finding(title="SQL injection", severity=9)
    seeded = gpt.chat.completions.parse(model=MODEL, messages=USER, response_format=Finding)
    assert isinstance(seeded.choices[0].message.parsed, Finding)


def test_reasoning_and_refusals_have_their_places(server: ModelServer, gpt: openai.OpenAI) -> None:
    """Reasoning counts as output tokens; other servers' models also show it; a refusal replaces content."""
    server.reply("4", reasoning="two and two", times=2).reply(refusal="I cannot.")
    hidden = gpt.chat.completions.create(model="o4-mini", messages=USER)
    assert hidden.usage is not None and hidden.usage.completion_tokens_details is not None
    assert hidden.usage.completion_tokens_details.reasoning_tokens == 3
    assert "reasoning_content" not in (hidden.choices[0].message.model_extra or {})
    shown = gpt.chat.completions.create(model="deepseek-reasoner", messages=USER)
    assert (shown.choices[0].message.model_extra or {})["reasoning_content"] == "two and two"
    refused = gpt.chat.completions.create(model=MODEL, messages=USER).choices[0].message
    assert (refused.content, refused.refusal) == (None, "I cannot.")


def test_raw_streaming_and_helper_surfaces(server: ModelServer, gpt: openai.OpenAI) -> None:
    """with_raw_response, with_streaming_response and .stream() all read the answer."""
    server.reply("same", times=3)
    raw = gpt.chat.completions.with_raw_response.create(model=MODEL, messages=USER)
    assert raw.headers["x-request-id"].startswith("req_") and raw.status_code == 200
    assert raw.parse().choices[0].message.content == "same"
    with gpt.chat.completions.with_streaming_response.create(model=MODEL, messages=USER) as response:
        assert response.parse().choices[0].message.content == "same"
    with gpt.chat.completions.stream(model=MODEL, messages=USER) as stream:
        kinds = {event.type for event in stream}
        assert stream.get_final_completion().choices[0].message.content == "same"
    assert {"chunk", "content.delta", "content.done"} <= kinds


def test_async_clients_read_it_too(server: ModelServer) -> None:
    """create, stream and the stream helper of the async client."""

    async def main() -> list[Any]:
        async with openai.AsyncOpenAI(base_url=server.openai_url, api_key="test") as client:
            plain = await client.chat.completions.create(model=MODEL, messages=USER)
            stream = await client.chat.completions.create(model=MODEL, messages=USER, stream=True)
            streamed = "".join([c.choices[0].delta.content or "" async for c in stream])
            async with client.chat.completions.stream(model=MODEL, messages=USER) as helper:
                final = await helper.get_final_completion()
            return [plain.choices[0].message.content, streamed, final.choices[0].message.content]

    texts = asyncio.run(main())
    assert len(texts[0]) > 20 and texts == [texts[0]] * 3


def test_what_a_reply_overrides(server: ModelServer, gpt: openai.OpenAI) -> None:
    """usage, model, finish_reason (in any provider's word) and headers."""
    server.reply(
        "x", usage={"input": 2000, "cache_read": 1024}, model="gpt-4.1-mini-2025-04-14",
        finish_reason="max_tokens", headers={"x-note": "y"},
    )  # fmt: skip
    raw = gpt.chat.completions.with_raw_response.create(model=MODEL, messages=USER)
    answer = raw.parse()
    assert raw.headers["x-note"] == "y" and answer.model == "gpt-4.1-mini-2025-04-14"
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage is not None and answer.usage.prompt_tokens_details is not None
    assert (answer.usage.prompt_tokens, answer.usage.prompt_tokens_details.cached_tokens) == (2000, 1024)


def test_a_long_history_is_partly_cached(gpt: openai.OpenAI) -> None:
    """What stood before the last answer counts as cached once it is long enough, in steps of 128."""
    history: list[Any] = [
        {"role": "user", "content": "x" * 6000},
        {"role": "assistant", "content": "yes"},
        *USER,
    ]
    usage = gpt.chat.completions.create(model=MODEL, messages=history).usage
    assert usage is not None and usage.prompt_tokens_details is not None
    assert usage.prompt_tokens_details.cached_tokens == 1408


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "non-empty"),
        ([*USER, {"role": "tool", "tool_call_id": "call_1", "content": "x"}], "call_1"),
        (
            [
                {"role": "assistant", "tool_calls": [
                    {"id": "call_2", "type": "function", "function": {"name": "grep", "arguments": "{}"}}]},
                *USER,
            ],
            "call_2 (grep)",
        ),
    ],
)  # fmt: skip
def test_requests_the_provider_would_refuse_are_refused(gpt: openai.OpenAI, messages: Any, said: str) -> None:
    """A tool loop that loses a result fails here as it does there."""
    with pytest.raises(openai.BadRequestError) as caught:
        gpt.chat.completions.create(model=MODEL, messages=messages)
    assert said in caught.value.message and caught.value.type == "invalid_request_error"


def test_groqs_client_gets_counts_that_nobody_asked_for(server: ModelServer, gpt: openai.OpenAI) -> None:
    server.reply(tool_calls=[("grep", {"pattern": "exec" * 9}), ("grep", {"pattern": "eval"})])
    asked = gpt.with_options(default_headers={"user-agent": "AsyncGroq/Python 1.7.0"}).chat.completions
    chunks: list[Any] = [c.to_dict() for c in asked.create(model=MODEL, messages=USER, stream=True)]
    last = chunks[-1]
    assert last["choices"][0]["finish_reason"] == "tool_calls"
    assert last["x_groq"]["usage"]["prompt_tokens"] == 13
    assert sum("tool_calls" in c["choices"][0]["delta"] for c in chunks) > 2
