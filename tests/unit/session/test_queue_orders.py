"""What is noted of the program's own queues: as much as there is room for."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import queue
import subprocess
import sys
import threading
from abc import ABC
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import lctl
from lctl.guard import guard
from lctl.session.concurrency import queueorder

PLAIN = queue.SimpleQueue


def fill(items: queue.Queue[int]) -> None:
    for n in range(20):
        items.put(n)


@pytest.fixture
def _recorded() -> Iterator[None]:
    lctl.auto_instrument()
    yield
    lctl.uninstrument()


@pytest.mark.usefixtures("_recorded")
def test_a_session_keeps_no_more_than_it_has_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All its queues together, however many there are and however long they are used."""
    monkeypatch.setattr(queueorder, "ROOM", 50)
    path = tmp_path / "run.lctl.json"
    with lctl.LCTLSession(path=path):
        for _ in range(3):
            items: queue.Queue[int] = queue.Queue()
            workers = [threading.Thread(target=fill, args=(items,)) for _ in range(2)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            assert sorted(items.get() for _ in range(40)) == sorted([*range(20)] * 2)
    kept = [
        acts
        for event in json.loads(path.read_text())["events"]
        if event["data"].get("source") == "jobs"
        for _, _, acts in event["data"]["value"].get("queues", ())
    ]
    assert kept and sum(map(len, kept)) <= 50


@pytest.mark.usefixtures("_recorded")
def test_a_failure_of_ours_is_not_the_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it comes: the queue gives and takes as without lctl, and `doctor` counts what was missed."""
    place = "the order of a queue"

    def fail(at: str) -> None:
        if at == place:
            raise RuntimeError("ours")

    monkeypatch.setattr(guard, "policy", "report")
    monkeypatch.setattr(guard, "failures", {})
    with lctl.LCTLSession(path=tmp_path / "run.lctl.json"):
        begun: queue.Queue[int] = queue.Queue(maxsize=2)
        monkeypatch.setattr(guard, "trial", fail)
        for items in (begun, queue.Queue[int](maxsize=2)):
            items.put(1)
            items.put(2)
            with pytest.raises(queue.Full):
                items.put(3, timeout=0.01)
            assert (items.qsize(), items.get(), items.get_nowait(), items.empty()) == (2, 1, 2, True)
            with pytest.raises(queue.Empty):
                items.get_nowait()
    assert guard.failures[place] > 8


@pytest.mark.usefixtures("_recorded")
def test_a_simple_queue_of_the_programs_is_one_for_everybody() -> None:
    class Named(queue.SimpleQueue[int]):
        def __init__(self, name: str) -> None:
            self.name = name

    with ThreadPoolExecutor(1) as pool:
        inner: Any = pool._work_queue
        assert type(inner) is PLAIN, "libraries have Python's own"
        assert pool.submit(int, "3").result() == 3
    for items in (queue.SimpleQueue[int](), Named("x")):
        assert isinstance(items, PLAIN) and isinstance(items, queue.SimpleQueue)
        items.put(1)
        items.put_nowait(2)
        assert (items.qsize(), items.get(), items.get_nowait(), items.empty()) == (2, 1, 2, True)
        with pytest.raises(queue.Empty):
            items.get(timeout=0.01)
    assert isinstance(inner, queue.SimpleQueue) and issubclass(PLAIN, queue.SimpleQueue)
    assert not isinstance(inner, Named)


@pytest.mark.usefixtures("_recorded")
def test_what_a_program_makes_of_a_simple_queue() -> None:
    """As of Python's own: `put` of a class derived from it is not what `put_nowait` calls."""

    class Named(queue.SimpleQueue[Any], ABC):
        __slots__ = ()

        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
            super().put(("named", item), block, timeout)

    items = Named()
    items.put(1)
    items.put_nowait(2)
    assert (items.get(), items.get_nowait()) == (("named", 1), 2)
    plain = queue.SimpleQueue[int]()
    assert pickle.loads(pickle.dumps(queue.SimpleQueue)) is queue.SimpleQueue
    for one in (items, plain):
        assert not hasattr(one, "__dict__")
        with pytest.raises(TypeError, match="cannot pickle"):
            copy.copy(one)
    assert inspect.signature(plain.put) == inspect.signature(PLAIN().put)
    assert plain.get.__doc__ == PLAIN.get.__doc__


def test_queues_and_semaphores_give_and_take_while_python_shuts_down(tmp_path: Path) -> None:
    program = """
import queue, threading, lctl
lctl.auto_instrument()

class Last:
    def __init__(self):
        self.queues, self.limit = (queue.Queue(), queue.SimpleQueue()), threading.Semaphore()

    def __del__(self):
        for items in self.queues:
            items.put(1)
            with self.limit:
                print(items.get())

last = Last()
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("1\n1\n", "")


def test_simple_queues_are_pythons_own_afterwards() -> None:
    lctl.auto_instrument()
    ours, begun = queue.SimpleQueue, queue.SimpleQueue[int]()
    lctl.uninstrument()
    begun.put(1)
    assert begun.get() == 1
    assert queue.SimpleQueue is PLAIN
    assert type(ours()) is PLAIN, "where the program has kept the name"


@pytest.mark.usefixtures("_recorded")
def test_who_is_interrupted_in_a_put_may_put_there_again() -> None:
    """What Python says of `SimpleQueue`: a finalizer, or a signal, may come at any line."""
    items: queue.SimpleQueue[int] = queue.SimpleQueue()
    again = True

    def interrupt(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal again
        inside = frame.f_code.co_filename == queue.__file__ and frame.f_code.co_name == "_put"
        if event == "line" and again and inside:
            again = False
            items.put(2)
        return interrupt

    before = sys.gettrace()
    sys.settrace(interrupt)
    try:
        items.put(1)
    finally:
        sys.settrace(before)
    assert not again
    assert sorted([items.get(), items.get()]) == [1, 2]


@pytest.mark.usefixtures("_recorded")
def test_who_gets_a_semaphore_is_noted_of_the_programs_own(tmp_path: Path) -> None:
    path = tmp_path / "run.lctl.json"
    with lctl.LCTLSession(path=path), ThreadPoolExecutor(2) as pool:
        limit = threading.BoundedSemaphore(1)

        def work() -> None:
            with limit:
                assert not limit.acquire(blocking=False)
                assert not limit.acquire(timeout=0.01)

        for done in [pool.submit(work) for _ in range(2)]:
            done.result()
        assert limit.acquire()
        limit.release()
        with pytest.raises(ValueError, match="released too many times"):
            limit.release()
    (told,) = (
        event["data"]["value"]["queues"]
        for event in json.loads(path.read_text())["events"]
        if event["data"].get("source") == "jobs"
    )
    ((lane, number, acts),) = told
    assert (lane, number) == ("0", 1)
    assert [what for _, what, _, _ in acts] == ["get", "empty", "empty"] * 2 + ["get"]


@pytest.mark.usefixtures("_recorded")
def test_a_failure_of_ours_is_no_semaphores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(at: str) -> None:
        if at == "the order of a queue":
            raise RuntimeError("ours")

    monkeypatch.setattr(guard, "policy", "report")
    monkeypatch.setattr(guard, "failures", {})
    with lctl.LCTLSession(path=tmp_path / "run.lctl.json"):
        begun = threading.Semaphore()
        monkeypatch.setattr(guard, "trial", fail)
        for one in (begun, threading.Semaphore()):
            with one:
                assert not one.acquire(timeout=0.01)
            assert one.acquire(False)
    assert guard.failures["the order of a queue"] > 3
