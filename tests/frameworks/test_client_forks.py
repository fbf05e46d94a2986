"""What a fork puts in the place of answers is read by the clients of Google, Cohere and Ollama themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from lctl import LCTLSession
from lctl.codec import open_log
from lctl.rerun.block import rerun
from lctl.rerun.forks.forking import fork_block
from lctl.testing import ModelServer

pytestmark = pytest.mark.frameworks

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": "weather", "description": "d", "parameters": SCHEMA}}
ASK: list[Any] = [{"role": "user", "content": "Weather in Rome?"}]
Said = tuple[str, list[Any]]


def google(url: str, stream: bool) -> Said:
    genai = pytest.importorskip("google.genai", reason="needs: pip install google-genai")
    options = {"base_url": url, "retry_options": {"attempts": 1}}
    declared = [{"function_declarations": [{"name": "weather", "parameters_json_schema": SCHEMA}]}]
    asked = {"model": "gemini-2.5-flash", "contents": "Weather in Rome?", "config": {"tools": declared}}
    with genai.Client(api_key="test", http_options=options) as made:
        if stream:
            pieces = list(made.models.generate_content_stream(**asked))
        else:
            pieces = [made.models.generate_content(**asked)]
    parts = [part for piece in pieces for part in piece.candidates[0].content.parts]
    calls = [part.function_call for part in parts if part.function_call]
    return "".join(part.text or "" for part in parts), [(call.name, call.args) for call in calls]


def cohere(url: str, stream: bool) -> Said:
    module = pytest.importorskip("cohere", reason="needs: pip install cohere")
    with httpx.Client() as transport:
        client = module.ClientV2(base_url=url, api_key="test", httpx_client=transport)
        if not stream:
            message = client.chat(model="command-a", messages=ASK, tools=[TOOL]).message
            names = [call.function.name for call in message.tool_calls or ()]
            return "".join(part.text for part in message.content or ()), names
        events = list(client.chat_stream(model="command-a", messages=ASK, tools=[TOOL]))
    texts = [event.delta.message.content.text for event in events if event.type == "content-delta"]
    started = [event.delta.message.tool_calls for event in events if event.type == "tool-call-start"]
    return "".join(texts), [call.function.name for call in started]


def ollama(url: str, stream: bool) -> Said:
    module = pytest.importorskip("ollama", reason="needs: pip install ollama")
    client = module.Client(host=url)
    with client._client:
        found = client.chat(model="llama3", messages=ASK, tools=[TOOL], stream=stream)
        messages = [one.message for one in (found if stream else [found])]
    calls = [call.function for one in messages for call in one.tool_calls or ()]
    return "".join(one.content or "" for one in messages), [(one.name, one.arguments) for one in calls]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("client", "error"),
    [(google, "ClientError"), (cohere, "TooManyRequestsError"), (ollama, "ResponseError")],
)
def test_clients_read_what_a_fork_answers(
    client: Callable[..., Said], error: str, stream: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LCTL_DIR", str(tmp_path))
    program = partial(client, stream=stream)
    log = tmp_path / "recording.lctl.json"
    with ModelServer(seed=3) as server:
        server.reply("Shall I look?", times=None)
        with LCTLSession("recorded", log):
            assert program(server.url) == ("Shall I look?", [])
        [at] = [event.seq for event in open_log(log).events() if event.type == "exchange"]

        def fork(answer: Any) -> Said:
            block = fork_block(log, at, result=answer)
            try:
                with block, LCTLSession("again"):
                    said = program(server.url)
            finally:
                assert block.certificate.edited  # each attempt of a client that asks again
            return said

        sent = server.count
        assert fork({"model": "No, do not."}) == ("No, do not.", [])
        asked = {"tool_calls": [{"name": "weather", "input": {"city": "Rome"}}]}
        text, calls = fork({"model": asked})
        assert (text, len(calls)) == ("", 1)
        assert calls[0] in ("weather", ("weather", {"city": "Rome"}))
        with pytest.raises(Exception, match="slow down") as caught:
            fork(["http!=429: slow down"])
        assert type(caught.value).__name__ == error
        assert server.count == sent


@pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning")  # the client's own, of aiohttp
@pytest.mark.parametrize("asynchronous", [False, True])
def test_google_is_asked_for_another_model(
    asynchronous: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its client over httpx and over aiohttp; the fork runs again offline."""
    genai = pytest.importorskip("google.genai", reason="needs: pip install google-genai")
    monkeypatch.setenv("LCTL_DIR", str(tmp_path))
    logs = tmp_path / "recording.lctl.json", tmp_path / "fork.lctl.json"
    asked = {"model": "gemini-2.5-flash", "contents": "Hello"}

    async def ask(url: str) -> str:
        async with genai.Client(api_key="test", http_options={"base_url": url}).aio as client:
            return str((await client.models.generate_content(**asked)).text)

    def program(url: str) -> str:
        if asynchronous:
            return asyncio.run(ask(url))
        with genai.Client(api_key="test", http_options={"base_url": url}) as client:
            return str(client.models.generate_content(**asked).text)

    with ModelServer(seed=3) as server:
        server.reply(lambda request: f"I am {request.model}.", times=None)
        with LCTLSession("recorded", logs[0]):
            assert program(server.url) == "I am gemini-2.5-flash."
        fork = fork_block(logs[0], 0, output=logs[1], set=["model=gemini-2.5-pro"])
        with fork, LCTLSession("again"):
            assert program(server.url) == "I am gemini-2.5-pro."
    again = rerun(logs[1])
    with again, LCTLSession("once more"):
        assert program(server.url) == "I am gemini-2.5-pro."
    assert again.certificate.ok
