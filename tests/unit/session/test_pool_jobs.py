"""What is kept of pool jobs, and `wait` and `as_completed` as the program sees them."""

from __future__ import annotations

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
    assert jobs_of(tmp_path / "c.lctl.json") is None


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
