"""Turns of event loops are counted from the first call, tool or job on that begins there."""

from __future__ import annotations

import asyncio
from asyncio.base_events import BaseEventLoop
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl import LCTLSession
from lctl.codec import open_log
from lctl.instrument import uninstrument
from lctl.session.concurrency import turns

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


async def _at_once() -> None:
    gate = asyncio.Event()
    asyncio.get_running_loop().call_later(0.005, gate.set)
    await asyncio.gather(*[stand(gate) for _ in range(3)])


async def _in_a_thread() -> None:
    await asyncio.to_thread(len, "abc")
    await look(1)


def _tools(path: Path) -> list[dict[str, Any]]:
    return [event.to_dict()["data"] for event in open_log(path).events() if event.type == "tool_call"]


def test_a_loop_in_which_nothing_is_called_is_left_alone(tmp_path: Path) -> None:
    with LCTLSession(path=tmp_path / "a.lctl.json"):
        asyncio.run(asyncio.sleep(0))
        assert BaseEventLoop._run_once is _PLAIN  # type: ignore[attr-defined]


def test_the_first_call_of_a_loop_says_that_its_turns_are_counted_from_it(tmp_path: Path) -> None:
    path = tmp_path / "a.lctl.json"
    with LCTLSession(path=path):
        for _ in range(2):
            asyncio.run(_at_once())
    tools = _tools(path)
    assert [tool.get("counted") for tool in tools] == [True, None, None] * 2
    assert [tool["began"] for tool in tools] == [0, 0, 0] * 2


def test_the_first_job_of_a_loop_is_said_to_be_what_its_turns_are_counted_from(tmp_path: Path) -> None:
    path = tmp_path / "a.lctl.json"
    with LCTLSession(path=path):
        asyncio.run(_in_a_thread())
    (jobs,) = [event.to_dict()["data"] for event in open_log(path).events() if event.type == "ambient"]
    assert jobs["value"]["counted"] == "0.1.1"
    assert [tool.get("counted") for tool in _tools(path)] == [None]


def test_calls_at_once_say_in_which_turn_they_ended(tmp_path: Path) -> None:
    path = tmp_path / "a.lctl.json"
    with LCTLSession(path=path):
        asyncio.run(_at_once())
    tools = _tools(path)
    assert [tool["began"] for tool in tools] == [0, 0, 0]
    # One for the timer, one for who waited for what it set.
    assert [tool["turn"] for tool in tools] == [2, 0, 0]
