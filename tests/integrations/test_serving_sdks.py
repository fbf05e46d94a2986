"""The real SDKs on a tape: their own types, errors, retries and streams, and no connection."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.rerunning import Rerun, events, playing, recording

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

MESSAGES: list[Any] = [{"role": "user", "content": "Hi"}]
CHAT: dict[str, Any] = {"model": "gpt-4o", "messages": MESSAGES}
CLAUDE: dict[str, Any] = {"model": "claude-x", "max_tokens": 50, "messages": MESSAGES}


def fast(client: Any) -> Any:
    """With retries that do not wait."""
    client._calculate_retry_timeout = lambda *args, **kwargs: 0.0
    return client


def gpt(url: str, **options: Any) -> Any:
    return fast(openai.OpenAI(api_key="sk-test", base_url=f"{url}/v1", **options))


def gpt_async(url: str, **options: Any) -> Any:
    return fast(openai.AsyncOpenAI(api_key="sk-test", base_url=f"{url}/v1", **options))


def claude(url: str, **options: Any) -> Any:
    return fast(anthropic.Anthropic(api_key="sk-test", base_url=url, **options))


def claude_async(url: str, **options: Any) -> Any:
    return fast(anthropic.AsyncAnthropic(api_key="sk-test", base_url=url, **options))


# -- whole and streamed answers ------------------------------------------------------------------


def chat(url: str) -> Any:
    with gpt(url) as client:
        whole = client.chat.completions.create(**CHAT)
        assert type(whole).__name__ == "ChatCompletion" and whole._request_id == "req_1"
        chunks = [chunk.to_dict() for chunk in client.chat.completions.create(**CHAT, stream=True)]
    return whole.to_dict(), chunks


def chat_async(url: str) -> Any:
    async def main() -> Any:
        async with gpt_async(url) as client:
            whole = await client.chat.completions.create(**CHAT)
            stream = await client.chat.completions.create(**CHAT, stream=True)
            return whole.to_dict(), [chunk.to_dict() async for chunk in stream]

    return asyncio.run(main())


def chat_helper(url: str) -> Any:
    with gpt(url) as client, client.chat.completions.stream(**CHAT) as stream:
        kinds = [event.type for event in stream]
        return kinds, stream.get_final_completion().to_dict()


def chat_raw(url: str) -> Any:
    with gpt(url) as client:
        raw = client.chat.completions.with_raw_response.create(**CHAT)
        parsed = raw.parse()
        with client.chat.completions.with_streaming_response.create(**CHAT, stream=True) as streamed:
            lines = list(streamed.iter_lines())
    assert raw.elapsed.total_seconds() >= 0
    return raw.status_code, raw.headers["x-request-id"], raw.http_version, raw.retries_taken, parsed, lines


def chat_raw_async(url: str) -> Any:
    async def main() -> Any:
        async with gpt_async(url) as client:
            create = client.chat.completions.with_streaming_response.create
            async with create(**CHAT, stream=True) as streamed:
                return streamed.request_id, [piece async for piece in streamed.iter_bytes()]

    return asyncio.run(main())


def message(url: str) -> Any:
    with claude(url) as client:
        whole = client.messages.create(**CLAUDE)
        assert type(whole).__name__ == "Message"
        parts = [part.to_dict() for part in client.messages.create(**CLAUDE, stream=True)]
        with client.messages.stream(**CLAUDE) as stream:
            text = list(stream.text_stream)
            final = stream.get_final_message().to_dict()
    return whole.to_dict(), parts, text, final


def message_async(url: str) -> Any:
    async def main() -> Any:
        async with claude_async(url) as client:
            whole = await client.messages.create(**CLAUDE)
            async with client.messages.stream(**CLAUDE) as stream:
                text = [piece async for piece in stream.text_stream]
                return whole.to_dict(), text, (await stream.get_final_message()).to_dict()

    return asyncio.run(main())


def gathered(url: str) -> Any:
    async def main() -> Any:
        async with gpt_async(url) as client:
            one = client.chat.completions.create
            asked = [[{"role": "user", "content": str(n)}] for n in range(3)]
            answers = [await one(model="gpt-4o", messages=messages) for messages in asked]
            return [answer.choices[0].message.content for answer in answers]

    return asyncio.run(main())


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(
    "program",
    [chat, chat_async, chat_helper, chat_raw, chat_raw_async, message, message_async, gathered],
)
def test_answers(program: Callable[[str], Any], full: bool, server: Any, rerun: Rerun) -> None:
    """Every way of asking gives on the tape what it gave live."""
    rerun(program, server.url, full=full)


# -- what goes wrong -------------------------------------------------------------------------------


def once(client: Any) -> Any:
    """One call of whichever SDK; the text of its answer."""
    with client:
        if hasattr(client, "chat"):
            return client.chat.completions.create(**CHAT).choices[0].message.content
        return client.messages.create(**CLAUDE).content[0].text


def once_async(client: Any) -> Any:
    async def main() -> Any:
        async with client:
            if hasattr(client, "chat"):
                return (await client.chat.completions.create(**CHAT)).choices[0].message.content
            return (await client.messages.create(**CLAUDE)).content[0].text

    return asyncio.run(main())


CLIENTS = [(gpt, once), (gpt_async, once_async), (claude, once), (claude_async, once_async)]


@pytest.mark.parametrize(("make_client", "call"), CLIENTS)
class TestFailures:
    def test_retried(self, make_client: Any, call: Any, server: Any, make: Any, rerun: Rerun) -> None:
        """A 429 and a 500 are answered again, and tried again by the SDK."""
        server.replies = [
            make.Reply({"error": {"message": "slow"}}, 429, {"retry-after-ms": "1"}),
            make.Reply({"error": {"message": "oops"}}, 500),
        ]
        answer = rerun(lambda url: call(make_client(url, max_retries=3)), server.url)
        assert answer == "echo: Hi"
        assert [e["data"]["status"] for e in events(rerun.log) if e["type"] == "exchange"] == [429, 500, 200]

    @pytest.mark.parametrize("status", [400, 401, 404, 429, 503])
    def test_error_status(
        self, make_client: Any, call: Any, status: int, server: Any, make: Any, rerun: Rerun
    ) -> None:
        error = {"type": "error", "error": {"type": "some_error", "message": "no"}}
        server.replies = [make.Reply(error, status)]
        (_, name, _), _ = rerun(lambda url: call(make_client(url, max_retries=0)), server.url)
        assert name.endswith("Error")

    def test_refused(self, make_client: Any, call: Any, rerun: Rerun) -> None:
        """What lies beneath the SDK's error is the same, too."""
        (_, name, _), beneath = rerun(lambda url: call(make_client(url, max_retries=1)), "http://127.0.0.1:9")
        assert name == "APIConnectionError"
        assert beneath[0][1] == "ConnectError"

    def test_timeout(self, make_client: Any, call: Any, server: Any, make: Any, rerun: Rerun) -> None:
        never = threading.Event()
        server.replies = [make.Reply({}, hang=never)]
        (_, name, _), _ = rerun(lambda url: call(make_client(url, max_retries=0, timeout=0.2)), server.url)
        never.set()
        assert name == "APITimeoutError"

    def test_cut_body(self, make_client: Any, call: Any, server: Any, make: Any, rerun: Rerun) -> None:
        """A body that ends too soon."""
        server.replies = [make.Reply(make.chat("x" * 1000), cut=True)]
        (_, name, _), _ = rerun(lambda url: call(make_client(url, max_retries=0)), server.url)
        assert name in ("APIConnectionError", "RemoteProtocolError")


