"""The recorded order, whatever runs: threads, tasks, pools, loops within threads, locks, timeouts."""

from __future__ import annotations

import asyncio
import multiprocessing
import queue
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import forkserver, resource_tracker
from typing import Any

import pytest

from lctl.errors import RerunStopped
from lctl.rerun.order.conductor import Conductor
from lctl.rerun.order.spots import LAST
from lctl.rerun.order.watching import has_children
from tests.unit.rerun.concurrency import Program, World, conduct, record
from tests.unit.rerun.conductedprograms import PROGRAMS, run_threads


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_happens_between_deliveries_happens_as_recorded(program: Program) -> None:
    recorded = record(program)
    for _ in range(3):
        again = conduct(program, recorded)
        assert again.trace == recorded.trace
        assert again.conductor is not None
        assert again.conductor.violations == []


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_and_twenty_times_while_the_machine_is_busy(program: Program, busy: None) -> None:
    recorded = record(program)
    for _ in range(20):
        assert conduct(program, recorded).trace == recorded.trace


@pytest.fixture
def busy() -> Iterator[None]:
    import multiprocessing

    loads = [multiprocessing.get_context("spawn").Process(target=_compute, daemon=True) for _ in range(4)]
    for load in loads:
        load.start()
    yield
    for load in loads:
        load.kill()
        load.join()


def _compute() -> None:
    while True:
        pass


# -- time ----------------------------------------------------------------------------------------


@pytest.fixture
def conductor() -> Iterator[Conductor]:
    """Of one delivery in lane 0 at 100 ms, and one in lane 0.1 at 200 ms."""
    made = Conductor([(100.0, ("0", "exchange", 1, 0)), (200.0, ("0.1", "exchange", 1, 0))])
    made.install()
    yield made
    made.uninstall()


def test_sleeps_are_not_slept_and_end_in_order(conductor: Conductor) -> None:
    seen: list[str] = []

    async def sleeper(seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append(f"slept {seconds}")

    async def asker(key: Any) -> None:
        await conductor.wait_async(key)
        seen.append(key[0])

    async def main() -> None:
        keys = [("0", "exchange", 1, 0), ("0.1", "exchange", 1, 0)]
        await asyncio.gather(sleeper(3600), sleeper(0.15), *[asker(key) for key in keys], sleeper(0.05))

    asyncio.run(main())
    assert seen == ["slept 0.05", "0", "slept 0.15", "0.1", "slept 3600"]


def test_timeouts_fire_at_once_where_nothing_comes(conductor: Conductor) -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(conductor.never_async(), 3600)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3600):
                await conductor.never_async()
        async with asyncio.timeout(0.05):  # the answer is recorded at 100 ms; 7200 s have passed
            await conductor.wait_async(("0", "exchange", 1, 0))

    asyncio.run(main())
    assert threading.Event().wait(3600) is False
    with pytest.raises(queue.Empty):
        queue.Queue[int]().get(timeout=3600)


def test_a_timeout_does_not_fire_before_what_was_recorded_earlier(conductor: Conductor) -> None:
    answered = threading.Event()

    def ask() -> None:
        conductor.wait(("0", "exchange", 1, 0))
        answered.set()

    thread = threading.Thread(target=ask)
    thread.start()
    assert answered.wait(0.5)
    thread.join()


def test_what_reached_a_loop_in_one_turn_does_so_again_though_a_thread_went_on_between() -> None:
    """A task of the loop runs, the thread, the other task, and only then the loop begins its next turn."""

    def program(world: World) -> None:
        async def one(n: int) -> None:
            await world.ask_async(n)
            await asyncio.sleep(0)
            world.trace.append(-n)

        async def main() -> None:
            await asyncio.gather(one(1), one(2))

        thread = threading.Thread(target=world.ask, args=(3,))
        thread.start()
        asyncio.run(main())
        thread.join()

    recorded = record(program)
    whats = [what for what in recorded.trace if what > 0]
    keys = {what: key for what, (_, key, *_) in zip(whats, recorded.moments, strict=True)}
    recorded.moments = [(10.0, keys[1], 99, LAST), (11.0, keys[3], None, LAST), (12.0, keys[2], 0, LAST)]
    for _ in range(10):
        assert conduct(program, recorded).trace == [1, 3, 2, -1, -2]


def test_threads_sleep_in_the_order_of_their_ends(conductor: Conductor) -> None:
    seen: list[float] = []

    def run(seconds: float) -> None:
        time.sleep(seconds)
        seen.append(seconds)

    run_threads(run, (3600.0, 0.01, 60.0))
    assert seen == [0.01, 60.0, 3600.0]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system does not tell of children")
