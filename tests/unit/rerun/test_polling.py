"""Threads that sleep again and again until something is so that is not recorded: it becomes so as it did."""

from __future__ import annotations

import pytest

from tests.unit.rerun.commands import Twice

WORK = """
import hashlib, threading, time
from concurrent.futures import ThreadPoolExecutor

def work():
    for _ in range(10):
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", 40_000)
"""
FLAG = """
ready = []

def start():
    work()
    ready.append(1)

threading.Thread(target=start).start()
while not ready:
    print(".", end="")
    time.sleep(0.01)
"""
THREAD = """
thread = threading.Thread(target=work)
thread.start()
while thread.is_alive():
    print(".", end="")
    time.sleep(0.01)
"""
FUTURE = """
with ThreadPoolExecutor() as pool:
    future = pool.submit(work)
    while not future.done():
        print(".", end="")
        time.sleep(0.01)
"""


@pytest.mark.parametrize("waiting", [FLAG, THREAD, FUTURE], ids=["flag", "thread", "future"])
def test_who_waits_for_what_another_computes_waits_as_long(twice: Twice, waiting: str) -> None:
    recorded, again = twice(f"{WORK}{waiting}print('done')\ntime.sleep(0.01)\ntime.sleep(0.01)\n")
    assert recorded.stdout.startswith("..")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "rerun exact" in again.stderr


def test_what_others_do_meanwhile_is_done_by_then(twice: Twice) -> None:
    """A sleep lasts until it is, where that took less of its time."""
    recorded, again = twice("""
import queue, threading, time

def take():
    while (item := items.get()) is not None:
        print("took", item)

items = queue.Queue()
taking = threading.Thread(target=take)
taking.start()
for item in range(20):
    print("put", item)
    items.put(item)
    time.sleep(0.05)
items.put(None)
taking.join()
""")
    assert recorded.stdout.split("\n")[:4] == ["put 0", "took 0", "put 1", "took 1"]
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
