"""Lets children work for a while, and ends them by signals: one that knows nothing of it, two that do."""

import itertools
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time

CHILD = """
import random, signal, sys, time
def end(*_):
    print("told to end", flush=True)
    time.sleep(0.1)
    sys.exit(3)
signal.signal(signal.SIGTERM, end)
print("started", random.random(), flush=True)
while True:
    time.sleep(0.2)
    print("still here", flush=True)
"""


def work():
    for number in itertools.count():
        print("works", number, random.random(), flush=True)
        time.sleep(0.2)


if __name__ == "__main__":
    worker = multiprocessing.get_context("fork").Process(target=work)
    worker.start()
    time.sleep(0.7)
    worker.terminate()
    worker.join()
    print(worker.exitcode, flush=True)
    started = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True)
    print(started.stdout.readline(), end="")
    time.sleep(0.7)
    started.terminate()
    print(started.stdout.read(), end="")
    print(started.wait(), flush=True)
    forked = os.fork()
    if not forked:
        work()
    time.sleep(0.7)
    os.kill(forked, signal.SIGKILL)
    print(os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]))
