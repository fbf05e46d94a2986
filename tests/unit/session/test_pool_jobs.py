"""What is kept of pool jobs, and `wait` and `as_completed` as the program sees them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log
from lctl.session import LCTLSession


def jobs_of(path: Path) -> Any:
    found = [e.data["value"] for e in open_log(path).events() if e.data.get("source") == "jobs"]
    assert len(found) < 2
    return found[0] if found else None


def test_jobs_one_after_the_other_leave_nothing(tmp_path: Path) -> None:
    with LCTLSession("c", tmp_path / "c.lctl.json") as session, ThreadPoolExecutor(1) as pool:
        for n in range(3):
            pool.submit(session.add_fact, f"F{n}", "x").result()
    assert jobs_of(tmp_path / "c.lctl.json") is None


def test_the_ends_of_jobs_at_the_same_time_are_kept_in_their_order(tmp_path: Path) -> None:
    second_ended = threading.Event()

    def first() -> None:
        second_ended.wait()
        session.add_fact("F1", "x")

    with LCTLSession("c", tmp_path / "c.lctl.json") as session, ThreadPoolExecutor(2) as pool:
        slow = pool.submit(first)
        pool.submit(session.add_fact, "F2", "x").add_done_callback(lambda _: second_ended.set())
        slow.result()
    value = jobs_of(tmp_path / "c.lctl.json")
    assert [(lane, seq) for lane, _, seq in value["ended"]] == [("0.2", 1), ("0.1", 2)]
    assert value["ended"][0][1] <= value["ended"][1][1]


class LatePool(ThreadPoolExecutor):
    """The first job's thread stands between its end and what it tells the loop, until `held` is set."""

    def __init__(self) -> None:
        super().__init__(2)
        self.first, self.held = threading.Event(), threading.Event()
        self._jobs = 0

    def submit(self, function: Any, /, *args: Any, **options: Any) -> Future[Any]:
        asked = threading.Event()

        def run() -> Any:
            asked.wait()
            return function(*args, **options)

        made = super().submit(run)
        self._jobs += 1
        if self._jobs == 1:
            made.add_done_callback(self._stand)  # before asyncio's own
        asked.set()
        return made

    def _stand(self, _: Future[Any]) -> None:
        self.first.set()
        self.held.wait()


def test_the_order_of_ends_is_the_one_their_loop_hears_of_them_in(tmp_path: Path) -> None:
    async def main(pool: LatePool) -> None:
        loop = asyncio.get_running_loop()
        late = loop.run_in_executor(pool, session.add_fact, "F1", "x")
        await loop.run_in_executor(pool, pool.first.wait)
        pool.held.set()
        await late

    with LCTLSession("c", tmp_path / "c.lctl.json") as session, LatePool() as pool:
        asyncio.run(main(pool))
    first, second = jobs_of(tmp_path / "c.lctl.json")["ended"]
    assert (first[0], second[0]) == ("0.1.2", "0.1.1")
    assert first[1] < second[1]


def test_once_some_were_under_way_together_all_are_kept(tmp_path: Path) -> None:
    """In a rerun those that wait for their turn would be overtaken by others."""

    async def main() -> None:
        await asyncio.to_thread(session.add_fact, "F1", "x")
        await asyncio.gather(*(asyncio.to_thread(session.add_fact, f"F{n}", "x") for n in (2, 3)))
        await asyncio.to_thread(session.add_fact, "F4", "x")

    with LCTLSession("c", tmp_path / "c.lctl.json") as session:
        asyncio.run(main())
    kept = [lane for lane, *_ in jobs_of(tmp_path / "c.lctl.json")["ended"]]
    assert sorted(kept[:2]) == ["0.1.2.1", "0.1.3.1"]
    assert kept[2:] == ["0.1.4"]


@pytest.mark.parametrize("library", ["asyncio", "anyio"])
def test_jobs_that_a_loop_waits_for_one_after_the_other_leave_nothing(library: str, tmp_path: Path) -> None:
    anyio = pytest.importorskip("anyio", reason="anyio is not installed")

    async def main() -> None:
        start = asyncio.to_thread if library == "asyncio" else anyio.to_thread.run_sync
        for n in range(3):
            await start(session.add_fact, f"F{n}", "x")

    with LCTLSession("c", tmp_path / "c.lctl.json") as session:
        asyncio.run(main())
    assert jobs_of(tmp_path / "c.lctl.json") is None


def test_jobs_of_anyios_threads(tmp_path: Path) -> None:
    anyio = pytest.importorskip("anyio", reason="anyio is not installed")

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for n in range(2):
                group.start_soon(anyio.to_thread.run_sync, session.add_fact, f"F{n}", "x")

    with LCTLSession("c", tmp_path / "c.lctl.json") as session:
        asyncio.run(main())
    assert len(jobs_of(tmp_path / "c.lctl.json")["ended"]) == 2


def test_what_was_seen_of_them_is_kept(tmp_path: Path) -> None:
    hold = threading.Event()
    with LCTLSession("c", tmp_path / "c.lctl.json") as session, ThreadPoolExecutor(3) as pool:
        jobs: list[Future[Any]] = [pool.submit(hold.wait), pool.submit(session.add_fact, "F", "x")]
        slow, quick = jobs
        quick.result()
        done, rest = concurrent.futures.wait(jobs, return_when=concurrent.futures.FIRST_COMPLETED)
        assert (done, rest) == ({quick}, {slow})
        order = concurrent.futures.as_completed(jobs)
        assert next(order) is quick
        hold.set()
        assert next(order) is slow
        assert list(order) == []
    assert jobs_of(tmp_path / "c.lctl.json")["seen"] == [
        ["0", "wait", "2 from 0.1", [1]],
        ["0", "as_completed", "2 from 0.1", [1, 0]],
    ]


def test_all_of_them_tell_nothing(tmp_path: Path) -> None:
    with LCTLSession("c", tmp_path / "c.lctl.json") as session, ThreadPoolExecutor(1) as pool:
        jobs = [pool.submit(session.add_fact, f"F{n}", "x") for n in range(3)]
        done, rest = concurrent.futures.wait(jobs)
        assert (list(done), rest) == (jobs, set())
    assert jobs_of(tmp_path / "c.lctl.json")["seen"] == []


def test_a_limit_that_passes_is_the_programs_own(tmp_path: Path) -> None:
    hold = threading.Event()
    with LCTLSession("c", tmp_path / "c.lctl.json"), ThreadPoolExecutor(2) as pool:
        jobs: list[Future[Any]] = [pool.submit(hold.wait), pool.submit(int)]
        slow, quick = jobs
        with pytest.raises(TimeoutError, match=r"1 \(of 2\) futures unfinished"):
            list(concurrent.futures.as_completed(jobs, timeout=0.05))
        done, rest = concurrent.futures.wait(set(jobs), timeout=0.01)
        assert (done, rest) == ({quick}, {slow})
        hold.set()


def test_futures_that_are_no_jobs(tmp_path: Path) -> None:
    made: list[Future[int]] = [Future() for _ in range(2)]
    for n, one in enumerate(made):
        one.set_result(n)
    with LCTLSession("c", tmp_path / "c.lctl.json"):
        assert set(concurrent.futures.as_completed([*made, made[0]])) == set(made)
        assert concurrent.futures.wait(made).done == set(made)
    assert jobs_of(tmp_path / "c.lctl.json") is None
