"""The real openai SDK against a loopback server: one step per logical call, and the host unchanged."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.integrations.openai_clients import MESSAGES, async_client, client

openai = pytest.importorskip("openai", reason="needs: pip install 'lctl[test]'")

__all__ = ["client"]

TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


class TestOneCall:
    def test_plain(self, client: Any, log: Any) -> None:
        """A call is its prompt and step_start in front, exchange, answer and step_end behind."""
        answer = client.chat.completions.create(model="gpt-4o", messages=MESSAGES, temperature=0)
        assert answer.choices[0].message.content == "echo: Hi"
        assert log.types == ["message", "message", "step_start", "exchange", "message", "step_end"]
        system, user, start, exchange, reply, end = log.events
        assert system["data"] == {
            "message_id": "m1",
            "parent_id": None,
            "role": "system",
            "content": "Be brief.",
        }
        assert user["data"]["parent_id"] == "m1"
        assert start["data"]["kind"] == "llm"
        assert start["data"]["prompt"] == "m2"
        assert start["data"]["model"] == "gpt-4o"
        assert start["data"]["operation"] == "chat.completions"
        assert start["data"]["params"]["temperature"] == 0
        assert {event["step"] for event in (exchange, reply, end)} == {3}
        assert exchange["data"]["status"] == 200
        assert exchange["data"]["complete"] is True
        assert exchange["data"]["headers"]["x-request-id"] == "req_1"
        assert reply["data"]["parent_id"] == "m2"
        assert reply["data"]["sampled"] is True
        assert end["data"]["outcome"] == "success"
        assert end["data"]["message"] == reply["data"]["message_id"]
        assert end["data"]["model"] == "gpt-4o-2024"
        assert end["data"]["response_id"] == "chatcmpl-1"
        assert end["data"]["finish_reason"] == "stop"
        assert end["data"]["tokens"] == {"input": 10, "output": 5, "total": 15}

    def test_no_secret_reaches_the_log(self, client: Any, log: Any) -> None:
        """The API key is in no event."""
        client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        assert "sk-test" not in log.path.read_text()

    def test_async(self, server: Any, log: Any) -> None:
        """The async client's call is recorded the same way."""

        async def main() -> Any:
            async with async_client(server) as client:
                return await client.chat.completions.create(model="gpt-4o", messages=MESSAGES)

        assert asyncio.run(main()).choices[0].message.content == "echo: Hi"
        [(start, end)] = log.steps()
        assert (start["prompt"], end["outcome"]) == ("m2", "success")

    def test_conversation_is_stored_once(self, client: Any, log: Any) -> None:
        """The second turn stores only what is new."""
        first = client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        history = [*MESSAGES, first.choices[0].message, {"role": "user", "content": "And now?"}]
        client.chat.completions.create(model="gpt-4o", messages=history)
        assert len(log.of("message")) == 5
        assert [m["role"] for m in log.of("message")] == ["system", "user", "assistant", "user", "assistant"]

    def test_n_answers(self, client: Any, log: Any) -> None:
        """n = 3 gives three sibling messages and their ids in step_end."""
        client.chat.completions.create(model="gpt-4o", messages=MESSAGES, n=3)
        [(_, end)] = log.steps()
        sampled = [m for m in log.of("message") if m.get("sampled")]
        assert end["messages"] == [m["message_id"] for m in sampled]
        assert {m["parent_id"] for m in sampled} == {"m2"}
        assert [m["content"] for m in sampled] == ["echo: Hi 0", "echo: Hi 1", "echo: Hi 2"]

    def test_tools(self, client: Any, server: Any, make: Any, log: Any) -> None:
        """Tool definitions are stored once, tool calls with the answer."""
        call = {
            "id": "c1",
            "type": "function",
            "function": {"name": "weather", "arguments": '{"city":"Rome"}'},
        }
        server.replies = [make.Reply(make.chat(None, tool_calls=[call])), make.Reply(make.chat("Sunny"))]
        first = client.chat.completions.create(model="gpt-4o", messages=MESSAGES, tools=[TOOL])
        history = [
            *MESSAGES,
            first.choices[0].message,
            {"role": "tool", "tool_call_id": "c1", "content": "21 C"},
        ]
        client.chat.completions.create(model="gpt-4o", messages=history, tools=[TOOL])
        (one, end), (two, _) = log.steps()
        assert one["tool_definitions"] == [TOOL]
        assert one["tools"] == two["tools"]
        assert "tool_definitions" not in two
        assert end["finish_reason"] == "tool_calls"
        [tool_call] = log.of("tool_call")
        assert (tool_call["tool"], tool_call["output"], tool_call["derived"]) == ("weather", "21 C", True)

    def test_messages_as_a_generator(self, client: Any, server: Any, log: Any) -> None:
        """Messages given as a generator are sent whole and recorded whole."""
        client.chat.completions.create(model="gpt-4o", messages=(m for m in MESSAGES))
        assert json.loads(server.requests[0][2])["messages"] == MESSAGES
        assert len(log.of("message")) == 3

    def test_other_requests_are_not_calls(self, client: Any, log: Any) -> None:
        """Listing models is no model call; what is said is kept for a rerun. Of other requests nothing is."""
        client.models.list()
        client.get("/files", cast_to=object)
        assert log.types == ["exchange"]
        [said] = log.of("exchange")
        assert (said["kind"], said["method"], said["url"].endswith("/v1/models")) == ("http", "GET", True)

    def test_embeddings(self, client: Any, server: Any, make: Any, log: Any) -> None:
        """An embedding is a step of its own kind."""
        body = {
            "object": "list",
            "model": "text-embedding-3-small",
            "data": [{"object": "embedding", "index": 0, "embedding": [0.1, 0.2]}],
            "usage": {"prompt_tokens": 2, "total_tokens": 2},
        }
        server.replies = [make.Reply(body)]
        client.embeddings.create(model="text-embedding-3-small", input="hi", encoding_format="float")
        [(start, end)] = log.steps()
        assert (start["kind"], start["input"]) == ("embedding", "hi")
        assert end["embedding"]["count"] == 1

    def test_module_client_azure_and_copies(self, client: Any, server: Any, log: Any) -> None:
        """Azure's subclass and copies by with_options are seen, by patching classes."""
        client.with_options(timeout=5).chat.completions.create(model="gpt-4o", messages=MESSAGES)
        with openai.AzureOpenAI(
            api_key="k", api_version="2024-06-01", azure_endpoint=server.url, max_retries=0
        ) as azure:
            azure.chat.completions.create(model="my-deployment", messages=MESSAGES)
        assert [end["outcome"] for _, end in log.steps()] == ["success", "success"]
        assert "my-deployment" in log.of("exchange")[1]["url"]


