"""Dask's delayed calls, in order and in threads: their keys are drawn by chance."""

import dask
from common_openai import ask
from openai import OpenAI

client = OpenAI()


@dask.delayed
def work(n):
    return ask(client, f"part {n}")


@dask.delayed
def join(parts):
    return ask(client, " ".join(parts))


for scheduler in ("synchronous", "threads"):
    print(join([work(n) for n in range(4)]).compute(scheduler=scheduler))
