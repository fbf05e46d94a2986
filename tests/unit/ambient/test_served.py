"""What a program reads is the same again when it is served."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.unit.ambient.conftest import Result, Run

Twice = Callable[..., tuple[Result, Result]]

CLOCKS = """
import time, datetime as d
from datetime import date, datetime, timezone, timedelta
from time import time as now
print(time.time(), now(), time.time_ns(), time.monotonic(), time.perf_counter_ns(), time.process_time())
if hasattr(time, "clock_gettime"):
    print(time.clock_gettime(time.CLOCK_REALTIME), time.clock_gettime_ns(time.CLOCK_MONOTONIC))
    print(time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID))
print(time.localtime(), time.gmtime(), time.localtime().tm_zone)
print(time.ctime(), time.asctime(), time.strftime("%H:%M:%S"))
print(datetime.now(), datetime.now(timezone.utc), datetime.now(tz=timezone(timedelta(hours=3))))
print(d.datetime.today(), date.today(), datetime.today(), d.date.today())

class Moment(datetime):
    pass

class Day(date):
    pass

print(repr(Moment.now()), repr(Moment.today()), repr(Day.today()), repr(Moment.now(timezone.utc)))
"""

CHANCE = """
import os, random, secrets, uuid
from random import choice, Random
from uuid import uuid4
print(random.random(), random.randint(1, 10**9), choice(range(10**6)), random.sample(range(1000), 5))
numbers = list(range(50)); random.shuffle(numbers); print(numbers)
print(Random().random(), Random().random(), random.Random().getrandbits(200))
print(random.SystemRandom().random(), random.SystemRandom().choice(range(10**9)))
print(secrets.token_hex(), secrets.token_urlsafe(), secrets.token_bytes(5))
print(secrets.randbelow(10**30), secrets.choice(range(10**9)))
print(uuid4(), uuid.uuid1(), os.urandom(12), os.getpid())
"""


@pytest.mark.parametrize("code", [CLOCKS, CHANCE], ids=["clocks", "chance"])
def test_every_read_is_served(code: str, twice: Twice) -> None:
    first, again = twice(code)
    assert again.out == first.out
    assert [e["data"] | {"at": 0} for e in again.events] == [e["data"] | {"at": 0} for e in first.events]


@pytest.mark.parametrize("code", [CLOCKS, CHANCE], ids=["clocks", "chance"])
def test_each_recording_has_its_own(code: str, run: Run) -> None:
    assert run(code).out != run(code).out


def test_draws_are_the_seed_s_alone(twice: Twice) -> None:
    """One event a lane, none a draw; what other lanes and libraries draw does not shift the program's."""
    first, again = twice(
        "import os, random\n"
        "from email.generator import Generator\n"
        "from lctl.session.concurrency import lanes\n"
        "other = lanes.MAIN.spawn()\n"
        "for n in range(3):\n"
        "    for _ in range(os.urandom(1)[0] if n == 0 else n): Generator._make_boundary()\n"
        "    token = lanes.enter(other)\n"
        "    if n == 1: print(random.random())\n"
        "    lanes.leave(token)\n"
        "    print([random.random() for _ in range(1000)])\n"
    )
    assert again.out == first.out
    assert [read["key"] for read in first.reads] == [*("run", "os.urandom", "random.random", "random.random")]


def test_a_seed_of_the_program_s_own_is_obeyed(run: Run) -> None:
    code = "import random; random.seed(42); print(random.random()); print(random.Random(1).random())"
    import random

    assert run(code).out == f"{random.Random(42).random()}\n{random.Random(1).random()}\n"


def test_the_environment(run: Run) -> None:
    """As it was, set or not; also for who reads it after; a variable counts once until it is written."""
    code = (
        "import os, sys\n"
        "print(os.environ.get('WEATHER'), os.getenv('WEATHER'), 'OTHER' in os.environ)\n"
        "print(os.environ['SEASON'])\n"
        "try: os.environ['OTHER']\n"
        "except KeyError as error: print(repr(error))\n"
        "os.environ['WEATHER'] = 'mine'; print(os.environ['WEATHER'])\n"
        "print(sorted(name for name in os.environ if name in ('WEATHER', 'SEASON', 'MORE')))\n"
    )
    first = run(code, WEATHER="rain", SEASON="autumn")
    again = run(code, tape=first.log, OTHER="set", MORE="too")
    assert first.out.splitlines()[0] == "rain rain False"
    assert again.out == first.out
    names = [read["key"] for read in first.reads if read["source"] == "environment"]
    assert names == ["WEATHER", "OTHER", "SEASON", "WEATHER", "*"]


def test_secrets_of_the_environment_are_not_kept(run: Run) -> None:
    code = "import os\nprint(len(os.environ['MY_API_KEY']), 'lctl' in os.environ['MY_API_KEY'])"
    first = run(code, MY_API_KEY="hunter2-hunter2")
    assert b"hunter2" not in first.log.read_bytes()
    assert run(code, tape=first.log).out == "23 True\n"


def test_a_loop_on_the_clock_is_batches(twice: Twice) -> None:
    """A million readings are not a million events, and are all served."""
    first, again = twice(
        "import time\n"
        "total = 0\n"
        "for _ in range(20000): total ^= time.time_ns()\n"
        "print(total)\n"
        "marks = [(time.time(), time.perf_counter()) for _ in range(300)]\n"
        "print(hash(tuple(marks)))\n"
    )
    assert again.out == first.out
    assert len(first.events) < 80
    assert first.log.stat().st_size < 200_000


def test_libraries_read_the_real_thing(run: Run) -> None:
    """Only files of the program's own are recorded: not the standard library's timers."""
    got = run(
        "import threading, logging\n"
        "from http.server import BaseHTTPRequestHandler as Handler\n"
        "print(Handler.date_time_string(None) != '')"
    )
    assert got.log.name == "none"


def test_what_makes_values_for_the_program(twice: Twice) -> None:
    """Defaults of dataclasses are made by generated code, for the program."""
    first, again = twice(
        "import time, uuid\n"
        "from dataclasses import dataclass, field\n"
        "from datetime import datetime\n"
        "@dataclass\n"
        "class Note:\n"
        "    at: float = field(default_factory=time.time)\n"
        "    when: datetime = field(default_factory=datetime.now)\n"
        "    id: object = field(default_factory=uuid.uuid4)\n"
        "print(Note(), Note())\n"
    )
    assert again.out == first.out


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_forked_children_have_chance_of_their_own(run: Run) -> None:
    first = run(
        "import os, random, sys\n"
        "print(random.random(), flush=True)\n"
        "for _ in range(2):\n"
        "    pid = os.fork()\n"
        "    if not pid:\n"
        "        print(random.random(), random.Random().random(), flush=True)\n"
        "        os._exit(0)\n"
        "    os.waitpid(pid, 0)\n"
        "print(random.random())\n"
    )
    assert len(set(first.out.split())) == 6
