"""What pool jobs hand to an event loop reaches it in the recorded turn, and there in the recorded place."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lctl.rerun.order.conductor import Conductor
from lctl.rerun.order.spots import LAST, Spot
from lctl.session.concurrency import pooljobs
from tests.unit.rerun.concurrency import Program, World, conduct, record

#: The loop has had its first answer.
busy = threading.Event()


def with_jobs(*jobs: Callable[[World, Any], object]) -> Program:
    """A loop that is busy after its first answer, and jobs in threads meanwhile."""

    async def tick(world: World, name: str) -> None:
        for n in range(8):
            world.trace.append((name, n))
            await asyncio.sleep(0)

    async def main(world: World) -> None:
        busy.clear()
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(len(jobs)) as executor:
            handed_in = [loop.run_in_executor(executor, job, world, loop) for job in jobs]
            await world.ask_async("first")
            busy.set()
            await asyncio.gather(tick(world, "x"), tick(world, "y"), *handed_in)

    return lambda world: asyncio.run(main(world))


def ask_and_hand(world: World, loop: Any) -> None:
    world.ask("quick")
    loop.call_soon_threadsafe(world.trace.append, "handed")


def ask_late(world: World, loop: Any) -> None:
    busy.wait()
    for n in range(400_000):  # it computes: who sleeps in earnest is at rest
        _ = n * n
    world.ask("late")


def keys_of(recorded: World) -> dict[Any, Any]:
    """The key of each answer by what was asked, of wakes as ("wake", lane of the asker, number)."""
    found = {}
    whats = [what for what in recorded.trace if what in ("first", "quick", "late")]
    for _, key, *_ in recorded.moments:
        if key[1] == "wake":
            found["wake", key[0], key[2]] = key
        else:
            found[whats.pop(0)] = key
    return found


def before_handed(trace: list[Any]) -> Any:
    """What the loop did last before."""
    return [what for what in trace[: trace.index("handed")] if isinstance(what, tuple)][-1]


def test_a_loop_stands_still_for_a_wake_though_another_job_has_yet_to_ask() -> None:
    """The late job asks when the loop has long been through all its turns, if nothing keeps it."""
    program = with_jobs(ask_and_hand, ask_late)
    recorded = record(program)
    keys = keys_of(recorded)
    wake = "wake", keys["quick"][0]
    recorded.moments = [
        (10.0, keys["first"], 99, LAST),
        (11.0, keys["quick"], None, LAST),
        (12.0, keys["late"], None, LAST),
        (13.0, keys[(*wake, 1)], 4, LAST),
        (14.0, keys[(*wake, 2)], 99, LAST),
        (15.0, keys["wake", keys["late"][0], 1], 99, LAST),
    ]
    for _ in range(5):
        trace = conduct(program, recorded).trace
        assert trace.index("late") < trace.index("handed")
        assert before_handed(trace) == ("y", 3)


@pytest.mark.parametrize(
    ("spot", "next_to"),
    [
        (Spot(0), ("y", 2)),
        (Spot(1), ("x", 3)),
        (Spot(2), ("y", 3)),
        (Spot(None, 2), ("y", 2)),
        (Spot(None, 1), ("x", 3)),
        (LAST, ("y", 3)),
    ],
)
def test_what_a_thread_hands_to_a_loop_has_its_recorded_place_in_the_turn(spot: Spot, next_to: Any) -> None:
    program = with_jobs(ask_and_hand)
    recorded = record(program)
    keys = keys_of(recorded)
    wake = "wake", keys["quick"][0]
    recorded.moments = [
        (10.0, keys["first"], 99, LAST),
        (11.0, keys["quick"], None, LAST),
        (13.0, keys[(*wake, 1)], 4, spot),
        (14.0, keys[(*wake, 2)], 99, LAST),
    ]
    for _ in range(5):
        assert before_handed(conduct(program, recorded).trace) == next_to


def test_what_a_thread_hands_over_behind_what_is_kept_back_comes_behind_it() -> None:
    """The first after a call is on the tape, and no more: of a stream's pieces, say."""

    def ask_and_hand_many(world: World, loop: Any) -> None:
        world.ask("quick")
        for n in range(5):
            loop.call_soon_threadsafe(world.trace.append, ("handed", n))

    program = with_jobs(ask_and_hand_many)
    recorded = record(program)
    keys = keys_of(recorded)
    wake = "wake", keys["quick"][0]
    recorded.moments = [
        (10.0, keys["first"], 99, LAST),
        (11.0, keys["quick"], None, LAST),
        (13.0, keys[(*wake, 1)], 4, LAST),
        (14.0, keys[(*wake, 2)], 99, LAST),
    ]
    for _ in range(5):
        trace = conduct(program, recorded).trace
        assert [one[1] for one in trace if one[0] == "handed"] == [0, 1, 2, 3, 4]


def test_the_place_is_recorded() -> None:
    """One callback of the turn has run, two have yet to, when the thread's does."""

    def program(world: World) -> None:
        async def main() -> None:
            loop = asyncio.get_running_loop()
            with ThreadPoolExecutor(1) as executor:
                await loop.run_in_executor(executor, world.ask, "a lane of its own")
                before = len(world.moments)

                def hand(_: Any = None) -> None:
                    world.ask("of the thread")
                    loop.call_soon_threadsafe(world.trace.append, "handed")

                loop.call_soon(world.trace.append, "before")
                executor.submit(hand).result()
                loop.call_soon(world.trace.append, "after")
                await asyncio.sleep(0)
                assert [one[3] for one in world.moments[before:] if one[1][1] == "wake"] == [Spot(None, 2)]

        asyncio.run(main())

    recorded = record(program)
    assert recorded.trace[-3:] == ["before", "handed", "after"]


def test_what_a_job_hands_over_after_a_step_began_is_no_answer() -> None:
    """The job asks on when the loop has taken that: kept back until then, it would never come."""
    taken = threading.Event()

    def job(world: World, loop: Any) -> None:
        def take() -> None:
            world.trace.append("taken")
            taken.set()

        world.ask("one")
        loop.call_soon_threadsafe(world.trace.append, "handed")
        world.tell("step")
        loop.call_soon_threadsafe(take)
        taken.wait()
        world.ask("two")
        loop.call_soon_threadsafe(world.trace.append, "handed again")

    async def main(world: World) -> None:
        taken.clear()
        await asyncio.get_running_loop().run_in_executor(None, job, world, asyncio.get_running_loop())

    def program(world: World) -> None:
        asyncio.run(main(world))

    recorded = record(program)
    again = conduct(program, recorded)
    assert again.trace == recorded.trace
    assert again.conductor is not None
    assert again.conductor.violations == []


def test_the_end_of_a_job_holds_up_nobody_who_is_due() -> None:
    """A pool of few threads, all of them at the ends of jobs that were heard of late."""
    jobs = [(lane, pooljobs.SOURCE, 1, 0) for lane in ("0.1", "0.2")]
    calls = [(lane, "exchange", 1, 0) for lane in ("0.1", "0")]
    made = Conductor([(float(at), key) for at, key in enumerate([calls[0], jobs[0], calls[1], jobs[1]])])
    made.install()

    def first() -> None:
        made.wait(calls[0])
        made.wait(jobs[0])

    with ThreadPoolExecutor(1) as pool:
        pool.submit(made.wait, jobs[1])
        pool.submit(first)
        made.wait(calls[1])
    made.uninstall()
    assert made.violations == []
