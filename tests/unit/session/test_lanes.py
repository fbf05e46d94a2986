"""Each thing a program starts has its lane, the same in every run; what libraries start has none."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lctl.instrument import uninstrument
from lctl.session import LCTLSession
from lctl.session.concurrency import threads
from lctl.session.concurrency.lane import Lane
from tests.unit.session.lanesofcode import here, here_later, hooked

__all__ = ["hooked"]  # fixtures


def test_tasks_are_numbered_as_they_are_made_whoever_ends_first() -> None:
    async def main() -> list[str]:
        return [here(), *await asyncio.gather(*[here_later(5 - n) for n in range(3)])]

    assert asyncio.run(main()) == ["0.1", "0.1.1", "0.1.2", "0.1.3"]
    assert asyncio.run(main())[0] == "0.2"


def test_every_way_of_making_a_task_counts() -> None:
    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            grouped = group.create_task(here_later())
        return [
            await asyncio.create_task(here_later()),
            await asyncio.ensure_future(here_later()),
            await loop.create_task(here_later(), name="named"),
            await asyncio.shield(here_later()),
            grouped.result(),
        ]

    assert asyncio.run(main()) == ["0.1.2", "0.1.3", "0.1.4", "0.1.5", "0.1.1"]


def test_as_completed_numbers_what_it_is_given_in_that_order() -> None:
    """asyncio itself makes the tasks in the order of a set of coroutines."""

    async def main() -> dict[int, str]:
        async def one(n: int) -> tuple[int, str]:
            return n, await here_later(n % 3)

        return dict([await done for done in asyncio.as_completed([one(n) for n in range(20)])])

    assert asyncio.run(main()) == {n: f"0.1.{n + 1}" for n in range(20)}


def test_as_completed_stays_what_it_is() -> None:
    async def main() -> None:
        with pytest.raises(TypeError, match="an iterable of"):
            refused: Any = here_later()
            for first in asyncio.as_completed(refused):
                await first

    none: list[Any] = []
    if sys.version_info < (3, 13):  # since then it needs a loop
        assert isinstance(asyncio.as_completed(none), types.GeneratorType)
    with pytest.warns(RuntimeWarning, match="never awaited"):
        asyncio.run(main())


def test_waiting_for_a_coroutine_stays_in_the_lane() -> None:
    """Up to Python 3.11 that makes a task, after it does not."""

    async def main() -> list[str]:
        waited = await asyncio.wait_for(here_later(), 60)
        return [waited, await asyncio.create_task(here_later())]

    assert asyncio.run(main()) == ["0.1", "0.1.1"]


def test_a_context_given_is_the_tasks_own() -> None:
    variable = contextvars.ContextVar("variable", default="none")

    async def read() -> tuple[str, str]:
        return variable.get(), here()

    async def main() -> Any:
        context = contextvars.copy_context()
        context.run(variable.set, "set")
        return await asyncio.get_running_loop().create_task(read(), context=context)

    assert asyncio.run(main()) == ("set", "0.1.1")


def test_a_task_factory_is_called_as_before() -> None:
    made: list[Any] = []

    def factory(loop: Any, coroutine: Any, **options: Any) -> Any:
        made.append(options)
        return asyncio.Task(coroutine, loop=loop, **options)

    async def main() -> str:
        asyncio.get_running_loop().set_task_factory(factory)
        task = asyncio.create_task(here_later(), name="mine")
        assert task.get_name() == "mine"
        return await task

    assert asyncio.run(main()) == "0.1.1"
    assert len(made) >= 1


def test_threads_and_jobs_are_numbered_as_they_are_started() -> None:
    seen: list[str] = []
    started = [threading.Thread(target=lambda: seen.append(here())) for _ in range(3)]
    for thread in reversed(started):
        thread.start()
        thread.join()
    with ThreadPoolExecutor(2) as pool:
        seen += pool.map(lambda _: here(), range(4))
        seen.append(pool.submit(here).result())
    assert seen == [f"0.{n}" for n in range(1, 9)]


def test_a_thread_that_does_not_start_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    thread = threading.Thread(target=here)
    monkeypatch.setattr(threading, "_start_new_thread", _fails, raising=False)
    monkeypatch.setattr(threading, "_start_joinable_thread", _fails, raising=False)
    with pytest.raises(RuntimeError, match="no more threads"):
        thread.start()
    assert "run" not in vars(thread)


def test_what_a_thread_gives_to_a_loop_is_numbered_when_it_gives_it() -> None:
    async def main() -> list[str]:
        loop = asyncio.get_running_loop()

        def give() -> list[str]:
            first = asyncio.run_coroutine_threadsafe(here_later(3), loop)
            second = asyncio.run_coroutine_threadsafe(here_later(), loop)
            inside: list[str] = []
            third = threading.Thread(target=lambda: inside.append(here()))
            third.start()
            third.join()
            return [first.result(), second.result(), *inside]

        return await asyncio.to_thread(give)

    assert asyncio.run(main()) == ["0.1.1.1", "0.1.1.2", "0.1.1.3"]


def test_arguments_may_be_given_by_name() -> None:
    """As Strands gives what its MCP client has another thread's loop do."""

    async def main() -> list[Any]:
        loop = asyncio.get_running_loop()
        task = loop.create_task(coro=here_later())
        given = asyncio.run_coroutine_threadsafe(coro=here_later(), loop=loop)
        done, _ = await asyncio.wait(fs=[task])
        completed = [await one for one in asyncio.as_completed(fs=[here_later()])]
        return [*(one.result() for one in done), await asyncio.wrap_future(given), *completed]

    assert asyncio.run(main()) == ["0.1.1", "0.1.2", "0.1.3"]


