"""The patch language on what Google, Cohere and Ollama take and give."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import pytest
import requests
import urllib3

from lctl import LCTLSession
from lctl.codec import open_log
from lctl.errors import RerunStopped
from lctl.instrument.codecs import aws
from lctl.instrument.structure import call_tool
from lctl.rerun.block import rerun
from lctl.rerun.forks.forking import fork_block
from lctl.testing import ModelServer
from tests.integrations.providerprograms import (
    ASKED,
    PROGRAMS,
    SYSTEM,
    Body,
    Said,
    converse,
    google,
    ollama,
)


class Bench:
    """A call recorded on a server, and made again with something changed."""

    def __init__(self, folder: Path, server: ModelServer) -> None:
        self.folder = folder
        self.server = server
        self._count = 0

    def record(self, program: Callable[[str], Any]) -> Any:
        with LCTLSession("recorded", self.folder / "recording.lctl.json"):
            return program(self.server.url)

    def fork(self, program: Callable[[str], Any], at: int, **changes: Any) -> tuple[Any, list[Body]]:
        """What the program got, and what the server."""
        before, self._count = self.server.count, self._count + 1
        out = self.folder / f"fork-{self._count}.lctl.json"
        with fork_block(self.folder / "recording.lctl.json", at, output=out, **changes), LCTLSession("again"):
            said = program(self.server.url)
        return said, [request.body for request in self.server.requests[before:]]

    @property
    def answered(self) -> int:
        """The event of the recorded answer."""
        events = open_log(self.folder / "recording.lctl.json").events()
        return next(event.seq for event in events if event.type == "exchange")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "logs"))
    with ModelServer(seed=3) as server:
        server.reply(tool_calls=[("read_file", {"path": "a.txt"})], times=None)
        yield Bench(tmp_path, server)


def system(body: Body) -> str:
    if "input" in body:
        return str(body.get("system_instruction") or "")
    instruction = body.get("systemInstruction") or {"parts": []}
    if "system" in body or "inferenceConfig" in body:
        return "".join(block["text"] for block in body.get("system", ()))
    said = [one["content"] for one in body.get("messages", ()) if one["role"] == "system"]
    return "".join([part["text"] for part in instruction["parts"]] or said)


def messages(body: Body) -> list[tuple[str, str]]:
    """Role and text of each."""
    if "contents" in body:
        return [(one["role"], "".join(part["text"] for part in one["parts"])) for one in body["contents"]]
    if "input" in body:
        roles = {"user_input": "user", "model_output": "assistant"}
        steps = body["input"]
        return [(roles[one["type"]], "".join(part["text"] for part in one["content"])) for one in steps]
    if "inferenceConfig" in body:
        said = body["messages"]
        return [(one["role"], "".join(block["text"] for block in one["content"])) for one in said]
    return [(one["role"], one["content"]) for one in body["messages"] if one["role"] != "system"]


def tools(body: Body) -> list[Body]:
    if "toolConfig" in body:
        specs = [tool["toolSpec"] for tool in body["toolConfig"]["tools"]]
        return [{**spec, "parameters": spec["inputSchema"]["json"]} for spec in specs]
    groups = body.get("tools", [])
    return [
        one for group in groups for one in group.get("functionDeclarations") or [group.get("function", group)]
    ]


def setting(body: Body, *names: str) -> Any:
    places: tuple[Any, ...] = (
        body.get("generationConfig"),
        body.get("generation_config"),
        body.get("options"),
    )
    places += (body.get("inferenceConfig"), body)
    return [place[name] for place in places if place for name in names if name in place]


LIMITS = ("max_tokens", "maxOutputTokens", "num_predict", "max_output_tokens", "maxTokens")
REQUESTS: dict[str, Callable[[Body], Any]] = {
    "prompt.system+=Ask first.": lambda body: system(body) == f"{SYSTEM} Ask first.",
    "prompt.system=Be brief.": lambda body: system(body) == "Be brief.",
    "prompt.system~=/files/books/": lambda body: system(body) == "You read books.",
    'prompt.system-="You "': lambda body: system(body) == "read files.",
    "del prompt.system": lambda body: system(body) == "",
    "message[user].content=Read b.txt": lambda body: messages(body) == [("user", "Read b.txt")],
    "message[user].content~=/a.txt/b.txt/": lambda body: messages(body) == [("user", "Read b.txt")],
    "message[-1]=Read b.txt": lambda body: messages(body) == [("user", "Read b.txt")],
    "message[+]=Be quick.": lambda body: messages(body) == [("user", ASKED), ("user", "Be quick.")],
    'message[+]={"role": "assistant", "content": "Which?"}': lambda body: (
        messages(body)[1:] in ([("assistant", "Which?")], [("model", "Which?")])
    ),
    "message[user].role=assistant": lambda body: messages(body)[0][0] in ("assistant", "model"),
    "params.temperature=0": lambda body: setting(body, "temperature") == [0],
    "params.max_tokens=7": lambda body: setting(body, *LIMITS) == [7],
    "params.top_p=0.5": lambda body: setting(body, "topP", "top_p") == [0.5],
    "del params.temperature": lambda body: setting(body, "temperature") == [],
    "tools.read_file.description+=Slowly.": lambda body: tools(body)[0]["description"] == "Reads. Slowly.",
    "tools.read_file.parameters.properties.path.description=Where": lambda body: (
        tools(body)[0]["parameters"]["properties"]["path"].get("description") == "Where"
    ),
    "del tools.read_file": lambda body: not {"tools", "toolConfig"} & body.keys(),
    'tools[+]={"type": "function", "function": {"name": "look"}}': lambda body: (
        [tool["name"] for tool in tools(body)] == ["read_file", "look"]
    ),
}


@pytest.mark.parametrize("provider", PROGRAMS)
def test_request_edits_reach_the_server(bench: Bench, provider: str) -> None:
    """Each with nothing else changed."""
    bench.record(PROGRAMS[provider])
    sent = bench.server.requests[0].body
    for edit, check in REQUESTS.items():
        _, [body] = bench.fork(PROGRAMS[provider], 0, set=[edit])
        assert check(body), (edit, body)
        assert not check(sent), edit
        assert sum(body.get(key) != sent.get(key) for key in body.keys() | sent.keys()) == 1


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("provider", PROGRAMS)
def test_answers_are_others(bench: Bench, provider: str, stream: bool) -> None:
    """In the provider's form, whole or streamed; nothing is sent."""
    program = partial(PROGRAMS[provider], stream=stream)
    assert bench.record(program)[1] == [("read_file", {"path": "a.txt"})]
    at = bench.answered
    said, bodies = bench.fork(program, at, result={"model": {"content": "Done, thank you."}})
    assert said == ("Done, thank you.", [])
    assert bodies == []
    said, _ = bench.fork(program, at, set=[f"@{at} answer.tool_calls[0].input.path=b.txt"])
    assert said[1] == [("read_file", {"path": "b.txt"})]
    asked = {"content": None, "tool_calls": [{"name": "look", "input": {"n": 1}}]}
    said, _ = bench.fork(program, at, result={"model": asked})
    assert said[1] == [("look", {"n": 1})]


