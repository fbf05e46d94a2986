"""Works until it is told to stop, and says how far it is when it is asked: in threads, tasks, tools, or by
itself."""

import asyncio
import signal
import sys
import threading
import time

from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI

import lctl


class Stopped(Exception):
    pass


done = 0
stop = False
said = []


def say(*_):
    said.append(f"done {done}")


def end(*_):
    global stop
    stop = True


def leave(*_):
    raise Stopped


def work():
    while not stop:
        time.sleep(0.03)


def in_turns():
    global done
    client = OpenAI()
    signal.signal(signal.SIGUSR1, say)
    before = signal.signal(signal.SIGTERM, end)
    assert before is signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is end
    threading.Thread(target=work).start()
    while not stop:
        print(ask(client, f"Step {done}"), flush=True)
        done += 1
        time.sleep(0.3)
    print(said)
    print(ask(client, f"That was all: {done}"))


def by_exception():
    global done
    client = OpenAI()
    signal.signal(signal.SIGUSR1, say)
    signal.signal(signal.SIGTERM, leave)
    try:
        while True:
            print(ask(client, f"Step {done}"), flush=True)
            done += 1
            time.sleep(0.3)
    except Stopped:
        print(said)
        print(ask(client, f"That was all: {done}"))


def computing():
    global done
    client, total = OpenAI(), 0
    signal.signal(signal.SIGUSR1, say)
    signal.signal(signal.SIGTERM, leave)
    try:
        while True:
            print(ask(client, f"Step {done}"), flush=True)
            for number in range(6_000_000):
                total += number
            done += 1
    except Stopped:
        print(said)
        print(ask(client, f"That was all: {done}"))


@lctl.tool
def look(number):
    print("looks", number, flush=True)
    time.sleep(0.3)
    return f"seen {number}"


def in_tools():
    global done
    client, told = OpenAI(), {"stop": False, "said": []}
    signal.signal(signal.SIGUSR1, lambda *_: told["said"].append(f"done {done} at {time.time()}"))
    signal.signal(signal.SIGTERM, lambda *_: told.update(stop=True))
    while not told["stop"]:
        print(ask(client, f"Step {done}"), flush=True)
        ask(client, look(done))
        done += 1
    print(told["said"])
    print(ask(client, f"That was all: {done}"))


async def in_tasks():
    global done
    client, ended = AsyncOpenAI(), asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, say)
    loop.add_signal_handler(signal.SIGTERM, ended.set)

    async def beat():
        while not ended.is_set():
            await asyncio.sleep(0.03)

    beating = asyncio.create_task(beat())
    while not ended.is_set():
        print(await ask_async(client, f"Step {done}"), flush=True)
        done += 1
        try:
            await asyncio.wait_for(ended.wait(), 0.3)
        except TimeoutError:
            pass
    await beating
    print(said)
    print(await ask_async(client, f"That was all: {done}"))


if sys.argv[1] == "tasks":
    asyncio.run(in_tasks())
else:
    ways = {"turns": in_turns, "exception": by_exception, "computing": computing, "tools": in_tools}
    ways[sys.argv[1]]()
