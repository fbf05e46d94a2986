"""Threads at `SimpleQueue`s, and tasks of multiprocessing's `ThreadPool`: who is first. How long each of two
stands still before it goes on, the environment says (WAIT: seconds)."""

import os
import queue
import select
import threading
from multiprocessing.pool import ThreadPool

from common_openai import ask
from openai import OpenAI

import lctl

if os.environ.get("AUTO"):
    lctl.auto_instrument()
client = OpenAI()
waits = [float(seconds) for seconds in os.environ.get("WAIT", "0,0").split(",")]


class Named(queue.SimpleQueue):
    def __init__(self, name):
        self.name = name


def stand(n):
    """In the world's time, whatever becomes of the program's."""
    if waits[n]:
        select.select([], [], [], waits[n])


def taken():
    """Both wait for items, and ask about what they got."""
    jobs, found = queue.SimpleQueue(), Named("found")
    for item in range(3):
        jobs.put(item)

    def work(n):
        stand(n)
        while (item := jobs.get()) is not None:
            found.put((n, item, ask(client, f"{found.name}: worker {n}, job {item}")))
            stand(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    got = [found.get() for _ in range(3)]
    for _ in threads:
        jobs.put(None)
    for thread in threads:
        thread.join()
    return got


def task(n):
    answer = ask(client, f"Task {n}")
    stand(n % 2)
    if n == 3:
        raise ValueError(n)
    return n, answer, ask(client, f"Then {n}")


def followed(result):
    """A callback, in a thread of the pool's own."""
    told.append((result[0], ask(client, f"Done: {result[0]}")))


told = []
print(*taken(), sep="\n")
with ThreadPool(2) as pool:
    print(*pool.map(task, range(3)), pool.map(task, []), sep="\n")
    print(*pool.imap_unordered(task, [1, 0, 2]), sep="\n")
    for result in [pool.apply_async(task, (n,), callback=followed) for n in (1, 0, 2)]:
        result.wait()
    print(*told, sep="\n")
    try:
        pool.map(task, range(4), chunksize=1)
    except ValueError as error:
        print("failed", error)
    print(ask(client, f"{pool.starmap(max, [(1, 2), (4, 3)])} {pool.apply(task, (0,))}"))
