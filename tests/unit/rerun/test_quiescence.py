"""Which threads a rerun waits for."""

from __future__ import annotations

import ctypes
import importlib
import os
import select
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lctl.rerun.order import computing
from lctl.rerun.order.conductor import Conductor
from lctl.rerun.order.quiescence import Threads

_FORKS = """
import os, threading
from lctl.rerun.order.quiescence import Threads
if not os.fork():
    print(Threads().some({threading.get_native_id()}), flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads are known by their processor time on Linux")
def test_the_main_thread_of_a_forked_process_is_no_other() -> None:
    """Python goes on giving it the number it had in the process that forked: it was taken for a thread that
    is not Python's, and not waited for once it had been still for a while."""
    done = subprocess.run([sys.executable, "-c", _FORKS], capture_output=True, text=True, timeout=60)
    assert done.stdout == "False\n", done.stderr


_SLOW = """
import time
while time.thread_time() < {}:
    pass
"""


@pytest.mark.skipif(sys.platform != "linux", reason="threads are known by their processor time on Linux")
def test_who_imports_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long: on another machine it took another time. Who computes so long is given up."""
    monkeypatch.setattr(computing, "_SECONDS", 0.05)
    monkeypatch.setattr(computing, "_LOADED", 10_000)  # whatever else this machine does
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "slowly_imported.py").write_text(_SLOW.format(time.thread_time() + 0.3))
    first, second = ("0", "exchange", 1, 0), ("0.1", "exchange", 1, 0)
    conductor = Conductor([(10.0, first), (20.0, second)])
    conductor.install()
    other = threading.Thread(target=conductor.wait, args=[second])
    other.start()
    importlib.import_module("slowly_imported")
    conductor.wait(first)
    other.join()
    conductor.uninstall()
    assert conductor.violations == []


@pytest.mark.skipif(sys.platform != "linux", reason="threads are known by their processor time on Linux")
def test_who_computed_for_too_long_is_waited_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it has come to rest."""
    monkeypatch.setattr(computing, "_SECONDS", 0.1)
    keys = [(lane, "exchange", number, 0) for number in (1, 2) for lane in ("0", "0.1")]
    made = Conductor([(float(at), key) for at, key in enumerate(keys)])
    made.install()

    def compute(seconds: float, end: threading.Event) -> None:
        until = time.thread_time() + seconds
        while time.thread_time() < until and not end.is_set():
            pass

    passed, came, never = threading.Event(), threading.Event(), threading.Event()

    def ask() -> None:
        made.wait(keys[1])
        passed.set()
        came.wait()
        made.wait(keys[3])

    other = threading.Thread(target=ask)
    other.start()
    compute(10, passed)
    made.wait(keys[0])
    came.set()
    compute(0.03, never)
    made.wait(keys[2])
    other.join()
    made.uninstall()
    assert [violation.key for violation in made.violations] == [keys[0]]


@pytest.mark.skipif(sys.platform != "linux", reason="what a thread waits for is known on Linux")
def test_who_watches_files_is_not_waited_for() -> None:
    """As threads of watchdog's do, in servers that are told of changes of their program: a sleep beside one
    takes no time."""
    conductor = Conductor([(10.0, ("0", "exchange", 1, 0))])
    watched = ctypes.CDLL(None).inotify_init1(os.O_CLOEXEC)
    ends, end = os.pipe()
    poll = select.poll()
    for file in (watched, ends):
        poll.register(file, select.POLLIN)
    watcher = threading.Thread(target=poll.poll, daemon=True)
    watcher.start()
    conductor.install()
    try:
        conductor.pace.reach_origin()
        time.sleep(600)  # of virtual time
        assert conductor.pace.now >= 600_000
    finally:
        conductor.uninstall()
        os.write(end, b"x")
        watcher.join()
        for file in (watched, ends, end):
            os.close(file)


@pytest.mark.skipif(sys.platform != "linux", reason="threads are known by their processor time on Linux")
def test_what_has_been_computed_is_the_same_whoever_asks() -> None:
    """A thread that looks again had counted what its asker left out: all that the program had ever used."""
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        pass
    threads = Threads()
    said: list[float] = []
    asking = threading.Thread(target=lambda: said.append(threads.spent(threading.get_native_id())))
    here = threads.spent(0)
    asking.start()
    asking.join()
    threads.close()
    assert abs(here - said[0]) < 0.1
