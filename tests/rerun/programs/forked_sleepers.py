"""A forked child that sleeps, is rung by the system's timer, hands its loop what threads have, and has threads
wait for what was made before the fork."""

import asyncio
import os
import queue
import random
import signal
import sys
import threading
import time
from hashlib import pbkdf2_hmac


beats = []


def beat(*_: object) -> None:
    pbkdf2_hmac("sha256", b"x", b"y", 100_000)
    beats.append(round(time.time()))


async def main() -> None:
    loop = asyncio.get_running_loop()
    heard: asyncio.Queue[int] = asyncio.Queue()

    def tell(number: int) -> None:
        time.sleep(0.02 * number)
        loop.call_soon_threadsafe(heard.put_nowait, number)

    for number in (3, 1, 2):
        threading.Thread(target=tell, args=(number,)).start()
    print([await heard.get() for _ in range(3)], flush=True)


def work():
    while (number := asked.get()) is not None:
        with room:
            time.sleep(random.random() / 100)
            print(threading.current_thread().name, number, flush=True)


asked: queue.Queue[int | None] = queue.Queue()
room = threading.Semaphore(2)
child = os.fork()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
signal.signal(signal.SIGALRM, beat)
signal.setitimer(signal.ITIMER_REAL, 0.4, 0.4)
time.sleep(1.4)
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(beats), flush=True)
asyncio.run(main())
workers = [threading.Thread(target=work, name=name) for name in ("a", "b", "c")]
for worker in workers:
    worker.start()
for number in (*range(9), None, None, None):
    asked.put(number)
