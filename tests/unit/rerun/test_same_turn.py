"""Answers that reached an event loop in one turn do so again, whoever asked last."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from lctl.rerun.order.conductor import Conductor
from lctl.rerun.order.moments import END, START
from lctl.rerun.order.spots import LAST, Spot
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane
from lctl.session.concurrency.turns import AT_ONCE
from tests.unit.rerun.commands import Run
from tests.unit.rerun.concurrency import World, conduct


def first_completed(world: World) -> None:
    async def main() -> None:
        tasks = [asyncio.create_task(world.ask_async(n)) for n in range(4)]
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        world.trace.append(sorted(task.result() for task in done))
        await asyncio.gather(*tasks)

    asyncio.run(main())


@pytest.mark.parametrize("order", [(3, 0, 1, 2), (0, 3, 1, 2), (2, 1, 3, 0)])
def test_who_asked_last_does_not_go_on_a_turn_before_the_others(order: tuple[int, ...]) -> None:
    """Two in one turn and two in the next: what waits for the first finds all four."""
    recorded = World()
    for place, (number, turn) in enumerate(zip(order, (99, 0, 1, 0), strict=True)):
        key = (f"0.1.{number + 1}", "exchange", 1, 0)
        recorded.moments.append((10.0 + place, key, turn, LAST))
    for _ in range(3):
        assert conduct(first_completed, recorded).trace == [*order, [0, 1, 2, 3]]


def conducted(conductor: Conductor, program: Coroutine[Any, Any, None]) -> None:
    conductor.install()
    try:
        asyncio.run(program)
    finally:
        conductor.uninstall()


_FIRST, _SECOND, _THIRD = [(f"0.{n}", "tool", 1, 0) for n in (1, 2, 3)]
_ASKED, _ALSO_ASKED = [(f"0.{n}", "exchange", 1, START) for n in (4, 5)]


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        ([(_ASKED, None), (_THIRD, 2)], ["0.4", 2, "0.3", 3]),
        (
            [(_ASKED, None), (_SECOND, 2, Spot(None, 2)), (_ALSO_ASKED, None), (_THIRD, 0)],
            ["0.4", "0.2", "0.5", 2, "0.3", 3],
        ),
    ],
)
def test_what_ends_in_the_turn_of_a_request_does_not_come_a_turn_later(
    moments: list[Any], expected: list[Any]
) -> None:
    """A request that leaves reaches no loop: the turns of what is behind it count from what did."""
    conductor = Conductor([(0.0, _FIRST, 99), *((float(n), *one) for n, one in enumerate(moments, 1))])
    trace: list[Any] = []

    async def main() -> None:
        begun = asyncio.Event()

        async def first() -> None:
            await conductor.wait_async(_FIRST)
            begun.set()
            for turn in range(5):
                trace.append(turn)
                await asyncio.sleep(0)

        async def other(key: Any) -> None:
            if key[3] == START:
                await begun.wait()
                await asyncio.sleep(0)
            await conductor.wait_async(key)
            trace.append(key[0])

        await asyncio.gather(first(), *(other(key) for key, *_ in moments))

    conducted(conductor, main())
    assert trace == [0, 1, *expected, 4]


@pytest.mark.parametrize("beside", [0, 1])
@pytest.mark.parametrize("expected", [["piece 1", "tool", "piece 2"], ["piece 1", "piece 2", "tool"]])
def test_a_tool_ends_before_a_piece_that_was_there_is_asked_for_or_after_it(
    expected: list[str], beside: int
) -> None:
    """Both in one turn: how many callbacks ran behind the tool's end tells nothing of calls under way."""
    tool, stream, other = ("0.1", "tool", 1, 0), "0.2", ("0.3.0", "exchange", 1, 0)
    moments = {
        "piece 1": ((stream, "exchange", 1, 1), 99),
        "piece 2": ((stream, "exchange", 1, 2), AT_ONCE),
        "tool": (tool, 2),
    }
    order = [(float(n), *moments[one]) for n, one in enumerate(expected)]
    conductor = Conductor([order[0], *[(0.0, other, 0)] * beside, *order[1:]])
    trace: list[str] = []

    async def read() -> None:
        lanes.variable.set(Lane(stream))
        await conductor.wait_async((stream, "exchange", 1, 1))
        trace.append("piece 1")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await conductor.wait_async((stream, "exchange", 1, 2))
        trace.append("piece 2")

    async def call() -> None:
        await conductor.wait_async(tool)
        trace.append("tool")

    async def aside() -> None:
        """No part of the program's order, and in the way."""
        lanes.variable.set(Lane(other[0]))
        await conductor.wait_async(other)
        for _ in range(4):
            await asyncio.sleep(0)

    async def main() -> None:
        await asyncio.gather(read(), call(), *(aside() for _ in range(beside)))

    conducted(conductor, main())
    assert trace == expected


