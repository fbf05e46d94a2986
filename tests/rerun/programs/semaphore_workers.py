"""Threads at semaphores: who gets them first, and who gets them at all. How long each of two stands still before,
the environment says (WAIT: seconds)."""

import os
import select
import threading
from concurrent.futures import ThreadPoolExecutor

from common_openai import ask
from openai import OpenAI

import lctl

if os.environ.get("AUTO"):
    lctl.auto_instrument()
client = OpenAI()
waits = [float(seconds) for seconds in os.environ.get("WAIT", "0,0").split(",")]


def stand(n):
    """In the world's time, whatever becomes of the program's."""
    if waits[n]:
        select.select([], [], [], waits[n])


def limited(n):
    stand(n % 2)
    with limit:
        order.append(n)
        return ask(client, f"{len(order)}: {n}")


def looked(n):
    stand(n)
    for _ in range(2):
        if one.acquire(blocking=False):
            found = "at once"
        elif one.acquire(timeout=0.05):
            found = "later"
        else:
            seen.append((n, "never", ask(client, f"{n}, never")))
            continue
        seen.append((n, found, ask(client, f"{n}, {found}")))
        stand(n)
        one.release()


limit, order = threading.BoundedSemaphore(2), []
with ThreadPoolExecutor(4) as pool:
    print(*pool.map(limited, range(6)), order, sep="\n")
one, seen = threading.Semaphore(), []
threads = [threading.Thread(target=looked, args=(n,)) for n in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*seen, ask(client, f"Seen: {seen}"), sep="\n")
