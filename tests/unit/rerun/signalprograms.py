"""Programs that wait for what a tool does; each a text that is run on its own."""

from __future__ import annotations

BEGIN = """
import asyncio, queue, threading, weakref
from concurrent.futures import Future
import lctl

"""


PROGRAMS = {
    "queue of a loop": """
async def main():
    items = asyncio.Queue()

    @lctl.tool
    async def put(what):
        await items.put({"what": what})
        return "put"

    task = asyncio.create_task(put("tea"))
    print(await items.get(), await task, items.qsize())

asyncio.run(main())
""",
    "queue of threads": """
items, sizes = queue.Queue(), queue.PriorityQueue()
simple = queue.SimpleQueue()

@lctl.tool
def put(what):
    items.put(what)
    sizes.put(2)
    sizes.put(1)
    simple.put(what)

thread = threading.Thread(target=put, args=("tea",))
thread.start()
print(items.get(), sizes.get(), sizes.get(), simple.get())
thread.join()
""",
    "one that is full": """
items = asyncio.Queue(maxsize=1)

@lctl.tool
async def take():
    return [await items.get(), await items.get()]

async def main():
    task = asyncio.create_task(take())
    for number in range(3):
        await items.put(number)
        print("put", number)
    print(await task, items.qsize())

asyncio.run(main())
""",
    "questions while it runs": """
async def main():
    asked, answered, log = asyncio.Queue(), asyncio.Queue(), []

    @lctl.tool
    async def brew(what):
        log.append("asked")
        await asked.put(what)
        with_what = await answered.get()
        await asyncio.sleep(0.02)
        log.append("asked again")
        await asked.put(with_what)
        return [with_what, await answered.get()]

    @lctl.tool
    async def answer(question):
        await asyncio.sleep(0.01)
        return f"{question}!"

    task = asyncio.create_task(brew("tea"))
    for _ in range(2):
        question = await asked.get()
        print(question, log)
        await answered.put(await answer(question))
    print(await task)

asyncio.run(main())
""",
    "attributes": """
class Shop:
    def __init__(self):
        self.items, self.open, self.sold = asyncio.Queue(), asyncio.Event(), asyncio.Future()
        self.names = []

    @lctl.tool
    async def sell(self, what):
        self.names.append(what)
        await self.items.put(what)
        self.open.set()
        self.sold.set_result(what)

async def main():
    shop = Shop()
    task = asyncio.create_task(shop.sell("tea"))
    print(await shop.items.get(), shop.names, await shop.open.wait(), await shop.sold)
    await task

asyncio.run(main())
""",
    "futures": """
async def main():
    good, bad = asyncio.Future(), asyncio.Future()

    @lctl.tool
    async def finish(what):
        await asyncio.sleep(0.01)
        good.set_result([what])
        bad.set_exception(ValueError("no " + what))

    task = asyncio.create_task(finish("tea"))
    print(await good, await asyncio.gather(bad, return_exceptions=True))
    await task

asyncio.run(main())
""",
    "conditions and semaphores": """
ready, places, items = threading.Condition(), threading.Semaphore(0), []
done = Future()

@lctl.tool
def add(what):
    with ready:
        items.append(what)
        ready.notify_all()
    places.release()
    done.set_result(what)

thread = threading.Thread(target=add, args=("tea",))
with ready:
    thread.start()
    ready.wait_for(lambda: items)
print(items, places.acquire(), done.result())
thread.join()
""",
    "from a thread": """
async def main():
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    items, done = asyncio.Queue(), asyncio.Future()

    @lctl.tool
    def work(what):
        loop.call_soon_threadsafe(ready.set)
        loop.call_soon_threadsafe(items.put_nowait, what)
        loop.call_soon_threadsafe(done.set_result, what)

    task = asyncio.create_task(asyncio.to_thread(work, "tea"))
    print(await ready.wait(), await items.get(), await done, await task)

asyncio.run(main())
""",
    "arguments and callbacks": """
def main():
    items, heard, came = queue.Queue(), [], threading.Event()

    def hear(what):
        heard.append(what)
        came.set()

    @lctl.tool
    def work(items, hear):
        items.put(1)
        hear("tea")

    thread = threading.Thread(target=work, args=(items, hear))
    thread.start()
    came.wait()
    print(items.get(), heard)
    thread.join()

main()
""",
    "subscribers, weakly held": """
class Shop:
    pass

async def main():
    shop = Shop()
    shop.items = {1: asyncio.Queue(), 2: asyncio.Queue()}
    held = weakref.ref(shop)

    @lctl.tool
    async def sell(number):
        for each in held().items.values():
            each.put_nowait(number)
        await asyncio.sleep(0.01 * number)
        return number

    tasks = {asyncio.create_task(sell(number)) for number in (3, 1, 2)}
    while tasks:
        done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        print([task.result() for task in done], [one.get_nowait() for one in shop.items.values()])

asyncio.run(main())
""",
    "a generator, one that fails, one that is cancelled": """
async def main():
    items = asyncio.Queue()

    @lctl.tool
    async def count(to):
        for number in range(to):
            items.put_nowait(number)
            yield number
        items.put_nowait(None)

    @lctl.tool
    async def fail():
        items.put_nowait("failing")
        raise ValueError("no tea")

    @lctl.tool
    async def brew():
        items.put_nowait("brewing")
        await asyncio.sleep(3600)

    print([number async for number in count(2)], [await items.get() for _ in range(3)])
    for tool in (fail, brew):
        task = asyncio.create_task(tool())
        print(await items.get())
        if tool is brew:
            task.cancel()
        print(await asyncio.gather(task, return_exceptions=True))

asyncio.run(main())
""",
}