def test_who_does_something_of_its_own_before_it_asks_for_a_piece_that_was_there_is_not_behind() -> None:
    """It asks a turn later: what runs before and behind it is counted."""
    tool, stream = ("0.1", "tool", 1, 0), "0.2"
    pieces = [(stream, "exchange", 1, part) for part in (1, 2)]
    there = Spot(None, 0, exact=True)
    conductor = Conductor([(0.0, pieces[0], 99, there), (1.0, tool, 1), (2.0, pieces[1], AT_ONCE, there)])
    trace: list[str] = []

    async def read() -> None:
        lanes.variable.set(Lane(stream))
        await conductor.wait_async(pieces[0])
        await asyncio.sleep(0)
        trace.append("between")
        await asyncio.sleep(0)
        await conductor.wait_async(pieces[1])
        trace.append("piece")

    async def call() -> None:
        await conductor.wait_async(tool)
        trace.append("tool")

    async def main() -> None:
        await asyncio.gather(read(), call())

    conducted(conductor, main())
    assert trace == ["between", "tool", "piece"]


@pytest.mark.parametrize("expected", [["limit", "tool", "end"], ["limit", "end", "tool"]])
def test_a_tool_ends_before_a_call_that_was_cancelled_or_after_it(expected: list[str]) -> None:
    """Both in the turn after that in which the other one was cancelled."""
    limit, tool, call = ("0.1", "sleep", 1, 0), ("0.2", "tool", 1, 0), ("0.3", "exchange", 1, END)
    keys = {"limit": limit, "tool": tool, "end": call}
    conductor = Conductor([(float(n), keys[one], (99, 1, 0)[n]) for n, one in enumerate(expected)])
    trace: list[str] = []

    async def look() -> None:
        lanes.variable.set(Lane("0.2"))
        await conductor.wait_async(tool)
        trace.append("tool")

    async def ask() -> None:
        lanes.variable.set(Lane("0.3"))
        try:
            await conductor.never_async(call)
        finally:
            trace.append("end")

    async def main() -> None:
        asked, looked = asyncio.create_task(ask()), asyncio.create_task(look())
        await conductor.wait_async(limit)
        trace.append("limit")
        asked.cancel()
        await asyncio.wait([asked, looked])

    conducted(conductor, main())
    assert trace == expected


def test_a_call_that_is_cancelled_when_its_answer_has_come_ends_in_that_turn() -> None:
    """A limit that is late by so much that what it ends has an answer: asyncio lets it go on at once."""
    first, limit, work = ("0.1", "sleep", 1, 0), ("0.2", "sleep", 1, 0), ("0.1", "sleep", 2, 0)
    call = ("0.3", "sleep", 1, END)
    conductor = Conductor([(0.0, first, 99), (1.0, limit, 0), (2.0, work, 1), (3.0, call, 0)])
    trace: list[str] = []

    async def do() -> None:
        lanes.variable.set(Lane("0.1"))
        await conductor.wait_async(first)
        await asyncio.sleep(0)
        conductor.wait(work)
        trace.append("work")
        await asyncio.sleep(0)
        trace.append("more")

    async def ask() -> None:
        lanes.variable.set(Lane("0.3"))
        try:
            await conductor.never_async(call)
        finally:
            trace.append("end")

    async def main() -> None:
        tasks = [asyncio.create_task(do()), asyncio.create_task(ask())]
        await conductor.wait_async(limit)
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.wait(tasks)

    conducted(conductor, main())
    assert trace == ["work", "end", "more"]


