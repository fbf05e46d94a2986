"""Tracebacks of what SDKs and HTTP clients raise have no line of lctl's: frameworks show them to models."""

from __future__ import annotations

import asyncio
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest

from lctl.instrument import ensure_installed, uninstrument
from lctl.session import LCTLSession
from lctl.testing import Fault, ModelServer, Reply, Request
from tests.integrations.rerunning import Rerun

NOWHERE = "http://127.0.0.1:9/v1"
MESSAGES: Any = [{"role": "user", "content": "Hello"}]
BODY = {"model": "gpt-4.1-mini", "messages": MESSAGES}


def answered(request: Request) -> Any:
    if request.body["model"] == "refused":
        return Fault(400)
    return Reply("One two three four five.", fault=Fault(drop_after=2))


def ask(url: str, model: str, stream: bool) -> None:
    with openai.OpenAI(base_url=url, api_key="test", max_retries=0) as client:
        answer: Any = client.chat.completions.create(model=model, messages=MESSAGES, stream=stream)
        list(answer)


async def ask_async(url: str, model: str, stream: bool) -> None:
    async with openai.AsyncOpenAI(base_url=url, api_key="test", max_retries=0) as client:
        answer: Any = await client.chat.completions.create(model=model, messages=MESSAGES, stream=stream)
        [each async for each in answer]


def post() -> None:
    requests: Any = pytest.importorskip("requests")
    requests.post(f"{NOWHERE}/chat/completions", json=BODY, timeout=10)


def post_by_httpx() -> None:
    httpx: Any = pytest.importorskip("httpx")
    httpx.post(f"{NOWHERE}/chat/completions", json=BODY)


async def post_by_httpx_async() -> None:
    httpx: Any = pytest.importorskip("httpx")
    async with httpx.AsyncClient() as client:
        await client.post(f"{NOWHERE}/chat/completions", json=BODY)


def post_by_urllib3() -> None:
    urllib3: Any = pytest.importorskip("urllib3")
    with urllib3.PoolManager(retries=False) as pool:
        pool.request("POST", f"{NOWHERE}/chat/completions", json=BODY)


async def post_async() -> None:
    aiohttp: Any = pytest.importorskip("aiohttp")
    async with aiohttp.ClientSession() as session:
        await session.post(f"{NOWHERE}/chat/completions", json=BODY)


def post_plainly() -> None:
    import http.client

    client = http.client.HTTPConnection("127.0.0.1", 9)
    client.request("POST", "/v1/chat/completions", b"{}")


CASES: dict[str, Callable[[str], object]] = {
    "nobody there": lambda url: ask(NOWHERE, "gpt-4.1-mini", stream=False),
    "nobody there, async": lambda url: asyncio.run(ask_async(NOWHERE, "gpt-4.1-mini", stream=False)),
    "refused": lambda url: ask(url, "refused", stream=False),
    "refused, async": lambda url: asyncio.run(ask_async(url, "refused", stream=False)),
    "a stream that breaks off": lambda url: ask(url, "gpt-4.1-mini", stream=True),
    "one that does, async": lambda url: asyncio.run(ask_async(url, "gpt-4.1-mini", stream=True)),
    "httpx": lambda url: post_by_httpx(),
    "httpx, async": lambda url: asyncio.run(post_by_httpx_async()),
    "urllib3": lambda url: post_by_urllib3(),
    "requests": lambda url: post(),
    "aiohttp": lambda url: asyncio.run(post_async()),
    "http.client": lambda url: post_plainly(),
}


@pytest.mark.parametrize("case", CASES)
def test_they_are_those_without_lctl(case: str, tmp_path: Path) -> None:
    def told() -> str:
        try:
            CASES[case](server.openai_url)
        except Exception:
            return re.sub(r"0x[0-9a-f]+|'id': '\S+'|req_\w+", "_", traceback.format_exc())
        pytest.fail("nothing was raised")

    uninstrument()  # whatever ran before
    with ModelServer(seed=1) as server:
        server.reply(answered, times=None)
        plain = told()
        ensure_installed()
        try:
            with LCTLSession("c", tmp_path / "c.lctl.json"):
                recorded = told()
        finally:
            uninstrument()
    assert recorded == plain


@pytest.mark.parametrize("case", CASES)
def test_a_chain_of_failures_is_the_same_again(case: str, tmp_path: Path) -> None:
    """What fails while the program handles a failure (its second provider is down as well) names it where it
    was named in the recording."""

    def chain(url: str) -> list[str]:
        try:
            try:
                raise ValueError("the first provider is down")
            except ValueError:
                CASES[case](url)
        except Exception:
            said = traceback.format_exc().splitlines()
        return [
            line
            for line in said
            if re.match(r"[a-zA-Z_]\w*\.?[\w.]*(Error|Timeout)\b|The above|During", line)
        ]

    with ModelServer(seed=1) as server:
        server.reply(answered, times=None)
        Rerun(tmp_path)(chain, server.openai_url, full=True)
