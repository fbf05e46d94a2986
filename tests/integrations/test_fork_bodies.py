"""A fork inside a tool that asks a model itself: what the tool did before is not done again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

import lctl
from lctl import LCTLSession
from lctl.codec import Log, open_log
from lctl.rerun.block import rerun
from lctl.rerun.forks.forking import fork_block
from lctl.testing import ModelServer, Request

sent: list[str] = []


class Program:
    """A boss whose tool asks another model, which sends mail; the mail goes by a tool, too."""

    def __init__(self, url: str) -> None:
        self._client = openai.OpenAI(base_url=url, api_key="test", max_retries=0)

    def __call__(self) -> str:
        with self._client:
            told = self.delegate("Write to Bob.")
            return self._ask(f"boss: {told}")

    @lctl.tool("delegate")
    def delegate(self, task: str) -> str:
        self.send(self._ask(f"mailer: {task}"))
        return self._ask("mailer: is it sent?")

    @lctl.tool("send")
    def send(self, text: str) -> str:
        sent.append(text)
        return "sent"

    def _ask(self, text: str) -> str:
        said = self._client.chat.completions.create(
            model="gpt-4.1", messages=[{"role": "user", "content": text}]
        )
        return str(said.choices[0].message.content)


def answer(request: Request) -> str:
    return f"{request.model} on {request.last_text}"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "logs"))
    sent.clear()
    with ModelServer(seed=3) as server:
        server.when(where=lambda request: request.last_text != "go").reply(answer)
        yield server


def record(server: ModelServer, path: Path) -> Log:
    with LCTLSession("recorded", path):
        Program(server.openai_url)()
    return open_log(path)


def seqs(log: Log, type: str) -> list[int]:
    return [event.seq for event in log.events() if event.type == type]


@pytest.mark.parametrize("tools", [["live"], ["dry-run"], ["recorded"]])
def test_its_body_runs_again_from_the_tape_up_to_there(
    server: ModelServer, tmp_path: Path, tools: list[str]
) -> None:
    """Whatever is done with tools behind the fork: this one is under way at it. What follows from it is live,
    in its body and after it."""
    paths = tmp_path / "run.lctl.json", tmp_path / "fork.lctl.json"
    log = record(server, paths[0])
    [first, second, last] = seqs(log, "exchange")
    [mail, delegated] = seqs(log, "tool_call")
    assert first < mail < second < delegated < last
    count = server.count
    block = fork_block(paths[0], mail, output=paths[1], set=["model=gpt-5"], tools=tools)
    with block, LCTLSession("again"):
        said = Program(server.openai_url)()
    assert said == "gpt-5 on boss: gpt-5 on mailer: is it sent?"
    assert sent == ["gpt-4.1 on mailer: Write to Bob."]  # by the recording alone
    assert [request.body["model"] for request in server.requests[count:]] == ["gpt-5", "gpt-5"]
    made, certificate = block.certificate, open_log(paths[1])
    assert (made.exact, made.live, made.executed, made.unused) == (2, 2, 1, ())
    assert list(certificate.lines(0, mail + 1)) == list(log.lines(0, mail + 1))
    kinds = [(event.type, event.agent) for event in log.events()]
    assert [(event.type, event.agent) for event in certificate.events()] == kinds
    again = rerun(paths[1])
    with again, LCTLSession("once more"):
        assert Program(server.openai_url)() == said
    assert again.certificate.ok
    assert len(sent) == 1


def test_a_result_of_a_tool_within_a_tool(server: ModelServer, tmp_path: Path) -> None:
    """It is put there where the body is given it."""
    log = record(server, tmp_path / "run.lctl.json")
    [mail, _] = seqs(log, "tool_call")
    block = fork_block(tmp_path / "run.lctl.json", mail, result=["tool:send!=ConnectionError: gone"])
    with pytest.raises(ConnectionError, match="gone"), block, LCTLSession("again"):
        Program(server.openai_url)()
    assert len(sent) == 1


def test_a_fork_before_a_tool_leaves_its_body_alone(server: ModelServer, tmp_path: Path) -> None:
    """It is one behind the fork then: given the recorded result, for it is asked the recorded thing."""
    record(server, tmp_path / "run.lctl.json")
    block = fork_block(tmp_path / "run.lctl.json", 0, set=["params.temperature=0"], tools=["recorded"])
    with block, LCTLSession("again"):
        Program(server.openai_url)()
    assert (block.certificate.executed, block.certificate.live) == (0, 1)
    assert len(sent) == 1


def test_a_result_of_the_tool_that_the_event_is_inside_of(server: ModelServer, tmp_path: Path) -> None:
    """Its body is of no use then: forked at its call, as if that had been named."""
    log = record(server, tmp_path / "run.lctl.json")
    [_, delegated] = seqs(log, "tool_call")
    said = []
    for at in (delegated - 1, delegated):
        block = fork_block(tmp_path / "run.lctl.json", at, result=["tool:delegate=no mail"])
        with block, LCTLSession("again"):
            said.append(Program(server.openai_url)())
        assert (block.certificate.live, block.certificate.edited, block.certificate.unused) == (1, 1, ())
    assert said == ["gpt-4.1 on boss: no mail"] * 2
    assert len(sent) == 1


def test_beside_a_tool_that_asks_a_model_too(server: ModelServer, tmp_path: Path) -> None:
    """Two such tools at once, in a task of their own: a fork at the one leaves the other one's to the tape;
    what follows both is live."""
    calls = [("delegate", {"task": "one", "seconds": 0.0}), ("delegate", {"task": "two", "seconds": 0.1})]
    server.when(where=lambda request: request.last_text == "go").reply(tool_calls=calls)

    async def main() -> str:
        async with openai.AsyncOpenAI(base_url=server.openai_url, api_key="test", max_retries=0) as client:

            async def ask(text: str) -> Any:
                said = await client.chat.completions.create(
                    model="gpt-4.1", messages=[{"role": "user", "content": text}]
                )
                return said.choices[0].message

            @lctl.tool("delegate")
            async def delegate(task: str, seconds: float) -> str:
                await asyncio.sleep(seconds)
                return str((await ask(task)).content)

            async def batch() -> list[str]:
                asked = [json.loads(one.function.arguments) for one in (await ask("go")).tool_calls]
                return await asyncio.gather(*(delegate(**one) for one in asked))

            told = await asyncio.create_task(batch())
            return str((await asyncio.create_task(ask(", ".join(told)))).content)

    with LCTLSession("recorded", tmp_path / "run.lctl.json"):
        asyncio.run(main())
    [one, _] = seqs(open_log(tmp_path / "run.lctl.json"), "tool_call")
    fork = tmp_path / "fork.lctl.json"
    block = fork_block(tmp_path / "run.lctl.json", one, output=fork, set=["model=gpt-5"])
    with block, LCTLSession("again"):
        said = asyncio.run(main())
    assert said == "gpt-5 on gpt-4.1 on one, gpt-4.1 on two"
    assert block.certificate.live == 1
    again = rerun(fork)
    with again, LCTLSession("once more"):
        assert asyncio.run(main()) == said
    assert again.certificate.ok
