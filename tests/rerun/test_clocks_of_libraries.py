"""What libraries decide by clocks they decide in a rerun as they did, though nothing takes its time there."""

from __future__ import annotations

import fcntl
import sys
import threading
from pathlib import Path

import pytest

from lctl.testing import ModelServer
from tests.rerun.harness import LCTL, PROGRAMS, Result, record, rerun, run

pytestmark = pytest.mark.slow

_LIBRARY = """
import asyncio, time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from time import monotonic, perf_counter_ns

def _tried(fail, error, elapsed):
    tries = 0
    while True:
        tries += 1
        try:
            fail()
        except error:
            if elapsed() > 1.2:
                return tries
            time.sleep(0.5)

def by_name(fail, error):
    start = monotonic()
    return _tried(fail, error, lambda: monotonic() - start)

def by_date(fail, error):
    start = datetime.now()
    return _tried(fail, error, lambda: (datetime.now(timezone.utc) - start.astimezone()).total_seconds())

def in_nanoseconds(fail, error):
    start = perf_counter_ns()
    return _tried(fail, error, lambda: (perf_counter_ns() - start) / 1e9)

async def asynchronously(fail, error):
    start, tries = time.time(), 0
    while time.time() - start < 1.2:
        tries += 1
        try:
            await fail()
        except error:
            await asyncio.sleep(0.5)
    return tries

class Limiter:
    def __init__(self, most, seconds, timer=time.monotonic):
        self.most, self.seconds, self.timer, self.taken = most, seconds, timer, []

    def lets_through(self):
        now = self.timer()
        self.taken = [at for at in self.taken if now - at < self.seconds]
        if len(self.taken) >= self.most:
            return False
        self.taken.append(now)
        return True

@dataclass
class Breaker:
    seconds: float
    opened: float = field(default_factory=time.time)

    def is_open(self):
        return time.time() - self.opened < self.seconds

class Kept:
    def __init__(self, seconds):
        self.seconds, self.values = seconds, {}

    def has(self, value):
        at, known = self.values.get("it", (0, None))
        if known is None or time.perf_counter() - at > self.seconds:
            self.values["it"] = time.perf_counter(), value
        return self.values["it"][1]

def is_good(until):
    return datetime.now(timezone.utc) < until

def is_made_before_now(at):
    return at <= time.time()
"""


def _installed(folder: Path) -> dict[str, str]:
    place = folder / "site-packages"
    place.mkdir()
    (place / "impatient.py").write_text(_LIBRARY)
    return {"INSTALLED": str(place)}


def _recorded(way: str, program: str, folder: Path, environ: dict[str, str]) -> Result:
    if way == "full":
        return record(program, folder, environ)
    first = run([sys.executable, str(PROGRAMS / program), "auto"], folder, environ, folder)
    (log,) = (folder / "logs").glob("*.lctl.json")
    return first._replace(log=log)


@pytest.mark.parametrize("way", ["full", "auto"])
def test_limits_rates_and_dates(way: str, tmp_path: Path) -> None:
    environ = _installed(tmp_path)
    with ModelServer(random_answers=True) as models:
        first = _recorded(way, "patient_library.py", tmp_path, models.environ | environ)
    assert first.code == 0, first.err
    for _ in range(2):
        again = rerun(first.log, tmp_path, environ=environ)
        assert again.code == 0, again.err
        assert (again.out, again.events) == (first.out, first.events)


def test_what_is_measured_goes_on_in_what_is_live(tmp_path: Path) -> None:
    """The moment at which a fork goes live is the world's: a library's limit does not run out at it."""
    environ = _installed(tmp_path)
    log = tmp_path / "fork.lctl.json"
    with ModelServer(random_answers=True) as models:
        first = record("patient_library.py", tmp_path, models.environ | environ)
        second = [e["seq"] for e in first.events if e["type"] == "exchange"][1]
        words = [*LCTL, "fork", str(first.log), "--at", str(second), "--output", str(log)]
        fork = run(words, tmp_path, models.environ | environ, log)
    assert fork.code == 0, fork.err
    said, again = first.out.splitlines(), fork.out.splitlines()
    assert again[0] == said[0]
    tries = [int(line.split()[-1]) for line in (*again[1:4], again[-1])]
    assert all(1 < number <= 4 for number in tries), again  # by what the live calls took


_LOCKS = """
import fcntl, time

def take(file, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB) is None
        except OSError:
            time.sleep(0.05)
    return False
"""

_LOCKING = """
import os, sys
sys.path.insert(0, os.environ["INSTALLED"])
import portalocker
import lctl

@lctl.tool
def look():
    return 1

with open(sys.argv[1]) as file:
    print(look(), portalocker.take(file, 20.0))
"""


def test_what_looks_for_something_real_has_the_clock_of_the_world(tmp_path: Path) -> None:
    """A file that another process has: the waits take no time, and the file is no sooner free."""
    environ = _installed(tmp_path)
    (tmp_path / "site-packages" / "portalocker.py").write_text(_LOCKS)
    program, busy, log = tmp_path / "agent.py", tmp_path / "busy", tmp_path / "first.lctl.json"
    program.write_text(_LOCKING)
    busy.touch()
    first = run([*LCTL, "run", "--output", str(log), str(program), str(busy)], tmp_path, environ, log)
    assert (first.code, first.out) == (0, "1 True\n"), first.err
    with busy.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        threading.Timer(4.0, fcntl.flock, (held, fcntl.LOCK_UN)).start()
        again = rerun(log, tmp_path, environ=environ)
    assert (again.code, again.out) == (0, first.out), again.err
