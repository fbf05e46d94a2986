"""Work that runs in a context copied where it was started is in its own lane, not in its starter's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial

import pytest

from lctl.session import LCTLSession
from lctl.session.concurrency import lanes


@pytest.fixture(autouse=True)
def recording() -> Iterator[None]:
    with LCTLSession():
        yield


def _lane() -> str:
    return lanes.current().path


def _job() -> Callable[[], str]:
    return partial(copy_context().run, _lane)


def test_jobs_of_a_pool() -> None:
    before = _lane()
    with ThreadPoolExecutor(1) as pool:
        plain = pool.submit(_lane).result()
        copied = [pool.submit(_job()).result() for _ in range(2)]
        within = pool.submit(lambda: [_job()(), _lane()]).result()
    assert len({before, plain, *copied, within[0]}) == 5
    assert within[0] == within[1]
    assert _lane() == before


def test_threads() -> None:
    found: list[str] = []
    context = copy_context()
    thread = threading.Thread(target=context.run, args=(lambda: found.append(_lane()),))
    thread.start()
    thread.join()
    assert found[0].rpartition(".")[0] == _lane()


def test_a_loop_in_a_job_starts_its_tasks_beneath_the_job() -> None:
    async def task() -> str:
        return _lane()

    with ThreadPoolExecutor(1) as pool:
        job, inside = pool.submit(
            partial(copy_context().run, lambda: (_lane(), asyncio.run(task())))
        ).result()
    assert inside.startswith(f"{job}.")


def test_what_another_thread_hands_to_a_loop_stays_in_its_lane() -> None:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    found: list[str] = []
    done = threading.Event()

    def note() -> None:
        found.append(_lane())
        done.set()

    loop.call_soon_threadsafe(note)
    assert done.wait(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
    assert found == [_lane()]
