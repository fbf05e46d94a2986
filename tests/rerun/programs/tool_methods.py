"""Tools that are methods, of one object in several threads: what they changed of it is printed and sent."""

import threading
from concurrent.futures import ThreadPoolExecutor

from common_openai import ask
from openai import OpenAI

import lctl


class Shelf:
    def __init__(self):
        self.books = ["atlas"]


class Desk:
    def __init__(self):
        self.lock = threading.Lock()
        self.connection = None
        self.rows = []
        self.seen = set()
        self.totals = {"n": 0}
        self.shelf = Shelf()
        self.waiting = [{"job": n} for n in range(3)]
        self.done = []

    def add(self, row):
        with self.lock:
            self.connection = self.connection or object()  # what no recording can keep
            self.rows.append(row)
            self.seen.add(row)
            self.totals["n"] += 1
            self.shelf.books.append(f"book {row}")
            if self.waiting:
                self.done.append({**self.waiting.pop(0), "by": row})
            return len(self.rows)


def job(client, add, n):
    told = ask(client, f"Job {n}")
    return add(n), told


with OpenAI() as client, ThreadPoolExecutor(4) as pool:
    desk = Desk()
    add = lctl.tool(desk.add)
    print(list(pool.map(lambda n: job(client, add, n), range(8))))
    add(99)
    left = [desk.rows, sorted(desk.seen), desk.totals, desk.shelf.books, desk.waiting, desk.done]
    print(left, ask(client, str(left)))
