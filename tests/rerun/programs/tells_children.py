"""Lets children work until it tells them to stop, by signals that their handlers only note."""

import asyncio
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time

CHILD = """
import random, signal, time
stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
signal.signal(signal.SIGUSR1, lambda *_: print("asked", flush=True))
print("started", random.random(), flush=True)
count = 0
while not stop:
    count += 1
    print("still here", count, flush=True)
    time.sleep(0.2)
print("stopped", random.random())
"""


def work():
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    count = 0
    while not stop:
        print("works", count, random.random(), flush=True)
        count += 1
        time.sleep(0.2)
    print("has worked", count, flush=True)


async def serve():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, stop.set)
    while not stop.is_set():
        print("serves", random.random(), flush=True)
        try:
            await asyncio.wait_for(stop.wait(), 0.2)
        except TimeoutError:
            pass
    print("has served", flush=True)


if __name__ == "__main__":
    worker = multiprocessing.get_context("fork").Process(target=work)
    worker.start()
    time.sleep(0.7)
    worker.terminate()
    worker.join()
    print(worker.exitcode, flush=True)
    started = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True)
    print(started.stdout.readline(), end="")
    time.sleep(0.5)
    started.send_signal(signal.SIGUSR1)
    time.sleep(0.5)
    started.terminate()
    print(started.stdout.read(), end="")
    print(started.wait(), flush=True)
    forked = os.fork()
    if not forked:
        asyncio.run(serve())
        sys.exit(4)
    time.sleep(0.7)
    os.kill(forked, signal.SIGHUP)
    print(os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]))
