"""Threads that record, read and close at once, and forks in the middle of it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from lctl.codec import open_log
from lctl.errors import LctlError
from lctl.guard import guard
from lctl.session import LCTLSession
from lctl.stores.opening import close_stores, open_store

FORKING = Path(__file__).with_name("forking.py")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "mine"))
    monkeypatch.setenv("LCTL_QUIET", "1")
    monkeypatch.setattr(guard, "policy", "report")  # events after the end are refused, and counted
    yield tmp_path / "mine"
    close_stores()


def at_once(*works: Callable[[], object]) -> tuple[Callable[[], None], list[BaseException]]:
    """Do these over and over in threads of their own; what ends that, and what they raised."""
    stopping, raised = threading.Event(), list[BaseException]()

    def run(work: Callable[[], object]) -> None:
        while not stopping.is_set():
            try:
                work()
            except LctlError:
                continue  # closed: that is said so
            except BaseException as error:
                raised.append(error)
                return

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()

    def stop() -> None:
        stopping.set()
        for thread in threads:
            thread.join()

    return stop, raised


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "file", "memory", "sqlite"])
def test_a_log_is_closed_while_others_use_it(kind: str, tmp_path: Path) -> None:
    """Whoever reads it reads on; the tail is of all the events, also of those that came while it was made."""
    places = {"plain": None, "file": f"file:{tmp_path}/runs", "memory": f"memory:{tmp_path.name}"}
    place = places.get(kind, f"sqlite:///{tmp_path}/runs.db")
    for n in range(4):
        session = LCTLSession(f"s{n}", store=place)
        session.__enter__()
        store = session.store
        stop, raised = at_once(
            lambda session=session: session.add_fact("F1", "said often"),  # type: ignore[misc]
            lambda store=store: store.count(),  # type: ignore[misc]
            lambda store=store: (store.events_hash(), store.last_seq),  # type: ignore[misc]
            lambda store=store: sum(1 for _ in store.read()),  # type: ignore[misc]
        )
        while session.last_seq < 50:
            time.sleep(0.001)
        session.__exit__(None, None, None)
        stop()
        assert not raised
        if place is None:
            log = open_log(session.path)
            count, tail = len(log), log.tail
        else:
            there = open_store(place)
            count, tail = len(list(there.read(f"s{n}"))), there.tail(f"s{n}")
        assert tail is not None
        assert tail["summary"]["events"] == tail["hash"]["count"] == count


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forks_beside_threads_that_record_and_close(folder: Path, tmp_path: Path) -> None:
    """No child waits for a lock of a thread it does not have, and none writes into its parent's log."""
    place = f"sqlite:///{tmp_path}/runs.db"
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, str(FORKING), place], env=environment, text=True, capture_output=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "children that hung: 0\n"), done.stderr
    store = open_store(place)
    logs = [list(store.read(entry.id)) for entry in store.entries()]
    logs += [list(open_log(path).stored()) for path in (folder / "outbox").glob("*.lctl.json")]
    assert len(logs) >= 6
    for lines in logs:
        assert [orjson.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))


_CLOSING = """
import sys, threading
from lctl.stores.opening import open_store

store = open_store(sys.argv[1], create=True, recording=True)
store.begin({"id": "c"})
over = threading.Event()

def record():
    try:
        for n in range(1, 301):
            line = '{"seq":%d,"type":"x","timestamp":"2026-01-01T00:00:00Z","agent":"a","data":{}}' % n
            store.append("c", n, [line.encode()])
    finally:
        over.set()

thread = threading.Thread(target=record)
thread.start()
while not over.is_set():
    store.close()
thread.join()
print(store.entry("c").last_seq)
"""


def test_a_file_is_closed_while_a_thread_writes_it(tmp_path: Path) -> None:
    """As at the end of a program, where what is recorded last is being delivered. In a process of its own:
    SQLite does not survive a connection that is freed under it."""
    command = [sys.executable, "-c", _CLOSING, f"sqlite:///{tmp_path}/runs.db"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "300\n", "")
