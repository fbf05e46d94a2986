"""Failures, as the real SDKs see them."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest

from lctl.errors import UsageError
from lctl.testing import Fault, ModelServer, Reply

MESSAGES: list[Any] = [{"role": "user", "content": "hello"}]
#: A stream that breaks: openai 3 says APIConnectionError, openai 2 lets the transport's error through.
BROKEN = (
    openai.APIConnectionError,
    anthropic.APIConnectionError,
    httpx.TransportError,
    httpx2.TransportError,
)


def ask(client: openai.OpenAI, **more: Any) -> str:
    answer = client.chat.completions.create(model="gpt-4.1", messages=MESSAGES, **more)
    return str(answer.choices[0].message.content)


def streamed(client: openai.OpenAI, texts: list[str], **more: Any) -> Iterator[str]:
    """Read a stream to its end, keeping in `texts` what came before an exception."""
    with client.chat.completions.create(model="gpt-4.1", messages=MESSAGES, stream=True, **more) as stream:
        for chunk in stream:
            texts.append(chunk.choices[0].delta.content or "")
            yield texts[-1]


def test_a_429_is_retried_and_then_answered(server: ModelServer, gpt: openai.OpenAI) -> None:
    """times=1 strikes one attempt; retry_after=0 makes the SDK wait a millisecond, not half a second."""
    server.fault(429, retry_after=0).reply("ok")
    assert ask(gpt) == "ok"
    assert [r.headers["x-stainless-retry-count"] for r in server.requests] == ["0", "1"]


def test_errors_have_the_providers_shape(
    server: ModelServer, gpt: openai.OpenAI, claude: anthropic.Anthropic
) -> None:
    """Type, code, message, request id and headers, of each provider."""
    server.when(operation="chat.completions").fault(429, headers={"x-should-retry": "false"}, times=None)
    with pytest.raises(openai.RateLimitError) as ours:
        ask(gpt)
    assert ours.value.code == "rate_limit_exceeded" and ours.value.request_id
    server.fault(529, message="Busy.", headers={"x-should-retry": "false"})
    with pytest.raises(anthropic.APIStatusError) as theirs:
        claude.messages.create(model="claude-sonnet-4-6", max_tokens=5, messages=MESSAGES)
    body: Any = theirs.value.body
    assert body["error"] == {"type": "overloaded_error", "message": "Busy."}
    assert body["request_id"].startswith("req_") and theirs.value.request_id
    server.fault(502, body="<html>Bad gateway</html>", headers={"x-should-retry": "false"})
    with pytest.raises(anthropic.InternalServerError, match="Bad gateway"):
        claude.messages.create(model="claude-sonnet-4-6", max_tokens=5, messages=MESSAGES)


def test_times_none_strikes_every_attempt(server: ModelServer, gpt: openai.OpenAI) -> None:
    """A server that is down stays down: the SDK tries three times."""
    server.fault(500, retry_after=0, times=None)
    with pytest.raises(openai.InternalServerError, match="had an error"):
        ask(gpt)
    assert server.count == 3


def test_a_reset_connection_is_a_connection_error(server: ModelServer, gpt: openai.OpenAI) -> None:
    """No byte comes; the client's own exception follows."""
    server.fault(reset=True)
    with pytest.raises(openai.APIConnectionError):
        ask(gpt.with_options(max_retries=0))
    server.fault(reset=True).reply("again")
    assert ask(gpt) == "again"


def test_a_hanging_answer_runs_into_the_clients_timeout(server: ModelServer, gpt: openai.OpenAI) -> None:
    """The request is seen, nothing is answered, and closing the server does not wait."""
    server.fault(hang=True)
    with pytest.raises(openai.APITimeoutError):
        ask(gpt.with_options(max_retries=0, timeout=0.3))
    assert server.count == 1
    server.fault(hang=0.01).reply("late")
    assert ask(gpt) == "late"


@pytest.mark.parametrize("reset", [False, True])
def test_a_dropped_stream_gives_what_came(server: ModelServer, gpt: openai.OpenAI, reset: bool) -> None:
    """Two events arrive, then the connection is gone, in order or by a reset."""
    server.reply("one two three", fault=Fault(drop_after=2, reset=reset))
    texts: list[str] = []
    with pytest.raises(BROKEN):
        list(streamed(gpt, texts))
    assert texts == ["", "one"]


def test_dropped_answers_and_anthropic_streams(
    server: ModelServer, gpt: openai.OpenAI, claude: anthropic.Anthropic
) -> None:
    """A plain answer is cut in its middle; a message stream ends without message_stop."""
    server.fault(drop_after=0).reply("cut")
    with pytest.raises(openai.APIConnectionError):
        ask(gpt.with_options(max_retries=0))
    server.reply("one two three", fault=Fault(drop_after=4))
    kinds: list[str] = []
    with pytest.raises(BROKEN):
        for event in claude.messages.create(
            model="claude-sonnet-4-6", max_tokens=9, messages=MESSAGES, stream=True
        ):
            kinds.append(event.type)
    assert kinds[-1] == "content_block_delta" and "message_stop" not in kinds


