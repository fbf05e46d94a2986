"""The real anthropic SDK against a loopback server."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

anthropic = pytest.importorskip("anthropic")

ASK: dict[str, Any] = {
    "model": "claude-x",
    "max_tokens": 100,
    "system": "Be brief.",
    "messages": [{"role": "user", "content": "Hi"}],
}


@pytest.fixture
def client(server: Any) -> Any:
    with anthropic.Anthropic(api_key="sk-ant-test", base_url=server.url, max_retries=0) as client:
        yield client


def test_plain(client: Any, log: Any) -> None:
    """A message: system prompt as root, cached tokens counted as input."""
    answer = client.messages.create(**ASK)
    assert answer.content[0].text == "echo: Hi"
    assert log.types == ["message", "message", "step_start", "exchange", "message", "step_end"]
    [(start, end)] = log.steps()
    assert (start["provider"], start["operation"]) == ("anthropic", "messages")
    assert end["tokens"] == {"input": 9, "output": 3, "cache_read": 2}
    assert end["response_id"] == "msg_1"
    assert log.of("message")[0]["role"] == "system"
    assert "sk-ant-test" not in log.path.read_text()


def test_async_stream(server: Any, log: Any) -> None:
    """An async event stream is recorded with the final usage."""

    async def main() -> str:
        async with anthropic.AsyncAnthropic(api_key="k", base_url=server.url, max_retries=0) as client:
            stream = await client.messages.create(**ASK, stream=True)
            return "".join([e.delta.text async for e in stream if e.type == "content_block_delta"])

    assert asyncio.run(main()) == "echo: Hi"
    [(start, end)] = log.steps()
    assert start["stream"] is True
    assert end["outcome"] == "success"
    assert end["tokens"]["output"] == 9


def test_stream_helper(client: Any, log: Any) -> None:
    """messages.stream() is one call; its final message is what the log has."""
    with client.messages.stream(**ASK) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert final.content[0].text == text == "echo: Hi"
    [(_, end)] = log.steps()
    assert end["outcome"] == "success"
    [exchange] = log.of("exchange")
    assert exchange["complete"] is True


@pytest.mark.parametrize("is_async", [False, True])
def test_chunk_that_the_sdk_cannot_read(server: Any, make: Any, log: Any, is_async: bool) -> None:
    """What the SDK's parser raises in the middle of a stream is named on the step: an error, no break."""
    [*head, end] = make.claude_chunks("one two", done=False)
    server.replies = [make.Reply(chunks=[*head, b"event: content_block_delta\ndata: {bad\n\n", end])]

    async def main() -> None:
        client = anthropic.AsyncAnthropic(api_key="k", base_url=server.url)
        async with client, client.messages.stream(**ASK) as stream:
            await stream.until_done()

    with pytest.raises(json.JSONDecodeError):
        if is_async:
            asyncio.run(main())
        else:
            with anthropic.Anthropic(api_key="k", base_url=server.url) as client:
                list(client.messages.create(**ASK, stream=True))
    [(_, end)] = log.steps()
    assert (end["outcome"], end["exception"]) == ("error", "json.decoder.JSONDecodeError")
    assert log.of("error")[0]["type"] == "validation_failed"
    assert log.of("message")[-1]["content"] == [{"type": "text", "text": "one"}]


def test_stream_left_early(client: Any, server: Any, make: Any, log: Any) -> None:
    """Leaving the helper's stream half-way keeps what came."""
    server.replies = [make.Reply(chunks=make.claude_chunks("one two three four"), pause=0.01)]
    with client.messages.stream(**ASK) as stream:
        for n, _ in enumerate(stream.text_stream):
            if n == 1:
                break
    [(_, end)] = log.steps()
    assert end["outcome"] == "aborted"
    reply = log.of("message")[-1]
    assert reply["status"] == "aborted"
    assert reply["content"][0]["text"].startswith("one two")


