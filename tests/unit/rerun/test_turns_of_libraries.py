"""By one line, beside a task that gives way in each turn: what libraries and tools do in turns of loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.testing import ModelServer, Reply
from tests.unit.rerun.commands import Run

_BESIDE = """
import lctl
lctl.auto_instrument()
import asyncio, os

done = []

async def give_way():
    turn = 0
    while not done:
        turn += 1
        print("turn", turn)
        await asyncio.sleep(0)
    for more in range(4):
        print("after", more)
        await asyncio.sleep(0)

async def run(coroutine):
    await coroutine
    done.append(True)

async def main():
    await asyncio.gather(run(work()), give_way())
"""

_READ = """
import {package} as httpx

client = httpx.AsyncClient(base_url=os.environ["OPENAI_BASE_URL"], headers={{"authorization": "Bearer x"}})
body = {{"model": "gpt-4.1", "stream": {stream}, "messages": [{{"role": "user", "content": "Say much."}}]}}

async def work():
    async with client.stream("POST", "/chat/completions", json=body) as response:
        async for piece in response.aiter_bytes():
            print("piece", len(piece))
        print("read")
    print("closed")
"""

_ASKED = """
import aiohttp

url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Say much."}]}

async def ask(session, n):
    async with session.post(url, json=body, headers={"authorization": "Bearer x"}) as response:
        print("asked", n)
        print("answered", n, len(await response.text()))

async def work():
    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*[ask(session, n) for n in range(3)])
"""

_GENERATOR = """
@lctl.tool
async def items(many):
    for n in range(many):
        for _ in range(n + 2):
            await asyncio.sleep(0)
        yield n
        if n == 1:
            yield "at once"

async def read(who, until):
    found = items(4)
    async for item in found:
        print(who, item)
        if item == until:
            break
    await found.aclose()
    print(who, "over")

async def work():
    await asyncio.gather(read("all", None), read("two", 2))
    reading = asyncio.create_task(read("stopped", None))
    for _ in range(7):
        await asyncio.sleep(0)
    reading.cancel()
    await asyncio.wait([reading])
    print("stopped")
"""

_CANCELLED = """
@lctl.tool
async def look(turns):
    for _ in range(turns):
        await asyncio.sleep(0)
    return turns

async def within(turns):
    looking = asyncio.create_task(look(5))
    for _ in range(turns):
        await asyncio.sleep(0)
    looking.cancel()
    try:
        print("looked", turns, await looking)
    except asyncio.CancelledError:
        print("cancelled", turns)

async def work():
    await asyncio.gather(*[within(turns) for turns in range(1, 9)])
"""


def _is_exact(program: str, python: Run, lctl: Run, tmp_path: Path) -> str:
    (tmp_path / "agent.py").write_text(_BESIDE + program + "\nasyncio.run(main())\n")
    recorded = python("agent.py")
    assert recorded.returncode == 0, recorded.stderr
    again = lctl("rerun", "last")
    assert "rerun exact" in again.stderr, again.stderr
    assert again.stdout == recorded.stdout
    return recorded.stdout


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("package", ["httpx", "httpx2"])
def test_a_body_that_was_read_is_closed_in_its_turn(
    package: str, stream: bool, lctl: Run, python: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """However many turns there were before: httpcore's lock gives way once, that of httpcore2 does not."""
    pytest.importorskip(package)
    with ModelServer(latency=(0.02, 0.02)) as server:
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        program = _READ.format(package=package, stream=stream)
        (tmp_path / "agent.py").write_text(_BESIDE + program + "\nasyncio.run(main())\n")
        recorded = python("agent.py")
    again = lctl("rerun", "last")
    assert "rerun exact" in again.stderr, again.stderr
    assert again.stdout == recorded.stdout
    assert "closed" in recorded.stdout


@pytest.mark.parametrize("size", [20, 600_000])
def test_answers_over_aiohttp_come_in_their_turns(
    size: int, lctl: Run, python: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whether the body comes with the head, upon which the program goes on a turn later, or behind it."""
    pytest.importorskip("aiohttp", reason="needs: pip install aiohttp")
    with ModelServer(latency=(0.002, 0.006)) as server:
        server.reply(lambda request: Reply(text="a" * size), times=None)
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        (tmp_path / "agent.py").write_text(_BESIDE + _ASKED + "\nasyncio.run(main())\n")
        recorded = python("agent.py")
    again = lctl("rerun", "last")
    assert "rerun exact" in again.stderr, again.stderr
    assert again.stdout == recorded.stdout
    assert recorded.stdout.count("answered") == 3


def test_the_items_of_an_asynchronous_generator_come_in_their_turns(
    lctl: Run, python: Run, tmp_path: Path
) -> None:
    out = _is_exact(_GENERATOR, python, lctl, tmp_path)
    assert "all 3\n" in out and "two over\n" in out and out.index("stopped 0") < out.index("stopped\n")


def test_a_tool_is_cancelled_in_its_turn(lctl: Run, python: Run, tmp_path: Path) -> None:
    """Also in the very turn in which it ends."""
    out = _is_exact(_CANCELLED, python, lctl, tmp_path)
    assert "cancelled" in out and "looked" in out
