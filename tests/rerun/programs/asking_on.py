"""Two threads that ask without a pause whether there is something for them."""

from __future__ import annotations

import queue
import threading
import time

stop = threading.Event()
jobs: queue.Queue[str] = queue.Queue()


def until_stopped() -> None:
    while not stop.is_set():
        pass


def until_given() -> None:
    while True:
        try:
            print(jobs.get_nowait())
            return
        except queue.Empty:
            pass


threads = [threading.Thread(target=until_stopped), threading.Thread(target=until_given)]
for thread in threads:
    thread.start()
time.sleep(1)
stop.set()
jobs.put("a job")
for thread in threads:
    thread.join()
print("done")
