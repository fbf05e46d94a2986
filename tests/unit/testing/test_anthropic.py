"""Messages, read by the real SDK."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import anthropic
import pytest
from pydantic import BaseModel

from lctl.analysis.stats import stats
from lctl.codec import open_log
from lctl.session import LCTLSession
from lctl.testing import ModelServer, Reply

MODEL = "claude-sonnet-4-6"
ASK: dict[str, Any] = {
    "model": MODEL,
    "max_tokens": 1000,
    "messages": [{"role": "user", "content": "Where is the SQL built?"}],
}
GREP: Any = {
    "name": "grep",
    "input_schema": {
        "type": "object",
        "properties": {"pattern": {"type": "string"}},
        "required": ["pattern"],
    },
}
CALLS = [("grep", {"pattern": "execute"}), ("grep", {"pattern": "é'"})]


class Finding(BaseModel):
    title: str
    severity: int


def test_a_message_holds_thinking_text_and_tool_use(server: ModelServer, claude: anthropic.Anthropic) -> None:
    """Blocks come in the provider's order, with ids, signature and a stop reason."""
    server.reply("I look.", reasoning="Let me think.", tool_calls=CALLS)
    answer = claude.messages.create(**ASK, tools=[GREP])
    assert [b.type for b in answer.content] == ["thinking", "text", "tool_use", "tool_use"]
    thinking, text, first, second = (b.model_dump() for b in answer.content)
    assert thinking["thinking"] == "Let me think." and thinking["signature"]
    assert text["text"] == "I look." and first["input"] == {"pattern": "execute"}
    assert first["id"].startswith("toolu_") and first["id"] != second["id"]
    assert answer.stop_reason == "tool_use" and answer.id.startswith("msg_01")
    assert answer.usage.output_tokens_details is not None
    assert answer.usage.output_tokens_details.thinking_tokens == 4


def test_a_stream_accumulates_to_the_plain_message(server: ModelServer, claude: anthropic.Anthropic) -> None:
    """create(stream=True) and .stream() give the blocks of the plain answer, and cumulative usage."""
    server.reply("I look.", reasoning="Let me think.", tool_calls=CALLS, times=3)
    plain = claude.messages.create(**ASK, tools=[GREP])
    kinds = [e.type for e in claude.messages.create(**ASK, tools=[GREP], stream=True)]
    assert kinds[0] == "message_start" and kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 4
    with claude.messages.stream(**ASK, tools=[GREP]) as stream:
        assert "".join(stream.text_stream) == "I look."
        final = stream.get_final_message()
    for one, other in zip(plain.content, final.content, strict=True):
        left, right = (b.model_dump(exclude={"id", "signature", "parsed_output"}) for b in (one, other))
        assert left == right
    assert final.usage.output_tokens == plain.usage.output_tokens
    assert final.stop_reason == "tool_use"


def test_results_go_back_and_lost_ones_are_refused(server: ModelServer, claude: anthropic.Anthropic) -> None:
    """A tool loop works, and one that forgets a result gets the provider's 400."""
    server.script([Reply(tool_calls=CALLS), "Done."])
    first = claude.messages.create(**ASK, tools=[GREP])
    used = [b for b in first.content if b.type == "tool_use"]
    results: Any = [
        {"type": "tool_result", "tool_use_id": b.id, "content": [{"type": "text", "text": f"hit {n}"}]}
        for n, b in enumerate(used)
    ]
    history = [*ASK["messages"], {"role": "assistant", "content": first.content}]
    ask = {**ASK, "messages": [*history, {"role": "user", "content": results}]}
    text: Any = claude.messages.create(**ask, tools=[GREP]).content[0]
    assert text.text == "Done." and server.requests[1].tool_results == ["hit 0", "hit 1"]
    with pytest.raises(anthropic.BadRequestError, match="No tool output found"):
        claude.messages.create(**{**ask, "messages": [*history, {"role": "user", "content": results[:1]}]})


def test_parse_and_seeded_thinking(server: ModelServer, claude: anthropic.Anthropic) -> None:
    """Structured output fits its model; thinking is there when it is switched on."""
    parsed = claude.messages.parse(**ASK, output_format=Finding).parsed_output
    assert isinstance(parsed, Finding)
    answer = claude.messages.create(
        **{**ASK, "max_tokens": 4000}, thinking={"type": "enabled", "budget_tokens": 1024}
    )
    assert answer.content[0].type == "thinking" and answer.content[1].type == "text"
    assert server.count == 2


