"""A worker asks for what no recording has; who waits for its answer would wait for ever."""

import multiprocessing
import os

from common_openai import ask
from openai import OpenAI


def work(results):
    with OpenAI() as client:
        results.put(ask(client, f"Process {os.stat('/proc/self').st_ino}."))


if __name__ == "__main__":
    results = multiprocessing.get_context("fork").Queue()
    worker = multiprocessing.get_context("fork").Process(target=work, args=(results,))
    worker.start()
    print(results.get())
    worker.join()
