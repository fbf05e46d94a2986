"""Pools of processes whose workers take jobs as they come: what a worker has counted is its own."""

import asyncio
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed

from common_openai import ask
from openai import OpenAI

count = 0
together = None


def begin(barrier):
    global together
    together = barrier


def meet(name):
    """Two of these are in two workers."""
    together.wait()
    return name


def work(name):
    global count
    count += 1
    first = ask(OpenAI(), f"{name} is job {count} here")
    return name, count, ask(OpenAI(), f"{name} once more", first)


def crunch(number):
    """Asks nobody: a worker that gets such jobs alone records nothing."""
    return number * number


def fail(name):
    raise ValueError(f"{name}: {ask(OpenAI(), name)}")


def with_futures(context):
    with ProcessPoolExecutor(2, context, begin, (context.Barrier(2),)) as pool:
        print(list(pool.map(meet, "yz")), list(pool.map(work, "abcdefg")))
        for future in as_completed([pool.submit(work, f"as completed {n}") for n in range(4)]):
            print(future.result())
        try:
            pool.submit(fail, "failing").result()
        except ValueError as error:
            print(repr(error))
        try:
            pool.submit(work, lambda: "not to be pickled").result()
        except Exception as error:
            print(type(error).__name__)


def with_a_pool(context):
    heard = []
    with context.Pool(2, begin, (context.Barrier(2),)) as pool:
        print(
            pool.map(meet, "yz", chunksize=1),
            pool.map(work, "abcde", chunksize=1),
            pool.map(crunch, range(10)),
        )
        for one in pool.imap_unordered(work, "vwxyz"):
            print(one)
        called = [pool.apply_async(work, (f"call {n}",), callback=heard.append) for n in range(3)]
        for each in called:
            each.wait()
        pool.close()
        pool.join()
    print(heard)


async def from_a_loop(context):
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(2, context, begin, (context.Barrier(2),)) as pool:
        print(await asyncio.gather(*[loop.run_in_executor(pool, meet, name) for name in "yz"]))
        print(await asyncio.gather(*[loop.run_in_executor(pool, crunch, n) for n in range(4)]))
        for job in asyncio.as_completed([loop.run_in_executor(pool, work, f"loop {n}") for n in range(4)]):
            print(await job)


def renewed_workers(context):
    with context.Pool(2, begin, (context.Barrier(2),), maxtasksperchild=2) as pool:
        print(pool.map(meet, "yz", chunksize=1), pool.map(work, "abcdef", chunksize=1))


def ended_workers(context):
    """By SIGTERM, as `with` does."""
    with context.Pool(2, begin, (context.Barrier(2),)) as pool:
        print(pool.map(meet, "yz", chunksize=1), pool.map(work, "abcd", chunksize=1))


if __name__ == "__main__":
    method, *parts = sys.argv[1:]
    context = multiprocessing.get_context(method)
    if "futures" in parts:
        with_futures(context)
    if "pool" in parts:
        with_a_pool(context)
    if "loop" in parts:
        asyncio.run(from_a_loop(context))
    if "ended" in parts:
        ended_workers(context)
    if "renewed" in parts:
        renewed_workers(context)
    print(ask(OpenAI(), "The end"))