_TRIO = """
import trio

async def main():
    send, receive = trio.open_memory_channel(2)
    ready = trio.Event()

    @lctl.tool
    async def put(what):
        await send.send(what)
        ready.set()

    @lctl.tool
    async def wait(number):
        await trio.sleep(3600)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(put, "tea")
        print(await receive.receive(), await ready.wait())
    for _ in range(5):
        with trio.move_on_after(0.05):
            async with trio.open_nursery() as nursery:
                for number in range(4):
                    nursery.start_soon(wait, number)

trio.run(main)
"""


_ANYIO = """
import anyio

async def main():
    send, receive = anyio.create_memory_object_stream(2)
    ready = anyio.Event()

    @lctl.tool
    async def put(what):
        await send.send(what)
        ready.set()

    async with anyio.create_task_group() as group, receive:
        group.start_soon(put, "tea")
        print(await receive.receive(), await ready.wait())
    send.close()

anyio.run(main)
"""


_SCHEDULER = """
import time
from datetime import datetime, timedelta
from apscheduler.schedulers.background import BackgroundScheduler

made, done = [], threading.Event()

@lctl.tool
def brew(number):
    return number

def job():
    made.append(brew(len(made)))
    if len(made) == 6:
        done.set()

# Each half of a second one: how late a machine has them begin, no tape has.
whole = datetime.now().replace(microsecond=0) + timedelta(seconds=1)
scheduler = BackgroundScheduler()
scheduler.add_job(job, "cron", second="*", start_date=whole)
scheduler.add_job(job, "interval", seconds=2, start_date=whole + timedelta(seconds=0.5))
scheduler.add_job(job, "date", run_date=whole + timedelta(seconds=1.5))
scheduler.start()
done.wait()
scheduler.shutdown()
print(made)
"""


OF_LIBRARIES = {"trio": _TRIO, "anyio": _ANYIO, "apscheduler": _SCHEDULER}


STANDING = {
    "threads": """
lock = threading.Lock()
lock.acquire()

@lctl.tool
def unlock():
    lock.release()

threading.Thread(target=unlock).start()
lock.acquire()  # here
""",
    "an event between processes": """
import multiprocessing
event = multiprocessing.Event()

@lctl.tool
def unlock():
    event.set()

threading.Thread(target=unlock).start()
event.wait()  # here
""",
    "tasks": """
lock = asyncio.Lock()

@lctl.tool
async def unlock():
    lock.release()

async def wait():
    await lock.acquire()  # here

async def main():
    await lock.acquire()
    await asyncio.gather(wait(), unlock())

asyncio.run(main())
""",
}


HANGING = """
@lctl.tool
def wait():
    print("waiting", flush=True)

wait()
try:
    threading.Event().wait()
except KeyboardInterrupt:
    print("interrupted")
    raise
"""
