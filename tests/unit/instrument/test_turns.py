"""Turns of event loops are counted from when that tells anything, and not before."""

from __future__ import annotations

import asyncio
from asyncio.base_events import BaseEventLoop
from collections.abc import Iterator
from pathlib import Path

import pytest

import lctl
from lctl import LCTLSession
from lctl.codec import open_log
from lctl.instrument import uninstrument
from lctl.session import turns

_PLAIN = BaseEventLoop._run_once  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _undone() -> Iterator[None]:
    uninstrument()
    yield
    uninstrument()
    assert BaseEventLoop._run_once is _PLAIN  # type: ignore[attr-defined]
    assert not turns.counting


@lctl.tool
async def look(n: int) -> int:
    await asyncio.sleep(0.005)
    return n


@lctl.tool
async def stand(gate: asyncio.Event) -> None:
    await gate.wait()


async def _one_by_one() -> None:
    for n in range(3):
        await look(n)


async def _at_once() -> None:
    gate = asyncio.Event()
    asyncio.get_running_loop().call_later(0.005, gate.set)
    await asyncio.gather(*[stand(gate) for _ in range(3)])


def test_a_loop_whose_calls_follow_each_other_is_left_alone(tmp_path: Path) -> None:
    with LCTLSession(path=tmp_path / "a.lctl.json"):
        asyncio.run(_one_by_one())
        assert BaseEventLoop._run_once is _PLAIN  # type: ignore[attr-defined]


def test_calls_at_once_say_in_which_turn_they_ended(tmp_path: Path) -> None:
    path = tmp_path / "a.lctl.json"
    with LCTLSession(path=path):
        asyncio.run(_at_once())
    tools = [event.to_dict() for event in open_log(path).events() if event.type == "tool_call"]
    assert [event["data"]["began"] for event in tools] == [turns.FAR, 0, 0]
    # One for the timer, one for who waited for what it set.
    assert [event["data"]["turn"] for event in tools] == [2, 0, 0]


def test_a_tool_beside_another_task_says_in_which_turn_it_ended(tmp_path: Path) -> None:
    async def main() -> None:
        waiting = asyncio.create_task(asyncio.sleep(0))
        await look(1)
        await waiting

    path = tmp_path / "a.lctl.json"
    with LCTLSession(path=path):
        asyncio.run(main())
        assert turns.counting
