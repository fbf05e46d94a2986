"""Raw threads pull jobs from one queue: which thread takes which job is a true race."""

import queue
import threading

from common_openai import ask
from openai import OpenAI

client = OpenAI()
jobs = queue.Queue()
for n in range(12):
    jobs.put(n)
done = {}


def worker(name):
    history = []
    while True:
        try:
            job = jobs.get_nowait()
        except queue.Empty:
            return
        history.append(ask(client, f"Worker {name}, job {job}, after {len(history)}"))
        done[job] = (name, history[-1])


threads = [threading.Thread(target=worker, args=(name,)) for name in "abc"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for job in sorted(done):
    print(job, *done[job])