def by_requests(url: str, body: Body) -> Any:
    return requests.post(url, json=body).json()


def by_urllib3(url: str, body: Body) -> Any:
    with urllib3.PoolManager() as pool:
        return json.loads(pool.request("POST", url, json=body).data)


def by_httpx(url: str, body: Body) -> Any:
    return httpx.post(url, json=body).json()


def by_aiohttp(url: str, body: Body) -> Any:
    async def main() -> Any:
        async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
            return await response.json()

    return asyncio.run(main())


@pytest.mark.parametrize("post", [by_httpx, by_requests, by_urllib3, by_aiohttp])
def test_another_model_in_the_url(bench: Bench, post: Callable[[str, Body], Any]) -> None:
    """Google's: asked, recorded, and known again when the fork is run again."""

    def program(url: str) -> Any:
        body = {"contents": [{"role": "user", "parts": [{"text": ASKED}]}]}
        return post(f"{url}/v1beta/models/gemini-2.5-flash:generateContent?key=k", body)

    bench.record(program)
    edits = ["model=models/gemini-2.5-pro", "params.temperature=0"]
    said, [body] = bench.fork(program, 0, set=edits)
    assert bench.server.requests[-1].model == "gemini-2.5-pro"
    assert bench.server.requests[-1].path.endswith("/gemini-2.5-pro:generateContent?key=k")
    assert setting(body, "temperature") == [0]
    fork = bench.folder / "fork-1.lctl.json"
    [start] = [event.data for event in open_log(fork).events() if event.type == "step_start"]
    assert start["model"] == "gemini-2.5-pro"
    count = bench.server.count
    block = rerun(fork)
    with block, LCTLSession("once more"):
        assert program(bench.server.url) == said
    assert block.certificate.ok
    assert bench.server.count == count


@pytest.mark.parametrize(
    "ending", ["gemini-2.5-pro:generateContent", "gemini-2.5-flash:streamGenerateContent?alt=sse"]
)
def test_what_the_url_says_is_compared(bench: Bench, ending: str) -> None:
    """Of an equal body: a rerun of a program that asks another model is no rerun."""
    body = {"contents": [{"role": "user", "parts": [{"text": ASKED}]}]}
    with LCTLSession("recorded", bench.folder / "recording.lctl.json"):
        httpx.post(f"{bench.server.url}/v1beta/models/gemini-2.5-flash:generateContent", json=body)
    with (
        pytest.raises(RerunStopped, match="not the recorded one"),
        rerun(bench.folder / "recording.lctl.json"),
        LCTLSession("again"),
    ):
        httpx.post(f"{bench.server.url}/v1beta/models/{ending}", json=body)


