"""Responses, completions, embeddings and models, read by the real SDK."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from lctl.testing import ModelServer, Reply

MODEL = "gpt-4.1-mini"
GREP: Any = {
    "type": "function",
    "name": "grep",
    "strict": False,
    "parameters": {"type": "object", "properties": {"pattern": {"type": "string"}}},
}


class Finding(BaseModel):
    title: str
    lines: list[int]


def test_a_response_holds_text_reasoning_and_calls(server: ModelServer, gpt: openai.OpenAI) -> None:
    """Reasoning summary, message and function call are output items, in this order."""
    server.reply("see line 3", reasoning="think", tool_calls=[("grep", {"pattern": "x"})])
    answer = gpt.responses.create(model="gpt-5", input="where?", tools=[GREP], reasoning={"summary": "auto"})
    assert [item.type for item in answer.output] == ["reasoning", "message", "function_call"]
    assert answer.output_text == "see line 3" and answer.status == "completed"
    call: Any = answer.output[2]
    assert (call.name, call.arguments) == ("grep", '{"pattern":"x"}') and call.call_id.startswith("call_")
    assert answer.usage is not None and answer.usage.output_tokens_details.reasoning_tokens == 2


def test_a_streamed_response_comes_as_numbered_events(server: ModelServer, gpt: openai.OpenAI) -> None:
    """The event sequence begins with created, ends with completed, and counts without gaps."""
    server.reply("one two", reasoning="hm", tool_calls=[("grep", {"pattern": "x"})])
    events = list(
        gpt.responses.create(
            model="gpt-5", input="where?", tools=[GREP], reasoning={"summary": "auto"}, stream=True
        )
    )
    kinds = [e.type for e in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    assert [e.sequence_number for e in events] == list(range(len(events)))
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == "one two"
    assert kinds.count("response.output_item.added") == kinds.count("response.output_item.done") == 3
    final: Any = events[-1]
    assert final.response.output_text == "one two" and final.response.usage.total_tokens > 0


def test_stream_and_parse_helpers(server: ModelServer, gpt: openai.OpenAI) -> None:
    """.stream() accumulates to the same answer, .parse() gets a value that fits."""
    server.reply("one two", tool_calls=[("grep", {"pattern": "x"})])
    with gpt.responses.stream(model=MODEL, input="where?", tools=[GREP]) as stream:
        for _ in stream:
            pass
        final = stream.get_final_response()
    assert final.output_text == "one two" and final.output[1].type == "function_call"
    parsed = gpt.responses.parse(model=MODEL, input="where?", text_format=Finding).output_parsed
    assert isinstance(parsed, Finding)
    with gpt.responses.stream(model=MODEL, input="where?", text_format=Finding) as typed:
        assert typed.get_final_response().output_parsed == parsed
    raw = gpt.responses.with_raw_response.create(model=MODEL, input="raw?")
    assert raw.parse().output_text


def test_a_conversation_continues_by_response_id(server: ModelServer, gpt: openai.OpenAI) -> None:
    """previous_response_id brings the earlier turns back; an unknown one is refused as there."""
    server.script([Reply(tool_calls=[("grep", {"pattern": "x"})]), "found"])
    first = gpt.responses.create(model=MODEL, input="where?", tools=[GREP])
    call: Any = first.output[0]
    output: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": "line 7"}]
    second = gpt.responses.create(model=MODEL, input=output, previous_response_id=first.id)
    assert second.output_text == "found"
    assert [t.role for t in server.requests[1].turns] == ["user", "assistant", "tool"]
    assert server.requests[1].tool_results == ["line 7"]
    told = gpt.responses.create(
        model=MODEL, input=output, previous_response_id=first.id, instructions="Be brief."
    )
    assert told.output_text
    assert [t.role for t in server.requests[2].turns] == ["system", "user", "assistant", "tool"]
    with pytest.raises(openai.BadRequestError, match="not found") as caught:
        gpt.responses.create(model=MODEL, input="more", previous_response_id="resp_0")
    assert caught.value.code == "previous_response_not_found"


def test_refused_and_incomplete_responses(server: ModelServer, gpt: openai.OpenAI) -> None:
    """A refusal is a content part; a cut answer ends with response.incomplete."""
    server.reply(refusal="no").reply("cut", finish_reason="length")
    refused: Any = gpt.responses.create(model=MODEL, input="x").output[0]
    assert refused.content[0].type == "refusal" and refused.content[0].refusal == "no"
    last: Any = list(gpt.responses.create(model=MODEL, input="x", stream=True))[-1]
    assert last.type == "response.incomplete"
    assert last.response.incomplete_details.reason == "max_output_tokens"


def test_async_responses(server: ModelServer) -> None:
    """Plain, streamed and helper answers of the async client agree."""

    async def main() -> list[str]:
        async with openai.AsyncOpenAI(base_url=server.openai_url, api_key="test") as client:
            plain = await client.responses.create(model=MODEL, input="what now?")
            stream = await client.responses.create(model=MODEL, input="what now?", stream=True)
            text = "".join([e.delta async for e in stream if e.type == "response.output_text.delta"])
            async with client.responses.stream(model=MODEL, input="what now?") as helper:
                final = await helper.get_final_response()
            return [plain.output_text, text, final.output_text]

    texts = asyncio.run(main())
    assert len(texts[0]) > 20 and texts == [texts[0]] * 3


def test_embeddings_are_the_same_in_both_encodings(gpt: openai.OpenAI) -> None:
    """base64 (the SDK's default) and float give the same unit vectors, near for texts that share words."""
    name = "text-embedding-3-small"
    texts = ["the cat sat", "the cat ran", "stock markets fell"]
    packed = gpt.embeddings.create(model=name, input=texts, dimensions=256)
    plain = gpt.embeddings.create(model=name, input=texts, dimensions=256, encoding_format="float")
    for one, other in zip(packed.data, plain.data, strict=True):
        assert one.embedding == pytest.approx(other.embedding, abs=1e-6)
    cat, dog, stock = (d.embedding for d in plain.data)
    assert sum(a * a for a in cat) == pytest.approx(1.0)
    near = sum(a * b for a, b in zip(cat, dog, strict=True))
    assert near > sum(a * b for a, b in zip(cat, stock, strict=True)) + 0.3
    assert packed.usage.prompt_tokens == 11
    assert len(gpt.embeddings.create(model=name, input=[[1, 2], [3]]).data) == 2
    with pytest.raises(openai.BadRequestError, match="input"):
        gpt.embeddings.create(model=name, input="")


def test_completions_and_models(server: ModelServer, gpt: openai.OpenAI) -> None:
    """The legacy endpoint, plain and streamed, and the list of models."""
    server.reply("a b", times=2)
    assert gpt.completions.create(model="davinci", prompt="x").choices[0].text == "a b"
    stream = gpt.completions.create(model="davinci", prompt="x", stream=True)
    assert "".join(c.choices[0].text for c in stream) == "a b"
    assert "gpt-4.1-mini" in [m.id for m in gpt.models.list()]
    assert gpt.models.retrieve("gpt-5").id == "gpt-5"
    with pytest.raises(openai.NotFoundError, match="Unknown request URL: GET /v1/nowhere"):
        gpt.get("/nowhere", cast_to=object)
