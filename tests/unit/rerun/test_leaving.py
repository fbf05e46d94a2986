"""What still waits for its turn when `with lctl.rerun(...)` is left goes on: the program does, too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

#: Two jobs at once. In the recording the second ends after the first; in the rerun the first still runs when
#: the block is left, and the second is done and waits for it to be.
JOBS = """
import sys, threading, time
from concurrent.futures import ThreadPoolExecutor
import lctl

again = sys.argv[1] == "again"
both, left, done = threading.Barrier(2), threading.Event(), threading.Event()

@lctl.tool
def look(city):
    return f"Sunny in {city}"

def first():
    both.wait()
    if again:
        left.wait()

def second(other):
    both.wait()
    if not again:
        other[0].result()
        time.sleep(0.05)
    done.set()

def main(pool):
    print(look("Rome"))
    jobs = []
    jobs.append(pool.submit(first))
    jobs.append(pool.submit(second, jobs))
    if not again:
        return [job.result() for job in jobs]
    while not done.is_set():
        pass
    until = time.process_time() + 0.3
    while time.process_time() < until:  # at work: nobody's turn comes
        pass
    return jobs

with ThreadPoolExecutor(2) as pool:
    if again:
        with lctl.rerun("x.lctl.json"):
            jobs = main(pool)
        left.set()
        print([job.result() for job in jobs])
    else:
        with lctl.LCTLSession("x", "x.lctl.json"):
            main(pool)
print("ended")
"""

#: A thread sleeps, one waits with a timeout, a loop of its own thread sleeps: on virtual time, which stands
#: still while the block is at work. What of a timeout is left then is of real time.
SLEEPERS = """
import asyncio, queue, sys, threading, time
import lctl

again = sys.argv[1] == "again"

@lctl.tool
def look(city):
    return f"Sunny in {city}"

def get():
    try:
        queue.Queue().get(timeout=0.5)
    except queue.Empty:
        pass

def main():
    print(look("Rome"))
    if not again:
        return []
    begun = [threading.Event() for _ in range(3)]
    def go(n, what, *args):
        begun[n].set()
        what(*args)
    async def nap():
        begun[2].set()
        await asyncio.sleep(0.2)
    threads = [threading.Thread(target=go, args=(0, time.sleep, 3600)),
               threading.Thread(target=go, args=(1, get)),
               threading.Thread(target=lambda: asyncio.run(nap()))]
    for thread in threads:
        thread.start()
    until = time.process_time() + 0.3
    while time.process_time() < until or not all(one.is_set() for one in begun):
        pass
    return threads

if again:
    with lctl.rerun("x.lctl.json"):
        threads = main()
    for thread in threads:
        thread.join()
else:
    with lctl.LCTLSession("x", "x.lctl.json"):
        main()
print("ended")
"""


@pytest.mark.slow
@pytest.mark.interpreter
@pytest.mark.parametrize("program", [JOBS, SLEEPERS], ids=["jobs", "sleepers"])
def test_a_program_goes_on_behind_the_block(program: str, tmp_path: Path) -> None:
    for run in ("record", "again"):
        done = subprocess.run(
            [sys.executable, "-c", program, run],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("Sunny in Rome\n")
        assert done.stdout.endswith("ended\n")
