"""Children that are forks: of multiprocessing, of a pool with one worker, and by os.fork."""

import multiprocessing
import os
import random
import sys
from functools import partial

from common_openai import ask
from openai import OpenAI

print = partial(print, flush=True)  # a fork takes what is not written yet with it


def work(n):
    print("in child", n, ask(OpenAI(), f"Process {n} {random.random()}"))
    ask(OpenAI(), f"Again {n}")


def answer(text):
    return ask(OpenAI(), text)


if __name__ == "__main__":
    fork = multiprocessing.get_context("fork")
    print(ask(OpenAI(), "Before"))
    for n in range(2):
        child = fork.Process(target=work, args=(n,))
        child.start()
        child.join()
    print(ask(OpenAI(), "Between"))
    pid = os.fork()
    if not pid:
        print("forked", ask(OpenAI(), "In the fork"))
        sys.exit(0)
    os.waitpid(pid, 0)
    with fork.Pool(1) as pool:
        print(pool.map(answer, ["a", "b"]))
    print(ask(OpenAI(), "After"))
