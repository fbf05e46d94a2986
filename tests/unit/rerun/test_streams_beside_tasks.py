"""A recording by one line: pieces of one stream beside a task that takes them from a queue."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl import Chain
from lctl.testing import ModelServer
from tests.unit.rerun.commands import Run

_QUEUED = """
import lctl
lctl.auto_instrument()
import asyncio
from openai import AsyncOpenAI

async def give(queue):
    asked = [{"role": "user", "content": "Say much."}]
    pieces = await AsyncOpenAI().chat.completions.create(model="gpt-4.1", messages=asked, stream=True)
    async for piece in pieces:
        await queue.put((piece.choices and piece.choices[0].delta.content) or "")
    print("read")
    for _ in range(3):
        await queue.put("more")
        print("put")

async def take(queue):
    while (piece := await queue.get()) is not None:
        print("took", piece)
        await asyncio.sleep(0)

async def main():
    queue = asyncio.Queue(maxsize=2)
    taking = asyncio.create_task(take(queue))
    await give(queue)
    await queue.put(None)
    await taking

asyncio.run(main())
"""


def test_a_stream_read_beside_a_task_is_exact(
    lctl: Run, python: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(_QUEUED)
    with ModelServer() as server:
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        recorded = python("agent.py")
    again = lctl("rerun", "last")
    assert "rerun exact" in again.stderr, again.stderr
    assert recorded.stdout.count("took") > 3
    assert again.stdout == recorded.stdout


_COLLECTED = """
import lctl
lctl.auto_instrument()
import asyncio, gc
from openai import AsyncOpenAI

client = AsyncOpenAI()

@lctl.tool
async def look():
    for _ in range(12):
        await asyncio.sleep(0)

async def leave():
    asked = [{"role": "user", "content": "Say much."}]
    pieces = await client.chat.completions.create(model="gpt-4.1", messages=asked, stream=True)
    cycle = [pieces]
    cycle.append(cycle)
    async for piece in pieces:
        break

async def give_way():
    for turn in range(24):
        print("turn", turn)
        await asyncio.sleep(0)

async def main():
    await leave()
    beside, looking = asyncio.create_task(give_way()), asyncio.create_task(look())
    for _ in range(4):
        await asyncio.sleep(0)
    gc.collect()
    await looking
    print("seen")
    await beside

gc.disable()
asyncio.run(main())
"""


def test_a_stream_that_the_collector_ends_is_nothing_that_turns_are_counted_from(
    lctl: Run, python: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(_COLLECTED)
    with ModelServer(chunk_delay=0.05) as server:
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        recorded = python("agent.py")
    again = lctl("rerun", "last")
    assert "rerun exact" in again.stderr, again.stderr
    assert again.stdout == recorded.stdout
    assert "seen" in recorded.stdout


_BETWEEN_PIECES = """
import lctl
lctl.auto_instrument()
import asyncio, time
from openai import AsyncOpenAI

client = AsyncOpenAI()

@lctl.tool
async def look(turns):
    for _ in range(turns):
        await asyncio.sleep(0)

async def read(name):
    asked = [{"role": "user", "content": "Say much."}]
    pieces = await client.chat.completions.create(model="gpt-4.1", messages=asked, stream=True)
    time.sleep(0.1)  # all of it comes
    begun.release()
    async for piece in pieces:
        print(name, piece.choices and piece.choices[0].delta.content)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

async def call(turns):
    await begun.acquire()
    for n in range(9):
        await look(turns)
        print("looked", turns, n)

async def main():
    global begun
    begun = asyncio.Semaphore(0)
    await asyncio.gather(read("one"), call(2), read("other"), call(3))

asyncio.run(main())
"""


def test_what_is_done_between_the_pieces_of_streams_keeps_its_place_among_tools(
    lctl: Run, python: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(_BETWEEN_PIECES)
    with ModelServer() as server:
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        recorded = python("agent.py")
    (log,) = tmp_path.rglob("*.lctl.json")
    exchanges = [event.data for event in Chain.load(log).events if event.type == "exchange"]
    assert all(isinstance(data["behinds"], list) for data in exchanges)
    again = lctl("rerun", "last")
    assert "rerun exact" in again.stderr, again.stderr
    assert again.stdout == recorded.stdout
    assert recorded.stdout.count("other") > 3
