"""Every event in its own step: tasks, threads, pools, generators."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

from lctl.session import LCTLSession, traced
from tests.unit.session.conftest import Brief, Events


def check_own_steps(recorded: list[dict[str, Any]], agents: set[str]) -> None:
    """Seq without gaps, and each agent's events in steps that this agent began."""
    assert [e["seq"] for e in recorded] == list(range(1, len(recorded) + 1))
    begun = {e["seq"]: e["agent"] for e in recorded if e["type"] == "step_start"}
    for event in recorded:
        if "step" in event:
            assert begun[event["step"]] == event["agent"]
    assert set(begun.values()) == agents
    ended = [e["step"] for e in recorded if e["type"] == "step_end"]
    assert sorted(ended) == sorted(begun)


def test_threads_and_tasks_at_once(session: LCTLSession, events: Events) -> None:
    """8 threads and 100 asyncio tasks, each a different agent, two nested steps each."""

    def work(name: str) -> None:
        for n in range(20):
            with session.step(name, "outer"), session.step(name, "inner"):
                session.add_fact(f"{name}-{n}", "x")

    async def task(name: str) -> None:
        for n in range(5):
            async with session.step(name, "outer"):
                await asyncio.sleep(0)
                with session.step(name, "inner"):
                    await asyncio.sleep(0.0001 * (n % 3))
                    session.add_fact(f"{name}-{n}", "x")

    async def main() -> None:
        await asyncio.gather(*(task(f"task{n}") for n in range(100)))

    threads = [threading.Thread(target=work, args=(f"thread{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    asyncio.run(main())
    for thread in threads:
        thread.join()
    agents = {f"thread{n}" for n in range(8)} | {f"task{n}" for n in range(100)}
    check_own_steps(events(session), agents)


def test_tasks_of_a_group_are_siblings(session: LCTLSession, brief: Brief) -> None:
    """TaskGroup: children in the step that opened the group; one failing, the others cancelled."""

    async def child(name: str, wait: float) -> None:
        async with session.step(name):
            await asyncio.sleep(wait)
            raise ValueError(name)

    async def main() -> None:
        async with session.step("parent"), asyncio.TaskGroup() as group:
            group.create_task(child("fails", 0))
            group.create_task(child("waits", 60))

    with pytest.raises(ExceptionGroup):
        asyncio.run(main())
    recorded = {(e["type"], e["agent"]): e for e in session.to_dict()["events"]}
    assert recorded["step_start", "fails"]["step"] == recorded["step_start", "waits"]["step"] == 1
    assert recorded["step_end", "fails"]["data"]["outcome"] == "error"
    assert recorded["step_end", "waits"]["data"]["outcome"] == "cancelled"
    assert recorded["step_end", "parent"]["data"]["outcome"] == "error"


def test_a_timeout_is_a_cancellation_inside_and_an_error_outside(session: LCTLSession) -> None:
    """`asyncio.timeout` cancels the body and raises TimeoutError around it."""

    async def main() -> None:
        async with session.step("outer"):
            async with asyncio.timeout(0.001):
                async with session.step("inner"):
                    await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        asyncio.run(main())
    recorded = session.to_dict()["events"]
    ends = {e["agent"]: e["data"]["outcome"] for e in recorded if e["type"] == "step_end"}
    assert ends == {"inner": "cancelled", "outer": "error"}
    assert [e["data"]["type"] for e in recorded if e["type"] == "error"] == ["timeout"]


def test_a_step_may_end_in_another_task(session: LCTLSession, brief: Brief) -> None:
    """After that the first task is out of it too."""

    async def main() -> None:
        step = session.step_start("a")

        async def other() -> None:
            session.step_end(step=step)

        await asyncio.create_task(other())
        session.add_fact("F1", "outside")

    asyncio.run(main())
    assert brief(session) == ["1 step_start a", "2 step_end a @1", "3 fact_added main"]


def test_threads_and_pools_run_in_the_step_that_started_them(session: LCTLSession, brief: Brief) -> None:
    """Thread, Timer, submit, map, to_thread; a pool's worker does not keep the step of its first task."""
    with ThreadPoolExecutor(1) as pool:
        with session.step("a"):
            thread = threading.Thread(target=session.add_fact, args=("F1", "thread"))
            thread.start()
            thread.join()
            pool.submit(session.add_fact, "F2", "pool").result()
            timer = threading.Timer(0, session.add_fact, ("F3", "timer"))
            timer.start()
            timer.join()
            asyncio.run(asyncio.to_thread(session.add_fact, "F4", "to_thread"))
        pool.submit(session.add_fact, "F5", "outside").result()
        with session.step("b"):
            list(pool.map(lambda name: session.add_fact(name, "map"), ["F6"]))
    assert [line for line in brief(session) if "fact" in line] == [
        "2 fact_added a @1",
        "3 fact_added a @1",
        "4 fact_added a @1",
        "5 fact_added a @1",
        "7 fact_added main",
        "9 fact_added b @8",
    ]


def test_nothing_stays_wrapped_after_the_last_session(session: LCTLSession) -> None:
    """Thread.start, submit and Popen are the originals again; `run` is not left on a thread."""
    import subprocess

    assert hasattr(threading.Thread.start, "__wrapped__")
    thread = threading.Thread(target=lambda: None)
    with session.step("a"):
        thread.start()
        thread.join()
    assert "run" not in thread.__dict__
    session.close()
    for function in (threading.Thread.start, ThreadPoolExecutor.submit, subprocess.Popen.__init__):
        assert not hasattr(function, "__wrapped__")


def test_a_generators_step_does_not_leak_to_its_consumer(session: LCTLSession, brief: Brief) -> None:
    """Undecorated: between items the consumer is where it was, and its own steps stay right."""

    def items() -> Iterator[int]:
        with session.step("gen"):
            session.add_fact("in", "1")
            yield 1
            session.add_fact("in", "2")
            yield 2

    with session.step("consumer"):
        for _ in items():
            session.add_fact("out", "x")
    assert brief(session) == [
        "1 step_start consumer",
        "2 step_start gen @1",
        "3 fact_added gen @2",
        "4 fact_added consumer @1",
        "5 fact_added gen @2",
        "6 fact_added consumer @1",
        "7 step_end gen @2",
        "8 step_end consumer @1",
    ]


def test_a_context_manager_made_of_a_generator_does_hand_on_its_step(
    session: LCTLSession, brief: Brief
) -> None:
    """`@contextmanager` and `@asynccontextmanager`: the with block is inside."""

    @contextmanager
    def phase(name: str) -> Iterator[None]:
        with session.step(name):
            yield

    @asynccontextmanager
    async def async_phase(name: str) -> AsyncIterator[None]:
        async with session.step(name):
            yield

    async def main() -> None:
        async with async_phase("b"):
            session.add_fact("F2", "y")

    with phase("a"):
        session.add_fact("F1", "x")
    asyncio.run(main())
    assert [line for line in brief(session) if "fact" in line] == ["2 fact_added a @1", "5 fact_added b @4"]


def test_two_generators_in_turn(session: LCTLSession, events: Events) -> None:
    """Interleaved generators keep their steps apart, ended in any order."""

    @traced("gen")
    def items(name: str) -> Generator[None, None, None]:
        for n in range(3):
            session.add_fact(f"{name}{n}", "x")
            yield

    one, two = items("one"), items("two")
    next(one), next(two), next(one), next(two)
    one.close()
    next(two)
    two.close()
    facts = [(e["data"]["id"][:3], e["step"]) for e in events(session) if e["type"] == "fact_added"]
    assert {step for name, step in facts if name == "one"} == {1}
    assert len({step for name, step in facts if name == "two"}) == 1