_GIVING_WAY = """
import lctl
lctl.auto_instrument()
import asyncio

@lctl.tool
async def look(n):
    await asyncio.sleep(0)
    return n

async def call(n):
    print("tool", n, await look(n))

async def give_way(n):
    for turn in range(4):
        print("task", n, turn)
        await asyncio.sleep(0)

async def main():
    await asyncio.gather(give_way(0), call(1), give_way(2), call(3), give_way(4))

asyncio.run(main())
"""


def test_a_served_tool_ends_in_its_turn_among_tasks_that_give_way(
    lctl: Run, python: Run, tmp_path: Path
) -> None:
    """One line, and no model call beside: turns are counted from the tool on."""
    (tmp_path / "agent.py").write_text(_GIVING_WAY)
    recorded = python("agent.py")
    again = lctl("rerun", "last")
    assert "rerun exact" in again.stderr, again.stderr
    assert again.stdout == recorded.stdout
    assert recorded.stdout.count("tool") == 2


_IN_THREADS = """
import lctl
lctl.auto_instrument()
import asyncio, time
import anyio

@lctl.tool
def look(n):
    time.sleep(n / 1000)
    return n

async def call(n):
    print("job", n, await {to_thread}(look, n))

async def give_way(n):
    for turn in range(20):
        print("task", n, turn)
        until = time.perf_counter() + 0.001
        while time.perf_counter() < until:
            pass
        await asyncio.sleep(0)

async def main():
    await asyncio.gather(call(4), give_way(0), call(8), give_way(1))

asyncio.run(main())
"""


@pytest.mark.parametrize("to_thread", ["asyncio.to_thread", "anyio.to_thread.run_sync"])
def test_what_threads_give_comes_in_its_turn_among_tasks_that_give_way(
    to_thread: str, lctl: Run, python: Run, tmp_path: Path
) -> None:
    """One line: the loop's hearing of a job is no event, and is kept with the jobs' ends."""
    (tmp_path / "agent.py").write_text(_IN_THREADS.format(to_thread=to_thread))
    recorded = python("agent.py")
    again = lctl("rerun", "last")
    assert "rerun exact" in again.stderr, again.stderr
    assert again.stdout == recorded.stdout
    assert recorded.stdout.count("job") == 2


_ONE_AFTER_ANOTHER = """
import lctl
lctl.auto_instrument()
import asyncio, time
from concurrent.futures import ThreadPoolExecutor

@lctl.tool
def look():
    return 0

def job(n):
    time.sleep(0.002)
    return n

async def call(pool, n):
    print("job", n, await asyncio.get_running_loop().run_in_executor(pool, job, n))

async def give_way():
    for turn in range(12):
        print("turn", turn)
        until = time.perf_counter() + (0.001 if turn else 0.1)
        while time.perf_counter() < until:
            pass
        await asyncio.sleep(0)

async def main():
    print("job", look())
    with ThreadPoolExecutor(1) as pool:
        await asyncio.gather(call(pool, 1), call(pool, 2), give_way())

asyncio.run(main())
"""


def test_jobs_that_slept_one_after_another_in_one_turn_are_heard_of_in_the_next(
    lctl: Run, python: Run, tmp_path: Path
) -> None:
    """The loop stands still for the first until the second, too, has slept."""
    (tmp_path / "agent.py").write_text(_ONE_AFTER_ANOTHER)
    recorded = python("agent.py")
    again = lctl("rerun", "last")
    assert "rerun exact" in again.stderr, again.stderr
    assert again.stdout == recorded.stdout
    assert recorded.stdout.count("job") == 3
