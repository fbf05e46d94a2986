"""What tools do that the program waits for: a rerun, which does not run the tools, does it again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.rerun.harness import LCTL, Result, run

_BEGIN = """
import asyncio, queue, threading, weakref
from concurrent.futures import Future
import lctl

"""

_PROGRAMS = {
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

scheduler = BackgroundScheduler()
scheduler.add_job(job, "cron", second="*")
scheduler.add_job(job, "interval", seconds=0.3)
scheduler.add_job(job, "date", run_date=datetime.now() + timedelta(seconds=0.75))
scheduler.start()
done.wait()
scheduler.shutdown()
print(made)
"""

_OF_LIBRARIES = {"trio": _TRIO, "anyio": _ANYIO, "apscheduler": _SCHEDULER}

_STANDING = {
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

_HANGING = """
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


def _recorded(text: str, folder: Path) -> tuple[Result, Path, dict[str, str]]:
    program, log = folder / "tea.py", folder / "tea.lctl.json"
    program.write_text(_BEGIN + text)
    environ = {"LCTL_DIR": str(folder), "LCTL_STRICT": "1"}
    first = run([*LCTL, "run", "--output", str(log), str(program)], folder, environ, log)
    assert first.code == 0, first.err
    return first, log, environ


@pytest.mark.parametrize("name", _PROGRAMS)
def test_what_waits_for_a_tool_goes_on(name: str, tmp_path: Path) -> None:
    """It would wait for ever."""
    first, log, environ = _recorded(_PROGRAMS[name], tmp_path)
    again = tmp_path / "again.lctl.json"
    rerun = run([*LCTL, "rerun", str(log), "--output", str(again)], tmp_path, environ, again)
    assert rerun.code == 0, rerun.err
    assert (rerun.out, rerun.events) == (first.out, first.events)


@pytest.mark.parametrize("name", _OF_LIBRARIES)
def test_what_waits_by_a_library_goes_on(name: str, tmp_path: Path) -> None:
    """Of several tasks cancelled at once trio draws who goes on first; a scheduler asks for the date."""
    pytest.importorskip(name)
    first, log, environ = _recorded(_OF_LIBRARIES[name], tmp_path)
    again = tmp_path / "again.lctl.json"
    rerun = run([*LCTL, "rerun", str(log), "--output", str(again)], tmp_path, environ, again)
    assert rerun.code == 0, rerun.err
    assert (rerun.out, rerun.events) == (first.out, first.events)


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell what threads wait for")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "tasks" else pytest.mark.slow) for name in _STANDING]
)
def test_a_rerun_in_which_nothing_can_happen_says_where_it_waits(name: str, tmp_path: Path) -> None:
    """A lock that a tool lets go of, an event that it sets: nothing tells that it did."""
    _, log, environ = _recorded(_STANDING[name], tmp_path)
    again = tmp_path / "again.lctl.json"
    rerun = run([*LCTL, "rerun", str(log), "--output", str(again)], tmp_path, environ, again)
    assert rerun.code == 1
    lines = (tmp_path / "tea.py").read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.endswith("# here"))
    assert "nothing can happen any more" in rerun.err
    assert f"tea.py:{line}" in rerun.err


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell what threads wait for")
def test_a_program_that_was_interrupted_while_it_waited_is_interrupted_there(tmp_path: Path) -> None:
    """By hand, from outside: nothing else ends what it waits for."""
    program, log, again = (tmp_path / part for part in ("tea.py", "tea.lctl.json", "again.lctl.json"))
    program.write_text(_BEGIN + _HANGING)
    environ = {"LCTL_DIR": str(tmp_path), "LCTL_STRICT": "1"}
    recorded = [*LCTL, "run", "--output", str(log), str(program)]
    with subprocess.Popen(recorded, env={**os.environ, **environ}, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"waiting\n"
        time.sleep(0.5)  # until it waits
        os.kill(first.pid, signal.SIGINT)
        first.wait(60)
    rerun = run([*LCTL, "rerun", str(log), "--output", str(again)], tmp_path, environ, again)
    assert (rerun.code, rerun.out) == (130, "waiting\ninterrupted\n"), rerun.err
    assert "rerun exact" in rerun.err