def test_raw_streaming_response_and_count_tokens(client: Any, server: Any, make: Any, log: Any) -> None:
    """with_raw_response, with_streaming_response and count_tokens keep their types."""
    assert client.messages.with_raw_response.create(**ASK).parse().content[0].text == "echo: Hi"
    with client.messages.with_streaming_response.create(**ASK) as response:
        assert b"echo: Hi" in response.read()
    server.replies = [make.Reply({"input_tokens": 12})]
    ask = {key: ASK[key] for key in ("model", "system", "messages")}
    assert client.messages.count_tokens(**ask).input_tokens == 12
    operations = [start["operation"] for start, _ in log.steps()]
    assert operations == ["messages", "messages", "messages.count_tokens"]
    assert all(end["outcome"] == "success" for _, end in log.steps())


def test_beta(client: Any, log: Any) -> None:
    """Beta paths are calls too."""
    client.beta.messages.create(**ASK)
    assert len(log.steps()) == 1


def test_tool_loop(client: Any, server: Any, make: Any, log: Any) -> None:
    """A tool_result that answers a tool_use is a tool call, derived from the messages."""
    use = {"type": "tool_use", "id": "tu_1", "name": "weather", "input": {"city": "Rome", "why": "x" * 200}}
    server.replies = [
        make.Reply(make.claude(content=[use], stop_reason="tool_use")),
        make.Reply(make.claude("ok")),
    ]
    tool = {"name": "weather", "input_schema": {"type": "object"}}
    first = client.messages.create(**ASK, tools=[tool])
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "tu_1", "content": "21 C"}]}
    messages = [*ASK["messages"], {"role": "assistant", "content": first.content}, result]
    client.messages.create(**{**ASK, "messages": messages}, tools=[tool])
    [tool_call] = log.of("tool_call")
    assert tool_call["tool"] == "weather"
    assert tool_call["output"] == "21 C"
    assert len(log.of("message")) == 5


def test_retries_and_overload(client: Any, server: Any, make: Any, log: Any) -> None:
    """529 then 200 is one step of two attempts."""
    client = client.with_options(max_retries=1)
    client._calculate_retry_timeout = lambda *args, **kwargs: 0.0
    busy = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    server.replies = [make.Reply(busy, 529)]
    client.messages.create(**ASK)
    [(_, end)] = log.steps()
    assert end["outcome"] == "success"
    assert [e["status"] for e in log.of("exchange")] == [529, 200]
    assert log.of("error")[0]["type"] == "overloaded"


def test_errors(client: Any, server: Any, make: Any, log: Any) -> None:
    """The client's own exception is named; the provider's words categorise it."""
    body = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"},
    }
    server.replies = [make.Reply(body, 400)]
    with pytest.raises(anthropic.BadRequestError):
        client.messages.create(**ASK)
    [(_, end)] = log.steps()
    assert end["exception"] == "anthropic.BadRequestError"
    assert log.of("error")[0]["suggested_action"] == "shorten_context"


def test_cancelled_while_waiting(server: Any, make: Any, log: Any) -> None:
    """A task cancelled by a timeout of the host's is a cancelled call, not an error."""
    release = threading.Event()
    server.replies = [make.Reply(hang=release)]

    async def main() -> None:
        async with anthropic.AsyncAnthropic(api_key="k", base_url=server.url, max_retries=0) as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await client.messages.create(**ASK)

    asyncio.run(main())
    release.set()
    [(_, end)] = log.steps()
    assert end["outcome"] == "cancelled"


def test_middleware_that_answers_itself(server: Any, log: Any) -> None:
    """A middleware that never sends is no call on the wire; one that passes on is."""
    if not hasattr(anthropic.Anthropic(api_key="k"), "_middleware"):
        pytest.skip("this version has no middleware")

    def through(request: Any, call_next: Any) -> Any:
        return call_next(request)

    with anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0, middleware=[through]) as client:
        client.messages.create(**ASK)
    assert len(log.steps()) == 1