def test_cut_stream(server: Any, make: Any, rerun: Rerun) -> None:
    """A stream that breaks gives what came before, then the same error."""

    def program(url: str) -> Any:
        got = []
        with gpt(url) as client:
            try:
                for chunk in client.chat.completions.create(**CHAT, stream=True):
                    got.append(chunk.choices[0].delta.content)
            except Exception as error:
                got.append(f"{type(error).__module__}.{type(error).__qualname__}: {error}")
        return got

    server.replies = [make.Reply(chunks=make.chat_chunks("one two", done=False), cut=True)]
    got = rerun(program, server.url)
    assert got[:3] == ["", "one", " two"] and "Error" in got[3]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_left_early(asynchronous: bool, server: Any, make: Any, rerun: Rerun) -> None:
    """A stream left after its second chunk is left there again."""

    def program(url: str) -> Any:
        with gpt(url) as client, client.chat.completions.create(**CHAT, stream=True) as stream:
            return [next(stream).to_dict(), next(stream).to_dict()]

    def program_async(url: str) -> Any:
        async def main() -> Any:
            client = gpt_async(url)
            async with client, await client.chat.completions.create(**CHAT, stream=True) as stream:
                return [(await anext(stream)).to_dict(), (await anext(stream)).to_dict()]

        return asyncio.run(main())

    server.replies = [make.Reply(chunks=make.chat_chunks("one two three four"), pause=0.02)]
    rerun(program_async if asynchronous else program, server.url)
    [exchange] = [e["data"] for e in events(rerun.log) if e["type"] == "exchange"]
    assert exchange["closed_early"] is True


def test_cancelled(server: Any, make: Any, rerun: Rerun) -> None:
    """A call that the program cancelled stays pending until it is cancelled again."""
    never = threading.Event()
    server.replies = [make.Reply({}, hang=never)]

    def program(url: str) -> Any:
        async def main() -> Any:
            async with gpt_async(url, max_retries=0) as client:
                try:
                    return await asyncio.wait_for(client.chat.completions.create(**CHAT), 0.2)
                except TimeoutError:
                    return "gave up"

        return asyncio.run(main())

    assert rerun(program, server.url) == "gave up"
    never.set()


def test_transports_of_the_program_are_not_asked(server: Any, rerun: Rerun) -> None:
    """A client with a transport of its own gets what that answered, without it."""
    httpx2 = pytest.importorskip("httpx2")
    answered: list[str] = []

    def answer(request: Any) -> Any:
        answered.append(str(request.url))
        return httpx2.Response(200, json={"n": len(answered)}, headers={"x-request-id": "r"})

    def program(url: str) -> Any:
        with httpx2.Client(transport=httpx2.MockTransport(answer)) as client:
            return client.get(url + "/x").json()

    assert rerun(program, server.url, full=True) == {"n": 1}
    assert len(answered) == 1


def test_one_of_several_live(server: Any, tmp_path: Path) -> None:
    """A stream let out among served ones is real, and recorded so."""
    with recording(tmp_path / "tape"):
        first = message(server.url)
    sent = len(server.requests)
    with playing(tmp_path / "tape", tmp_path / "log", watched=False) as player:
        player.live[("0", 2)] = None
        second = message(server.url)
    assert second == first
    assert len(server.requests) == sent + 1
    matches = [e["data"].get("match") for e in events(tmp_path / "log") if e["type"] == "exchange"]
    assert matches == [None, "live", None]