def test_a_job_run_in_a_copied_context_is_in_its_own_lane() -> None:
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(contextvars.copy_context().run, here) for _ in range(3)]
        assert [job.result() for job in jobs] == ["0.1", "0.2", "0.3"]


def test_loops_in_threads() -> None:
    async def inner() -> list[str]:
        return [here(), *await asyncio.gather(here_later(), here_later())]

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: asyncio.run(inner()), range(2)))
    assert found == [[f"0.{n}.1", f"0.{n}.1.1", f"0.{n}.1.2"] for n in (1, 2)]


def test_anyio_groups_and_threads() -> None:
    anyio = pytest.importorskip("anyio")
    to_thread = pytest.importorskip("anyio.to_thread")

    async def main() -> list[str]:
        seen: list[str] = []

        async def one(turns: int) -> None:
            seen.append(await here_later(turns))

        async with anyio.create_task_group() as group:
            for n in range(3):
                group.start_soon(one, 3 - n)
        seen.append(await to_thread.run_sync(here))
        seen.append(await asyncio.create_task(here_later()))
        return seen

    assert anyio.run(main) == ["0.1.3", "0.1.2", "0.1.1", "0.1.4", "0.1.5"]


def test_uvloop() -> None:
    uvloop = pytest.importorskip("uvloop")

    async def main() -> list[str]:
        return [here(), *await asyncio.gather(here_later(2), here_later())]

    threads.reach()
    assert uvloop.run(main()) == ["0.1", "0.1.1", "0.1.2"]
    assert "create_task" in vars(uvloop.Loop)


def test_processes_are_told_their_lane() -> None:
    code = "import os; print(os.environ['LCTL_PARENT'].split(':')[2].split('@')[0])"
    with LCTLSession("c", "run.lctl.json") as session:
        for n in range(2):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            assert done.stdout.strip() == f"0.{n + 1}"
        assert session.last_seq == 0


def test_a_session_counts_from_its_own_beginning() -> None:
    asyncio.run(here_later())
    with LCTLSession("c", "run.lctl.json"):
        assert here() == "0"
        assert asyncio.run(here_later()) == "0.1"
    assert asyncio.run(here_later()) == "0.2"


def test_an_endless_line_of_lanes_has_short_names_all_different() -> None:
    seen = set()
    lane = Lane("0")
    for _ in range(2000):
        lane = lane.spawn()
        seen.add(lane.path)
        assert len(lane.path) < 200
    assert len(seen) == 2000


def test_a_live_lane_makes_live_lanes_from_then_on() -> None:
    lane = Lane("0")
    before = lane.spawn()
    lane.is_live = True
    assert not before.is_live
    assert lane.spawn().is_live
    assert (lane.spawned, before.index, before.spawned) == (2, 1, 0)


def test_no_trace_is_left() -> None:
    uninstrument()  # other tests may have put in place what lies above
    threads.uninstall()
    wrapped = [asyncio.as_completed, asyncio.run_coroutine_threadsafe, threading.Thread.start]
    wrapped += [asyncio.BaseEventLoop.create_task, ThreadPoolExecutor.submit, subprocess.Popen.__init__]
    assert [function for function in wrapped if hasattr(function, "__wrapped__")] == []
    threads.install()


def _fails(*args: Any, **kwargs: Any) -> None:
    raise RuntimeError("no more threads")
