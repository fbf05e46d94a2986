"""Pool jobs whose answers come at once: as_completed, wait for the first, callbacks, wait with a limit."""

import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, as_completed, wait

from common_openai import ask
from openai import OpenAI

client = OpenAI()


def job(n):
    return n, ask(client, f"Job {n}")


with ThreadPoolExecutor(6) as pool:
    for _ in range(4):
        print([done.result()[0] for done in as_completed([pool.submit(job, n) for n in range(6)])])
    left = {pool.submit(job, n): n for n in range(6)}
    while left:
        done, _ = wait(left, return_when=FIRST_COMPLETED)
        print([left.pop(one) for one in done])
    said = []
    jobs = [pool.submit(job, n) for n in range(6)]
    for one in jobs:
        one.add_done_callback(lambda one: said.append(one.result()[0]))
    wait(jobs)
    held = threading.Event()
    never = pool.submit(held.wait)
    try:
        for one in as_completed([*[pool.submit(job, n) for n in range(4)], never], timeout=1):
            print("in time", one.result()[0])
    except TimeoutError as late:
        print(late)
    done, rest = wait([never, pool.submit(job, 7)], timeout=0.5)
    print(len(done), len(rest))
    held.set()
print(said)
