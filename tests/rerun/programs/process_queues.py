"""Processes that share a queue of tasks and one of results: `process_queues.py METHOD PART`."""

import asyncio
import multiprocessing
import queue
import sys
import threading
from dataclasses import dataclass

from common_openai import ask
from openai import OpenAI


@dataclass
class Task:
    number: int
    text: str


def say(number):
    with OpenAI() as client:
        return number, ask(client, f"Task {number}.")


def until_none(tasks, results):
    while (task := tasks.get()) is not None:
        results.put(say(task.number if isinstance(task, Task) else task))


def for_ever(tasks, results):
    while True:
        results.put(say(tasks.get()))
        tasks.task_done()


def for_a_while(tasks, results):
    while True:
        try:
            results.put(say(tasks.get(timeout=0.3)))
        except queue.Empty:
            results.put(None)
            return


class Workers:
    def __init__(self, context, work, tasks, results, *, daemon=False):
        self.results = results
        self.processes = [
            context.Process(target=work, args=(tasks, results), daemon=daemon) for _ in range(3)
        ]
        for process in self.processes:
            process.start()

    def join(self):
        for process in self.processes:
            process.join()


def ended(context, tasks, results, make=int):
    """Each takes until there is nothing more."""
    workers = Workers(context, until_none, tasks, results)

    def put():
        for number in range(8):
            tasks.put(make(number))
        for _ in workers.processes:
            tasks.put(None)

    putting = threading.Thread(target=put)
    putting.start()
    print([results.get() for _ in range(8)])
    putting.join()
    workers.join()


async def awaited(context, tasks, results):
    """By threads of an event loop."""
    workers = Workers(context, until_none, tasks, results)
    for number in range(6):
        tasks.put(number)
    for _ in workers.processes:
        tasks.put(None)
    print([await asyncio.to_thread(results.get) for _ in range(6)])
    await asyncio.get_running_loop().run_in_executor(None, workers.join)


def main(method, part):
    context = multiprocessing.get_context(method)
    tasks, results = context.Queue(), context.Queue()
    if part == "ended":
        ended(context, tasks, results)
    elif part == "objects":
        ended(context, tasks, results, lambda number: Task(number, "x" * 50_000))
    elif part == "bounded":
        ended(context, context.Queue(2), context.Queue(2))
    elif part == "simple":
        ended(context, context.SimpleQueue(), context.SimpleQueue())
    elif part == "managed":
        with context.Manager() as manager:
            ended(context, manager.Queue(2), manager.Queue())
    elif part == "awaited":
        with context.Manager() as manager:
            asyncio.run(awaited(context, tasks, manager.Queue()))
    elif part == "killed":
        tasks = context.JoinableQueue()
        Workers(context, for_ever, tasks, results, daemon=True)
        for number in range(4):
            tasks.put(number)
        tasks.join()
        print([results.get() for _ in range(4)], results.empty())
    elif part == "idle":  # those that get no task do nothing that is recorded
        Workers(context, until_none, tasks, results, daemon=True)
        tasks.put(0)
        print(results.get())
    elif part == "patient":
        for number in range(5):
            tasks.put(number)
        workers = Workers(context, for_a_while, tasks, results)
        told = []
        while told.count(None) < 3:
            told.append(results.get())
        print(told)
        workers.join()
        try:
            results.get_nowait()
        except queue.Empty:
            print("empty")
    elif part == "collected":
        collected, is_all = [], threading.Event()

        def collect():
            while True:  # until the program ends
                collected.append(results.get())
                if len(collected) == 4:
                    is_all.set()

        threading.Thread(target=collect, daemon=True).start()
        Workers(context, until_none, tasks, results, daemon=True)
        for number in range(4):
            tasks.put(number)
        is_all.wait()
        print(collected)


if __name__ == "__main__":
    main(*sys.argv[1:])
