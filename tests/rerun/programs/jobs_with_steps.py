"""Jobs of a pool that are steps with tools, recorded by `auto_instrument()` alone: whose step ends first depends on
which thread goes on first between two answers."""

from concurrent.futures import ThreadPoolExecutor

import lctl

lctl.auto_instrument()


@lctl.tool
def fetch(n):
    return n * 2


@lctl.tool
def store(n):
    return f"stored {n}"


@lctl.traced("job", "work")
def job(n):
    return store(fetch(n)) if n % 3 else fetch(n)


@lctl.traced("check", "count")
def check(n):
    return n


with ThreadPoolExecutor(4) as pool:
    for _ in range(3):
        print(list(pool.map(job, range(12))), list(pool.map(check, range(4))))
