"""Works until somebody presses Ctrl-C, and then says how far it is: by itself, in threads, in tasks."""

import asyncio
import sys
import threading
import time

from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI


def work(until):
    number = 0
    while not until(number):
        print(number, ask(OpenAI(), f"Step {number}"), flush=True)
        number += 1


def by_itself():
    def sleep(_):
        return time.sleep(0.3)

    try:
        work(sleep)
    except KeyboardInterrupt:
        print("summary", ask(OpenAI(), "What was done?"))


def computing():
    def compute(_):
        total = 0
        for number in range(10_000_000):
            total += number

    try:
        work(compute)
    except KeyboardInterrupt:
        print("summary", ask(OpenAI(), "What was done?"))


def in_a_thread():
    ended = threading.Event()
    thread = threading.Thread(target=work, args=(lambda _: time.sleep(0.3) or ended.is_set(),))
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        ended.set()
        thread.join()
        print("summary", ask(OpenAI(), "What was done?"))


async def in_tasks():
    async def work(name):
        number = 0
        try:
            while True:
                print(name, number, await ask_async(client, f"{name} {number}"), flush=True)
                number += 1
                await asyncio.sleep(0.3)
        finally:
            print("put away", name, flush=True)

    client = AsyncOpenAI()
    both = asyncio.gather(work("a"), work("b"))
    try:
        await both
    except asyncio.CancelledError:
        print("cancelled", await ask_async(client, "What was done?"))
        raise


if sys.argv[1] == "tasks":
    try:
        asyncio.run(in_tasks())
    except KeyboardInterrupt:
        print("interrupted")
elif sys.argv[1] == "uncaught":
    work(lambda _: time.sleep(0.3))
else:
    {"itself": by_itself, "thread": in_a_thread, "computing": computing}[sys.argv[1]]()