def test_an_error_event_inside_a_good_stream(
    server: ModelServer, gpt: openai.OpenAI, claude: anthropic.Anthropic
) -> None:
    """Each provider's own error event, after so many others."""
    server.reply("one two three", fault=Fault(error_after=2, message="Overloaded."))
    texts: list[str] = []
    with pytest.raises(openai.APIError, match="Overloaded"):
        list(streamed(gpt, texts))
    assert texts == ["", "one"]
    server.reply("one two three", fault=Fault(error_after=3))
    with (
        pytest.raises(anthropic.APIStatusError, match="Overloaded"),
        claude.messages.stream(model="claude-sonnet-4-6", max_tokens=9, messages=MESSAGES) as stream,
    ):
        list(stream)
    server.reply("one", fault=Fault(error_after=2, message="Broken.", code="server_error"))
    last: Any = list(gpt.responses.create(model="gpt-4.1", input="x", stream=True))[-1]
    assert (last.type, last.code, last.message) == ("error", "server_error", "Broken.")


def test_malformed_json(server: ModelServer, gpt: openai.OpenAI) -> None:
    """A 200 whose JSON is broken, plain and in a stream."""
    server.reply("x", fault=Fault(malformed=True), times=2)
    with pytest.raises(ValueError):
        ask(gpt)
    with pytest.raises(ValueError):
        list(streamed(gpt, []))


def test_delays_shape_the_next_answer(server: ModelServer, gpt: openai.OpenAI) -> None:
    """A slow first byte and slow chunks change when, not what; a client's timeout sees them."""
    server.fault(delay=0.01, chunk_delay=0.001).reply("a b")
    texts: list[str] = []
    assert "".join(streamed(gpt, texts)) == "a b"
    server.fault(delay=5).reply("never")
    with pytest.raises(openai.APITimeoutError):
        ask(gpt.with_options(max_retries=0, timeout=0.3))
    server.fault(chunk_delay=5).reply("never")
    with pytest.raises((openai.APITimeoutError, httpx.ReadTimeout, httpx2.ReadTimeout)):
        list(streamed(gpt.with_options(timeout=0.3), []))


def test_a_request_header_asks_for_a_fault(server: ModelServer, gpt: openai.OpenAI) -> None:
    """x-lctl-fault strikes that very request, as often as it says."""
    server.reply("answered", times=None)
    assert ask(gpt, extra_headers={"x-lctl-fault": "status=503; retry-after=0; times=2"}) == "answered"
    assert server.count == 3
    texts: list[str] = []
    with pytest.raises(BROKEN):
        list(streamed(gpt, texts, extra_headers={"x-lctl-fault": "drop-after=1"}))
    assert texts == [""]
    with pytest.raises(openai.InternalServerError, match="no fault is named 'stats'"):
        ask(gpt, extra_headers={"x-lctl-fault": "stats=500"})


def test_a_fault_in_words() -> None:
    """Header text and keyword arguments mean the same; nonsense is refused with what is known."""
    assert Fault.parse("status=429; retry-after=0.5; times=always") == Fault(429, retry_after=0.5, times=None)
    assert Fault.parse("drop-after=3; reset") == Fault(drop_after=3, reset=True)
    assert Fault.parse("hang") == Fault(hang=True) and Fault.parse("hang=0.2") == Fault(hang=0.2)
    assert not Fault(drop_after=3, reset=True).replaces and Fault(reset=True).replaces
    with pytest.raises(UsageError, match="status='teapot'"):
        Fault.parse("status=teapot")


def test_a_fault_of_the_reply_and_one_of_a_rule_add_up(server: ModelServer, gpt: openai.OpenAI) -> None:
    """A rule slows everything; the reply's own fault still drops its stream."""
    server.when(where=lambda r: r.stream).fault(chunk_delay=0.001, times=None)
    server.reply(Reply("a b c", fault=Fault(drop_after=3)))
    texts: list[str] = []
    with pytest.raises(BROKEN):
        list(streamed(gpt, texts))
    assert texts == ["", "a", " b"]


def test_gzip_and_keep_alive_over_one_connection() -> None:
    """Compressed answers and streams are read as before; one connection serves many requests."""
    with ModelServer(seed=1, gzip=True) as server:
        with openai.OpenAI(base_url=server.openai_url, api_key="t") as client:
            raw = client.chat.completions.with_raw_response.create(model="gpt-4.1", messages=MESSAGES)
            assert raw.headers["content-encoding"] == "gzip"
            assert "".join(streamed(client, [])) == raw.parse().choices[0].message.content
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
        for _ in range(3):
            connection.request("GET", "/v1/models")
            answer = connection.getresponse()
            assert answer.version == 11 and b"gpt-4.1" in answer.read()
        sock = connection.sock
        connection.request(
            "POST", "/v1/embeddings", iter([b'{"model":"m",', b'"input":"a"}']), {}, encode_chunked=True
        )
        assert connection.getresponse().status == 200 and connection.sock is sock
        connection.close()