class TestSurfaces:
    def test_raw_response(self, client: Any, log: Any) -> None:
        """with_raw_response gives its own type and is recorded once."""
        raw = client.chat.completions.with_raw_response.create(model="gpt-4o", messages=MESSAGES)
        assert raw.headers["x-request-id"] == "req_1"
        assert raw.parse().choices[0].message.content == "echo: Hi"
        assert len(log.steps()) == 1

    def test_streaming_response(self, client: Any, log: Any) -> None:
        """with_streaming_response is recorded when its body has been read."""
        with client.chat.completions.with_streaming_response.create(model="gpt-4o", messages=MESSAGES) as raw:
            assert log.types[-1] == "step_start"
            assert "echo: Hi" in raw.read().decode()
        [(_, end)] = log.steps()
        assert end["outcome"] == "success"

    def test_parse_that_raises(self, client: Any, server: Any, make: Any, log: Any) -> None:
        """parse() raising at a good answer leaves the call answered and names the exception."""
        pydantic = pytest.importorskip("pydantic")
        Answer = pydantic.create_model("Answer", x=(int, ...))
        body = make.chat('{"x": 1')
        body["choices"][0]["finish_reason"] = "length"
        server.replies = [make.Reply(body)]
        with pytest.raises(openai.LengthFinishReasonError):
            client.chat.completions.parse(model="gpt-4o", messages=MESSAGES, response_format=Answer)
        [(_, end)] = log.steps()
        assert end["outcome"] == "success"
        assert end["finish_reason"] == "length"
        [error] = log.of("error")
        assert error["category"] == "output_error"
        assert error["context"]["exception"] == "openai.LengthFinishReasonError"

    def test_responses(self, client: Any, server: Any, make: Any, log: Any) -> None:
        """The Responses API is a call like any other."""
        body = {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": "gpt-4o-2024",
            "output": [
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": "Hi there", "annotations": []}],
                }
            ],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": 3,
                "output_tokens": 2,
                "total_tokens": 5,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            },
        }
        server.replies = [make.Reply(body)]
        answer = client.responses.create(model="gpt-4o", instructions="Be brief.", input="Hi")
        assert answer.output_text == "Hi there"
        [(start, end)] = log.steps()
        assert start["operation"] == "responses"
        assert end["response_id"] == "resp_1"


