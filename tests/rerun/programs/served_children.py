"""Children that multiprocessing's fork server forks, one of which starts another."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from common_openai import ask
from openai import OpenAI


def work(name):
    print(name, ask(OpenAI(), f"Process {name}"), flush=True)
    if name == "b":
        start("in b")


def answer(text):
    return ask(OpenAI(), text)


def start(name):
    child = multiprocessing.get_context("forkserver").Process(target=work, args=(name,))
    child.start()
    child.join()


if __name__ == "__main__":
    print(ask(OpenAI(), "Before"), flush=True)
    for name in "abc":
        start(name)
    with ProcessPoolExecutor(1, multiprocessing.get_context("forkserver")) as pool:
        print(list(pool.map(answer, "xy")))
    print(ask(OpenAI(), "After"))