def by_http_client(url: str, body: Body) -> Any:
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode())) as response:
        return json.load(response)


def test_a_library_that_cannot_ask_another_url_says_so(bench: Bench) -> None:
    def program(url: str) -> Any:
        body = {"contents": [{"role": "user", "parts": [{"text": ASKED}]}]}
        return by_http_client(f"{url}/v1beta/models/gemini-2.5-flash:generateContent", body)

    bench.record(program)
    with pytest.raises(RerunStopped, match="way that cannot be edited"):
        bench.fork(program, 0, set=["model=gemini-2.5-pro"])


@pytest.mark.parametrize("provider", PROGRAMS)
def test_failures_have_the_providers_form(bench: Bench, provider: str) -> None:
    program = PROGRAMS[provider]
    bench.record(program)
    with pytest.raises(httpx.HTTPStatusError) as caught:
        bench.fork(program, bench.answered, result=["http!=429: slow down"])
    body = caught.value.response.json()
    said = body if provider in ("cohere", "converse") else body["error"]
    assert (said if isinstance(said, str) else said["message"]) == "slow down"


def test_an_edit_without_its_place_says_why(bench: Bench) -> None:
    bench.record(google)
    edits = ["del tools.find", "message[assistant].content=x"]
    block = fork_block(bench.folder / "recording.lctl.json", 0, set=edits)
    with block, LCTLSession("again"):
        google(bench.server.url)
    assert block.certificate.unaddressed == (
        "del tools.find: no tool find is offered; there are: read_file",
        "message[assistant].content=x: there is no message of role assistant",
    )


@pytest.mark.parametrize("ask", [google, ollama])
def test_another_result_for_one_of_two_calls_without_ids(bench: Bench, ask: Callable[[str], Said]) -> None:
    """Though the framework gives them an id: the other one's comes from the tape."""
    bench.server.reset()
    bench.server.reply(tool_calls=[("read_file", {"path": path}) for path in ("a", "b")], times=None)

    def program(url: str) -> list[str]:
        return [
            call_tool(name, given, partial(str.upper, given["path"]), call_id=name)
            for name, given in ask(url)[1]
        ]

    assert bench.record(program) == ["A", "B"]
    events = open_log(bench.folder / "recording.lctl.json").events()
    first = next(event.seq for event in events if event.type == "tool_call")
    said, _ = bench.fork(program, first, result=["tool:read_file=Gone."])
    assert said == ["Gone.", "B"]


def nova(url: str) -> str:
    """In Nova's own form, streamed: each event in base64."""
    body = {"schemaVersion": "messages-v1", "messages": [{"role": "user", "content": [{"text": ASKED}]}]}
    sent = httpx.post(f"{url}/model/amazon.nova-lite-v1/invoke-with-response-stream", json=body)
    events = [event for _, event in aws.read_frames(sent.raise_for_status().content)]
    deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
    return "".join(delta.get("text", "") for delta in deltas)


def test_answers_in_base64_are_others(bench: Bench) -> None:
    bench.server.reset()
    bench.server.reply("Hello there.", times=None)
    assert bench.record(nova) == "Hello there."
    said, bodies = bench.fork(nova, bench.answered, set=[f"@{bench.answered} answer.content+=Bye."])
    assert (said, bodies) == ("Hello there. Bye.", [])


@pytest.mark.parametrize("stream", [False, True])
def test_signed_requests_get_other_answers(bench: Bench, stream: bool) -> None:
    """By boto3, which signs them: what is sent cannot be another, what comes back can."""
    boto3 = pytest.importorskip("boto3")

    def program(url: str) -> str:
        given = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
        client = boto3.client("bedrock-runtime", endpoint_url=url, **given)
        said = {"modelId": "m", "messages": [{"role": "user", "content": [{"text": ASKED}]}]}
        if not stream:
            return str(client.converse(**said)["output"]["message"]["content"][0]["text"])
        deltas = [event.get("contentBlockDelta") for event in client.converse_stream(**said)["stream"]]
        return "".join(one["delta"]["text"] for one in deltas if one)

    bench.server.reset()
    bench.server.reply("Hello there.", times=None)
    assert bench.record(program) == "Hello there."
    said, bodies = bench.fork(program, bench.answered, result={"model": {"content": "Done."}})
    assert (said, bodies) == ("Done.", [])
    with pytest.raises(RerunStopped, match="signed"):
        bench.fork(program, 0, set=["prompt.system=Be brief."])


def test_another_model_of_bedrock(bench: Bench) -> None:
    bench.record(converse)
    bench.fork(converse, 0, set=["model=us.amazon.nova-pro-v1:0"])
    assert bench.server.requests[-1].path == "/model/us.amazon.nova-pro-v1%3A0/converse"
