"""Attempts of the real openai SDK that fail, and what of them is in the log."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

from tests.integrations.openai_clients import MESSAGES, async_client, client, fast

openai = pytest.importorskip("openai", reason="needs: pip install 'lctl[test]'")

__all__ = ["client"]


class TestAttempts:
    def test_retries_are_attempts_of_one_step(self, server: Any, make: Any, log: Any) -> None:
        """500, 429, 200: one step, three exchanges, two recoverable errors, one answer."""
        failure = {"error": {"message": "oops", "type": "server_error"}}
        server.replies = [make.Reply(failure, 500), make.Reply({"error": {"message": "slow down"}}, 429)]
        client = fast(openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=2))
        with client:
            client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        [(_, end)] = log.steps()
        assert end["outcome"] == "success"
        assert [(e["attempt"], e["status"]) for e in log.of("exchange")] == [(1, 500), (2, 429), (3, 200)]
        assert [(e["type"], e["recoverable"]) for e in log.of("error")] == [
            ("server_error", True),
            ("rate_limited", True),
        ]
        assert len(log.of("message")) == 3

    def test_a_stream_at_the_second_attempt(self, server: Any, make: Any, log: Any) -> None:
        """What the SDK handles while it closes the failed answer is no failure of the stream that came."""
        busy = make.Reply({"error": {"message": "slow down"}}, 429)
        server.replies = [busy, make.Reply(chunks=make.chat_chunks("one two"))]
        client = fast(openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=2))
        with client:
            list(client.chat.completions.create(model="gpt-4o", messages=MESSAGES, stream=True))
        [(_, end)] = log.steps()
        assert end["outcome"] == "success"
        assert [(e["type"], e["context"]["attempt"]) for e in log.of("error")] == [("rate_limited", 1)]

    def test_a_failed_attempt_is_written_when_it_fails(self, server: Any, make: Any, log: Any) -> None:
        """Before the retry goes out, the failure is in the log."""
        seen: list[list[str]] = []

        def wait(*args: Any, **kwargs: Any) -> float:
            seen.append(log.types)
            return 0.0

        server.replies = [make.Reply({"error": {"message": "oops"}}, 500)]
        with openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=1) as client:
            client._calculate_retry_timeout = wait
            client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        assert seen[0][-2:] == ["exchange", "error"]

    @pytest.mark.parametrize(
        ("status", "error", "kind", "exception"),
        [
            (
                400,
                {"code": "context_length_exceeded", "message": "too long"},
                "resource_exhausted",
                "BadRequestError",
            ),
            (401, {"message": "bad key"}, "authentication_failed", "AuthenticationError"),
            (404, {"message": "no such model"}, "not_found", "NotFoundError"),
            (429, {"message": "slow down"}, "rate_limited", "RateLimitError"),
            (500, {"message": "oops"}, "server_error", "InternalServerError"),
        ],
    )
    def test_error_statuses(
        self,
        client: Any,
        server: Any,
        make: Any,
        log: Any,
        status: int,
        error: Any,
        kind: str,
        exception: str,
    ) -> None:
        """An error status is categorised, and the SDK's exception is named on the step."""
        server.replies = [make.Reply({"error": error}, status)]
        with pytest.raises(openai.APIStatusError):
            client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        [(_, end)] = log.steps()
        assert (end["outcome"], end["exception"]) == ("error", f"openai.{exception}")
        [event] = log.of("error")
        assert (event["type"], event["message"]) == (kind, error["message"])
        assert event["context"]["status"] == status

    def test_body_that_is_not_json(self, client: Any, server: Any, make: Any, log: Any) -> None:
        """A 502 page of a proxy is kept as it is."""
        server.replies = [make.Reply(b"<html>Bad gateway</html>", 502, {"content-type": "text/html"})]
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        assert log.of("exchange")[0]["body"] == "<html>Bad gateway</html>"
        assert log.of("error")[0]["context"]["status"] == 502

    def test_connection_refused(self, log: Any) -> None:
        """No server: an exchange without a response, and a connection error."""
        with (
            openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9/v1", max_retries=0) as client,
            pytest.raises(openai.APIConnectionError),
        ):
            client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"
        [exchange] = log.of("exchange")
        assert "status" not in exchange
        assert exchange["error"]["type"] == "ConnectError"
        assert log.of("error")[0]["type"] == "connection_failed"

    def test_timeout(self, server: Any, make: Any, log: Any) -> None:
        """A server that does not answer in time: a timeout, said so."""
        release = threading.Event()
        server.replies = [make.Reply(hang=release)]
        with (
            openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0, timeout=0.1) as client,
            pytest.raises(openai.APITimeoutError),
        ):
            client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        release.set()
        [error] = log.of("error")
        assert (error["type"], error["suggested_action"]) == ("timeout", "retry_with_timeout_increase")

    def test_a_call_that_hangs_is_in_the_log(self, server: Any, make: Any, log: Any) -> None:
        """While the server does not answer, the step stands open in the file."""
        release = threading.Event()
        server.replies = [make.Reply(hang=release)]

        async def main() -> None:
            async with async_client(server, timeout=5) as client:
                task = asyncio.create_task(client.chat.completions.create(model="gpt-4o", messages=MESSAGES))
                await asyncio.to_thread(server.arrived.wait, 5)
                assert log.steps()[0][1] is None
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task

        asyncio.run(main())
        release.set()
        [(_, end)] = log.steps()
        assert end["outcome"] == "cancelled"
        assert log.of("error") == []

    def test_refused_by_the_sdk(self, client: Any, log: Any) -> None:
        """A call the SDK refuses to send is an error without a step."""
        with pytest.raises(TypeError):
            client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": object()}])
        assert log.types == ["error"]
        assert log.of("error")[0]["context"]["sent"] is False


