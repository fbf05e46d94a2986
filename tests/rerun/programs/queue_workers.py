"""Threads at queues: who takes, puts and looks first. How long each of them stands still before it does, the
environment says (WAIT: seconds, one for each of two)."""

import os
import queue
import select
import threading

from common_openai import ask
from openai import OpenAI

import lctl

if os.environ.get("AUTO"):
    lctl.auto_instrument()
client = OpenAI()
waits = [float(seconds) for seconds in os.environ.get("WAIT", "0,0").split(",")]


class Backwards(queue.Queue):
    """Keeps its items in its own way."""

    def _init(self, maxsize):
        self.items = []

    def _qsize(self):
        return len(self.items)

    def _put(self, item):
        self.items.insert(0, item)

    def _get(self):
        return self.items.pop(0)


def stand(n):
    """In the world's time, whatever becomes of the program's."""
    if waits[n]:
        select.select([], [], [], waits[n])


def both(act):
    threads = [threading.Thread(target=act, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    return threads


def taken(kind):
    """Both wait for items, and ask about what they got."""
    jobs, found = kind(), queue.Queue()
    for n in range(3):
        jobs.put(n)

    def work(n):
        stand(n)
        while (item := jobs.get()) is not None:
            found.put((n, item, ask(client, f"{kind.__name__}: worker {n}, job {item}")))
            stand(n)

    threads = both(work)
    got = [found.get() for _ in range(3)]
    for _ in threads:
        jobs.put(None)
    for thread in threads:
        thread.join()
    return got


def put():
    jobs = queue.Queue(maxsize=1)

    def produce(n):
        stand(n)
        for item in range(2):
            jobs.put((n, item))

    both(produce)
    return [(n, item, ask(client, f"Item {item} of {n}")) for n, item in (jobs.get() for _ in range(4))]


def looked():
    """One puts, the other looks whether there is something: in three ways."""
    seen = []
    for look in (queue.Queue.qsize, queue.Queue.get_nowait, lambda jobs: jobs.get(timeout=0.05)):
        jobs = queue.Queue()

        def act(n, look=look, jobs=jobs):
            stand(n)
            if n == 0:
                jobs.put("something")
                return
            try:
                seen.append(look(jobs))
            except queue.Empty:
                seen.append("nothing")

        for thread in both(act):
            thread.join()
    return seen


for kind in (queue.Queue, queue.LifoQueue, Backwards):
    print(*taken(kind), sep="\n")
print(*put(), sep="\n")
there = looked()
print(there, ask(client, f"Seen: {there}"))