def test_a_fork_server_without_work_is_nothing_to_wait_for() -> None:
    """Python 3.14 starts one for every program that starts processes by multiprocessing."""
    context = multiprocessing.get_context("forkserver")
    process = context.Process(target=time.sleep, args=(1,))
    process.start()
    assert has_children()
    process.join()
    try:
        deadline = time.monotonic() + 30
        while has_children() and time.monotonic() < deadline:
            time.sleep(0.01)  # the server learns of the end by a signal of its own
        assert not has_children()
    finally:
        forkserver._forkserver._stop()  # type: ignore[attr-defined]
        resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]


def test_a_loop_that_polls_gets_its_answer(conductor: Conductor) -> None:
    async def main() -> None:
        task = asyncio.create_task(conductor.wait_async(("0", "exchange", 1, 0)))
        while not task.done():  # noqa: ASYNC110  (turns of the loop are what is tested)
            await asyncio.sleep(0)

    asyncio.run(main())


def test_the_clock_is_left_as_it_was() -> None:
    before = [time.sleep, asyncio.BaseEventLoop.time, threading._allocate_lock, queue.time]  # type: ignore[attr-defined]
    made = Conductor([])
    made.install()
    made.install()
    made.uninstall()
    after = [time.sleep, asyncio.BaseEventLoop.time, threading._allocate_lock, queue.time]  # type: ignore[attr-defined]
    assert after == before


def test_realtime_waits_as_long_as_the_recording_did() -> None:
    started = time.monotonic()  # before the conductor begins to count
    made = Conductor([(60.0, ("0", "exchange", 1, 0)), (90.0, ("0", "exchange", 2, 0))], realtime=True)
    made.install()
    made.wait(("0", "exchange", 1, 0))
    asyncio.run(made.wait_async(("0", "exchange", 2, 0)))
    assert time.monotonic() - started >= 0.089
    made.uninstall()


# -- what does not go as recorded -------------------------------------------------------------------


def test_what_nobody_asks_for_is_passed_over_and_told_if_it_comes_late(conductor: Conductor) -> None:
    conductor.wait(("0.1", "exchange", 1, 0))
    assert conductor.violations == []
    conductor.wait(("0", "exchange", 1, 0))
    assert [str(one) for one in conductor.violations] == [
        "exchange 1 of lane 0 came after exchange 1 of lane 0.1: nobody asked for it when it was due"
    ]


def test_a_forgotten_lane_holds_nobody_up(conductor: Conductor) -> None:
    conductor.forget("0")
    conductor.wait(("0.1", "exchange", 1, 0))
    conductor.wait(("0", "exchange", 1, 0))  # its lane is live: it waits for nothing
    assert conductor.violations == []


def test_a_cancelled_wait_holds_nobody_up(conductor: Conductor) -> None:
    async def main() -> None:
        waits = asyncio.create_task(conductor.wait_async(("0", "exchange", 1, 0)))
        other = asyncio.create_task(conductor.wait_async(("0.1", "exchange", 1, 0)))
        waits.cancel()
        await asyncio.gather(waits, other, return_exceptions=True)

    asyncio.run(main())
    assert conductor.violations == []


def test_a_real_call_in_flight_holds_up_what_may_depend_on_it(conductor: Conductor) -> None:
    seen: list[str] = []
    begun = threading.Event()

    def live() -> None:
        with conductor.live():
            begun.set()
            threading.Event().wait(0)
            seen.append("live")
        conductor.wait(("0", "exchange", 1, 0))
        seen.append("0")

    thread = threading.Thread(target=live)
    thread.start()
    begun.wait()
    conductor.wait(("0.1", "exchange", 1, 0))
    seen.append("0.1")
    thread.join()
    assert seen == ["live", "0", "0.1"]


def test_a_program_that_can_never_go_on_is_told(conductor: Conductor) -> None:
    with pytest.raises(RerunStopped, match="had none in the recording"):
        conductor.never()
    with pytest.raises(RerunStopped, match="had none in the recording"):
        asyncio.run(conductor.never_async())


def test_unknown_deliveries_come_at_once(conductor: Conductor) -> None:
    conductor.wait(("0.7", "exchange", 3, 2))
    asyncio.run(conductor.wait_async(("0.7", "exchange", 3, 2)))
    assert conductor.violations == []