class TestConcurrency:
    def test_gather(self, server: Any, log: Any) -> None:
        """Twenty calls at once: twenty steps, each with its own answer."""

        async def main() -> list[Any]:
            async with async_client(server) as client:
                return await asyncio.gather(
                    *(
                        client.chat.completions.create(
                            model="gpt-4o", messages=[{"role": "user", "content": f"q{n}"}]
                        )
                        for n in range(20)
                    )
                )

        asyncio.run(main())
        messages = {m["message_id"]: m for m in log.of("message")}
        steps = log.steps()
        assert len(steps) == 20
        for start, end in steps:
            asked = messages[start["prompt"]]["content"]
            assert messages[end["message"]]["content"] == f"echo: {asked}"
        assert [event["seq"] for event in log.events] == list(range(1, len(log.events) + 1))

    def test_threads_carry_their_own_calls(self, client: Any, log: Any) -> None:
        """Calls from many threads do not mix."""
        import contextvars

        def one(n: int) -> None:
            client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": f"q{n}"}])

        with ThreadPoolExecutor(8) as pool:
            futures = [pool.submit(contextvars.copy_context().run, one, n) for n in range(24)]
            for future in futures:
                future.result()
        messages = {m["message_id"]: m for m in log.of("message")}
        for start, end in log.steps():
            assert messages[end["message"]]["content"] == "echo: " + messages[start["prompt"]]["content"]


class TestEncodings:
    @pytest.mark.parametrize("encoding", ["gzip", "br", "deflate"])
    def test_compressed_answers(self, client: Any, server: Any, make: Any, log: Any, encoding: str) -> None:
        """A compressed body reaches the SDK and, decoded, the log."""
        body = json.dumps(make.chat("Compressed " * 20)).encode()
        server.replies = [make.Reply(_compress(body, encoding), headers={"content-encoding": encoding})]
        answer = client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        assert answer.choices[0].message.content.startswith("Compressed")
        assert log.of("message")[-1]["content"] == answer.choices[0].message.content
        assert "content-encoding" not in log.of("exchange")[0]["headers"]
        assert log.steps()[0][1]["tokens"]["input"] == 10


def _compress(body: bytes, encoding: str) -> bytes:
    import gzip
    import zlib

    if encoding == "gzip":
        return gzip.compress(body)
    if encoding == "deflate":
        return zlib.compress(body)
    return pytest.importorskip("brotli").compress(body)  # type: ignore[no-any-return]


def test_a_call_made_inside_a_recording_call(client: Any, log: Any) -> None:
    """A signal handler's call, say, or a repr's: stored after what it interrupted, and ended."""

    class Asks:
        def __repr__(self) -> str:
            client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
            return "asked"

    log.session.emit("t", {"value": Asks()})
    [(start, end)] = log.steps()
    assert log.types[0] == "t"
    assert start["prompt"]
    assert end["outcome"] == "success"
