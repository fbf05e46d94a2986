"""Threads whose start another tool has wrapped, before ours or on top of it, as error trackers do."""

from __future__ import annotations

import functools
import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lctl.session.concurrency import lanes, threads
from lctl.session.concurrency.lane import Lane


@pytest.fixture(autouse=True)
def in_a_lane() -> Iterator[None]:
    token = lanes.enter(Lane("0"))
    yield
    lanes.leave(token)


def wrapped_start(old: Callable[..., Any]) -> Callable[..., Any]:
    """What Sentry puts in the place of `Thread.start`: a thread gets a `run` that calls the function of its
    method with the thread that runs."""

    @functools.wraps(old)
    def start(self: threading.Thread) -> None:
        before: Any = getattr(self.run, "__func__", self.run)

        def run() -> None:
            before(threading.current_thread())

        self.run = run  # type: ignore[method-assign]
        old(self)

    return start


def lane_of_a_thread() -> str:
    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.append(lanes.current().path))
    thread.start()
    thread.join()
    return seen[0] if seen else "it did not run"


def test_a_start_that_was_wrapped_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", wrapped_start(threading.Thread.start))
    threads.install()
    try:
        assert [lane_of_a_thread(), lane_of_a_thread()] == ["0.1", "0.2"]
    finally:
        threads.uninstall()


def test_what_another_has_put_into_a_thread_stays_and_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", wrapped_start(threading.Thread.start))
    threads.install()
    try:
        thread = threading.Thread(target=str)
        thread.start()
        thread.join()
    finally:
        threads.uninstall()
    assert "wrapped_start" in vars(thread)["run"].__qualname__
    there = weakref.ref(thread)
    gc.disable()
    try:
        del thread
        assert there() is None
    finally:
        gc.enable()


def test_a_start_that_was_wrapped_on_top_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours stays beneath it, without effect, and counts once when it is there again."""
    original = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", original)  # as it is put back at the end
    threads.install()
    monkeypatch.setattr(threading.Thread, "start", wrapped_plainly(threading.Thread.start))
    assert [lane_of_a_thread(), lane_of_a_thread()] == ["0.1", "0.2"]
    threads.uninstall()
    assert lane_of_a_thread() != "0.3"
    threads.install()
    try:
        assert [lane_of_a_thread(), lane_of_a_thread()] == ["0.3", "0.4"]
    finally:
        threads.uninstall()


def wrapped_plainly(old: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(old)
    def start(self: threading.Thread) -> None:
        old(self)

    return start
