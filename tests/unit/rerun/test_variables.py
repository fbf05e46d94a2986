"""What tools change of the variables around them is the same in a rerun, which serves them and runs none."""

from __future__ import annotations

import pytest

from tests.unit.rerun.commands import Ran, Twice


def _same(recorded: Ran, again: Ran) -> None:
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "log equal, output equal" in again.stderr


def test_variables_of_a_module_of_helpers_and_of_the_function_around(twice: Twice) -> None:
    recorded, again = twice(
        """
import lctl
import store
from store import Item

inventory = {"pens": {"count": 3}, "ink": {"count": 0}}
orders = []
total = 0
connection = None

def save(item):
    store.ITEMS[item.name] = item
    store.saved += 1

@lctl.tool
def buy(name: str, count: int) -> str:
    global total, connection
    with open("ran", "a") as file:
        file.write("x")
    inventory[name]["count"] -= count
    orders.append((name, count))
    total += count
    connection = object()
    save(Item(name))
    return "ok"

def agent():
    notes, turns = [], 0

    @lctl.tool
    def note(text: str) -> int:
        nonlocal turns
        notes.append(text)
        turns += 1
        return turns

    note("a"), note("b")
    return notes, turns

buy("pens", 1), buy("ink", 2)
print(inventory, orders, total, list(store.ITEMS), [i.name for i in store.ITEMS.values()], store.saved)
print(agent(), agent(), len(open("ran").read()))
""",
        store="""
from dataclasses import dataclass

ITEMS = {}
saved = 0

@dataclass
class Item:
    name: str
""",
    )
    _same(recorded, again)
    assert recorded.stdout.startswith(
        "{'pens': {'count': 2}, 'ink': {'count': -2}} [('pens', 1), ('ink', 2)] 3"
    )
    assert recorded.stdout.endswith("(['a', 'b'], 2) (['a', 'b'], 2) 2\n")


@pytest.mark.slow
def test_what_the_program_itself_changes_is_not_done_twice(twice: Twice) -> None:
    recorded, again = twice("""
import asyncio
import lctl

log = []
count = 0

@lctl.tool
async def work(name):
    global count
    log.append(f"begin {name}")
    await asyncio.sleep(0.01)
    log.append(f"end {name}")
    count += 1
    return name

async def main():
    for n in range(3):
        log.append(f"main {n}")
        print(await asyncio.gather(work(f"a{n}"), work(f"b{n}")))
        log.append("gathered")
    print(log, count)

asyncio.run(main())
""")
    _same(recorded, again)


@pytest.mark.slow
def test_threads_that_share_a_variable(twice: Twice) -> None:
    recorded, again = twice("""
import lctl
from concurrent.futures import ThreadPoolExecutor

seen = {}

@lctl.tool
def look(n):
    seen[n] = seen.get(n, 0) + 1
    return n

with ThreadPoolExecutor(4) as pool:
    print(sorted(pool.map(look, range(12))))
print(sorted(seen.items()))
""")
    _same(recorded, again)


def test_what_a_tool_returns_of_them_is_the_variable_itself(twice: Twice) -> None:
    """Whole, a part of it, or within a result: what the program does to that it does to the variable."""
    recorded, again = twice(
        """
import lctl
from dataclasses import dataclass

@dataclass
class Found:
    of: list
    count: int

todos, cache, tags, counts = [], {}, set(), {"n": 0}

@lctl.tool
def add(text):
    with open("ran", "a") as file:
        file.write("x")
    todos.append({"text": text, "done": False})
    return todos

@lctl.tool
def last():
    return todos[-1]

@lctl.tool
def open_ones():
    return [todo for todo in todos if not todo["done"]]

@lctl.tool
def cached(key):
    return cache.setdefault(key, {"parts": []})["parts"], key

@lctl.tool
def tagged(tag):
    tags.add(tag)
    return tags

@lctl.tool
def found():
    return Found(todos, len(todos))

@lctl.tool
def count():
    counts["n"] += 1
    return counts

@lctl.tool
def copied():
    return list(todos)

def agent():
    state = {"turns": 0}

    @lctl.tool
    def turn():
        state["turns"] += 1
        return {"state": state}

    given = turn()["state"]
    given["turns"] += 10
    return given is state, state

todos_there = add("milk")
todos_there.append({"text": "typed", "done": False})
last()["done"] = True
open_ones()[0]["text"] = "oat milk"
cached("a")[0].append(1), cached("a")[0].append(2)
tagged("x").add("y")
found().of.append({"text": "found", "done": True})
copied().clear()
print(todos, cache, sorted(tags), todos_there is todos, count() is counts, copied() is todos, agent())
print(len(open("ran").read()))
""",
    )
    assert "'oat milk'" in recorded.stdout and recorded.stdout.startswith("[") and "found" in recorded.stdout
    assert recorded.stdout.splitlines()[1] == "1"
    _same(recorded, again)
