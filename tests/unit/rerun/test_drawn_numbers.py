"""Random numbers that are drawn after tools have drawn some: in a rerun the tools' bodies do not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.codec import open_log
from tests.unit.rerun.commands import Run, Twice

pytestmark = [pytest.mark.slow, pytest.mark.interpreter]

_LIBRARY = """\
import random

kept = random.Random()

def name():
    return kept.choice("abcdefghijklmnopqrstuvwxyz") + random.Random().choice("0123456789") * 3
"""

_SHARED = """\
import asyncio, random, sys
from concurrent.futures import ThreadPoolExecutor
import lctl
sys.path.insert(0, "site-packages")
import naming

class Dice:
    def __init__(self):
        self._own = random.Random(5)

    @lctl.tool
    def roll(self):
        return self._own.random(), mine.gauss(0, 1)

    def next(self):
        return self._own.random(), mine.gauss(0, 1)

@lctl.tool
def seeds():
    random.seed("again")
    return random.random()

@lctl.tool
def much(times):
    return [random.gauss(0, 1) for _ in range(times)][-1]

@lctl.tool
async def waits(n):
    await asyncio.sleep(0.05 * random.random())
    return random.random()

@lctl.tool
def streams():
    for _ in range(3):
        yield random.random()

@lctl.tool
def fails():
    raise ValueError(random.random())

@lctl.tool
def named():
    return naming.name()

mine = random.Random()
dice = Dice()
print(naming.name(), named(), naming.name())
print(dice.next(), dice.roll(), dice.next())
print(random.random(), seeds(), random.random())
print(much(3), random.gauss(0, 1), much(3000), random.gauss(0, 1), random.random())

async def main():
    print(await asyncio.gather(*(waits(n) for n in range(4))), random.random())

asyncio.run(main())
print(list(streams()), random.random())
try:
    fails()
except ValueError as error:
    print(error, random.random())
with ThreadPoolExecutor(1) as pool:
    print(list(pool.map(much, (2, 700))), random.random())
"""

_NUMPY = """\
import lctl
import numpy as np

seeded, new = np.random.default_rng(3), np.random.default_rng()
older = np.random.default_rng(np.random.SFC64(1))
first = np.random.default_rng(np.random.MT19937(1))

@lctl.tool
def draw(times):
    drawn = [np.random.standard_normal(times), seeded.normal(size=times), first.random(times)]
    return sum(float(one[-1]) for one in drawn) + new.random() + older.random()

def shown():
    drawn = np.random.rand(), np.random.standard_normal(), seeded.random(), first.normal()
    return [float(one) for one in drawn]

for times in (1, 2, 5000):
    print(shown(), draw(times), shown(), new.random(), older.random())
np.random.seed(5)
print(draw(1), shown())
"""


def test_from_generators_that_last(twice: Twice, tmp_path: Path) -> None:
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "naming.py").write_text(_LIBRARY)
    recorded, again = twice(_SHARED)
    assert len(set(recorded.stdout.split())) > 25
    assert again.stdout == recorded.stdout, again.stderr
    assert "rerun exact" in again.stderr and "output equal" in again.stderr


def test_from_those_of_numpy(twice: Twice) -> None:
    pytest.importorskip("numpy")
    recorded, again = twice(_NUMPY)
    assert again.stdout == recorded.stdout != "", again.stderr
    assert "rerun exact" in again.stderr and "output equal" in again.stderr


_FORKED = """\
import multiprocessing, os, random
import lctl
random.seed(42)

@lctl.tool
def roll(times):
    return [random.randint(1, 6) for _ in range(times)]

def work(times):
    return roll(times), random.random()

if __name__ == "__main__":
    print(roll(2), random.random())
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(work, range(4), chunksize=1))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, repr([roll(1), random.random()]).encode())
        os._exit(0)
    os.waitpid(child, 0)
    print(os.read(reader, 1000), roll(1), random.random())
"""


def test_in_forked_processes(lctl: Run, tmp_path: Path) -> None:
    """Python gives each of them a new seed, whatever the program has set; and what a tool's body has drawn
    may be the first event of its log."""
    (tmp_path / "agent.py").write_text(_FORKED)
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.returncode == 0, recorded.stderr
    for _ in range(2):
        again = lctl("rerun", "run.lctl.json")
        assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
        told = [line for line in again.stderr.splitlines() if line.startswith("lctl: rerun ")]
        assert len(told) >= 3 and all(line.startswith("lctl: rerun exact") for line in told)


def test_a_log_grows_by_places_and_not_by_words(lctl: Run, tmp_path: Path) -> None:
    """Of two calls that draw the first five numbers of 624: the state that a seed makes is known."""
    (tmp_path / "agent.py").write_text(
        "import random, lctl\nrandom.seed(1)\nrandom.random()\n"
        "draw = lctl.tool(lambda: random.random())\nprint(draw(), draw())\n"
        "print(lctl.tool(len)([]), random.random())\n"
    )
    assert lctl("run", "-o", "run.lctl.json", "agent.py").returncode == 0
    events = [event.to_dict()["data"] for event in open_log(tmp_path / "run.lctl.json").events()]
    calls = [data.get("tape", {}).get("chance") for data in events if "tool" in data]
    assert calls == [{"random": {"place": 4}}, {"random": {"place": 6}}, None]


def test_one_that_is_given_seeds_again_and_again_is_one(lctl: Run, tmp_path: Path) -> None:
    """And one with a state of its own kind is none that is looked at."""
    (tmp_path / "agent.py").write_text(
        "import random, lctl\nfrom lctl.session.tooling import generators\n"
        "class Own(random.Random):\n    def getstate(self):\n        raise NotImplementedError\n"
        "own, mine = Own(), random.Random()\n"
        "for n in range(100):\n    mine.seed(n)\n    random.Random(n)\n"
        "draw = lctl.tool(lambda: mine.random() + own.random() * 0)\n"
        "print(draw(), mine.random(), sum(known() is not None for known in generators._kept.values()))\n"
    )
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.stdout.endswith(" 1\n") and "could not" not in recorded.stderr, recorded.stderr
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