def test_raw_streaming_beta_and_async_surfaces(server: ModelServer, claude: anthropic.Anthropic) -> None:
    """Every other way the SDK has to read one message."""
    server.reply("same", times=6)
    raw = claude.messages.with_raw_response.create(**ASK)
    assert (
        raw.headers["request-id"].startswith("req_01") and raw.parse().content[0].to_dict()["text"] == "same"
    )
    with claude.messages.with_streaming_response.create(**ASK) as response:
        assert b"same" in response.read()
    beta: Any = claude.beta.messages.create(**ASK).content[0]
    assert beta.text == "same"

    async def main() -> list[str]:
        async with anthropic.AsyncAnthropic(base_url=server.anthropic_url, api_key="test") as client:
            plain: Any = (await client.messages.create(**ASK)).content[0]
            async with client.messages.stream(**ASK) as stream:
                streamed = "".join([t async for t in stream.text_stream])
            events = await client.messages.create(**ASK, stream=True)
            kinds = [e.type async for e in events]
            assert kinds[-1] == "message_stop"
            return [plain.text, streamed]

    assert asyncio.run(main()) == ["same", "same"]


def test_counting_caching_and_refusing(server: ModelServer, claude: anthropic.Anthropic) -> None:
    """count_tokens agrees with usage; cache_control moves tokens to the cache; stop reasons translate."""
    counted = claude.messages.count_tokens(model=MODEL, messages=ASK["messages"]).input_tokens
    server.reply(refusal="No.").reply("x", finish_reason="length")
    refused = claude.messages.create(**ASK)
    assert refused.stop_reason == "refusal" and refused.usage.input_tokens == counted
    assert claude.messages.create(**ASK).stop_reason == "max_tokens"
    system: Any = [{"type": "text", "text": "y" * 4000, "cache_control": {"type": "ephemeral"}}]
    first = claude.messages.create(**ASK, system=system).usage
    assert first.cache_creation_input_tokens and first.cache_creation_input_tokens > 1000
    history = [*ASK["messages"], {"role": "assistant", "content": "There."}, {"role": "user", "content": "?"}]
    second = claude.messages.create(**{**ASK, "messages": history}, system=system).usage
    assert second.cache_read_input_tokens and second.cache_read_input_tokens > 1000
    assert second.input_tokens < 20
    assert "claude-haiku-4-5" in [m.id for m in claude.models.list()]
    with pytest.raises(anthropic.BadRequestError, match="max_tokens: Field required"):
        claude.post("/v1/messages", cast_to=object, body={**ASK, "max_tokens": None})


def test_a_thread_goes_on_from_a_message(server: ModelServer, claude: anthropic.Anthropic) -> None:
    """The server keeps messages, system prompt and tools; what it does not keep is refused as there."""
    server.script([Reply(tool_calls=[("grep", {"pattern": "x"})]), "found"])
    body = {**ASK, "system": "Be brief.", "tools": [GREP]}
    first: Any = claude.messages.create(**body, extra_body={"thread": {"type": "create"}})
    result = {"type": "tool_result", "tool_use_id": first.content[0].id, "content": "line 7"}
    more: Any = {**ASK, "messages": [{"role": "user", "content": [result]}]}
    thread = {"type": "continue", "previous_message_id": first.id}
    second: Any = claude.messages.create(**more, extra_body={"thread": thread})
    assert second.content[0].text == "found"
    asked = server.requests[1]
    assert [turn.role for turn in asked.turns] == ["system", "user", "assistant", "user"]
    assert (asked.tools, asked.tool_results, asked.system) == (["grep"], ["line 7"], "Be brief.")
    thread["previous_message_id"] = "msg_0"
    with pytest.raises(anthropic.NotFoundError) as caught:
        claude.messages.create(**ASK, extra_body={"thread": thread})
    assert caught.value.body["error"]["details"] == {"error_code": "thread_not_found"}  # type: ignore[index]


def test_what_has_a_price_of_its_own_is_priced(
    server: ModelServer, claude: anthropic.Anthropic, tmp_path: Path
) -> None:
    """Recorded, streamed or not: 300 tokens cached for five minutes, 600 for an hour, three searches."""
    usage = {"input": 1000, "output": 10, "cache_write": 900, "cache_write_1h": 600, "web_searches": 3}
    server.reply("Found.", usage=usage, times=2)
    with LCTLSession("priced", tmp_path / "priced.lctl.json"):
        answer = claude.messages.create(**ASK)
        with claude.messages.stream(**ASK) as stream:
            stream.until_done()
    assert answer.usage.cache_creation is not None
    assert answer.usage.cache_creation.ephemeral_1h_input_tokens == 600
    counted = stats(open_log(tmp_path / "priced.lctl.json"))
    each = (100 * 3 + 300 * 3.75 + 600 * 6 + 10 * 15) / 1e6 + 0.03
    assert counted.cost == pytest.approx(2 * each)
    assert counted.tokens.to_dict() == {
        "input": 2000,
        "output": 20,
        "cache_read": 0,
        "cache_write": 1800,
        "reasoning": 0,
        "cache_write_1h": 1200,
        "web_searches": 6,
    }