class TestErrorsInAnswers:
    def test_error_inside_a_good_stream(self, client: Any, server: Any, make: Any, log: Any) -> None:
        """An error object in a 200 stream is an error of the call."""
        bad = b'data: {"error": {"message": "overloaded", "type": "server_error"}}\n\n'
        server.replies = [make.Reply(chunks=[*make.chat_chunks("one", done=False), bad])]
        with pytest.raises(openai.APIError):
            list(client.chat.completions.create(model="gpt-4o", messages=MESSAGES, stream=True))
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"
        assert log.of("error")[0]["message"] == "overloaded"

    @pytest.mark.parametrize("is_async", [False, True])
    def test_chunk_that_the_sdk_cannot_read(self, server: Any, make: Any, log: Any, is_async: bool) -> None:
        """What the SDK's parser raises in the middle of a stream is named on the step: an error, no break."""
        chunks = [*make.chat_chunks("one two", done=False), b"data: {bad\n\n", *make.chat_chunks("three")]
        server.replies = [make.Reply(chunks=chunks)]

        async def main() -> None:
            async with async_client(server) as client:
                async for _ in await client.chat.completions.create(
                    model="gpt-4o", messages=MESSAGES, stream=True
                ):
                    pass

        with pytest.raises(json.JSONDecodeError):
            if is_async:
                asyncio.run(main())
            else:
                with openai.OpenAI(api_key="k", base_url=f"{server.url}/v1") as client:
                    list(client.chat.completions.create(model="gpt-4o", messages=MESSAGES, stream=True))
        [(_, end)] = log.steps()
        assert (end["outcome"], end["exception"]) == ("error", "json.decoder.JSONDecodeError")
        [error] = log.of("error")
        assert (error["type"], error["context"]["exception"]) == ("validation_failed", end["exception"])
        assert log.of("message")[-1]["content"] == "one two"

    def test_an_answer_nobody_can_read(self, client: Any, server: Any, make: Any, log: Any) -> None:
        """A 200 whose JSON is broken fails in the client, and so the step failed."""
        server.replies = [
            make.Reply(b'{"id": "x", "choices": [{"mess', headers={"content-type": "application/json"})
        ]
        with pytest.raises(ValueError, match="Unterminated"):
            client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-32-be"])
    def test_an_answer_in_another_encoding(
        self, client: Any, server: Any, make: Any, log: Any, encoding: str
    ) -> None:
        """What the client's JSON parser takes is taken."""
        body = json.dumps(make.chat("Grüße")).encode(encoding)
        server.replies = [make.Reply(body, headers={"content-type": "application/json"})]
        answer = client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        assert answer.choices[0].message.content == log.of("message")[-1]["content"] == "Grüße"
        assert [end["outcome"] for _, end in log.steps()] == ["success"]

    def test_no_content(self, client: Any, server: Any, make: Any, log: Any) -> None:
        """A 204 is no answer of a model, though the client takes it."""
        server.replies = [make.Reply(b"", 204, {"content-type": "text/plain"})]
        client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"
        assert [error["context"]["status"] for error in log.of("error")] == [204]

    def test_an_error_in_a_list(self, client: Any, server: Any, make: Any, log: Any) -> None:
        """As Google answers, also where it speaks OpenAI's language."""
        server.replies = [make.Reply([{"error": {"code": 400, "message": "No such field"}}], 400)]
        with pytest.raises(openai.BadRequestError):
            client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        assert [error["message"] for error in log.of("error")] == ["No such field"]

    def test_redirects_without_end(self, client: Any, server: Any, make: Any, log: Any) -> None:
        """The client gives up: no answer, and none that was wrong."""
        server.otherwise = lambda path, _: make.Reply({}, 307, {"location": path})
        with pytest.raises(openai.APIConnectionError):
            client.chat.completions.create(model="gpt-4o", messages=MESSAGES)
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"
        assert [error["type"] for error in log.of("error")] == ["connection_failed"]
