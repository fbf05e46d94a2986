"""What fails in a program that is recorded fails at the same places: models are told of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.rerun.harness import LCTL, run

_PROGRAM = """
import datetime, os, queue, random, secrets, signal, socket, sys, time, traceback

class Odd(datetime.tzinfo):
    def fromutc(self, moment):
        raise ValueError("no zone")

def leave(number, frame):
    raise RuntimeError("left")

signal.signal(signal.SIGUSR1, leave)
taken = socket.socket()
taken.bind(("127.0.0.1", 0))
taken.listen()
full = queue.Queue(1)
full.put(1)
WAYS = {
    "a variable": lambda: os.environ["NOT_THERE"],
    "no variable": lambda: os.environ[5],
    "a variable set": lambda: os.environ.__setitem__("THERE", 5),
    "a choice": lambda: random.choice([]),
    "a shuffle": lambda: random.shuffle(5),
    "a seed": lambda: random.seed([]),
    "a generator": lambda: random.Random([]),
    "a secret": lambda: secrets.token_hex("x"),
    "bytes": lambda: os.urandom(-1),
    "a date": lambda: datetime.datetime.now("x"),
    "a zone": lambda: datetime.datetime.now(Odd()),
    "a format": lambda: time.strftime(5),
    "a command": lambda: os.system(5),
    "a signal": lambda: os.kill(99999999, 0),
    "a handler": lambda: os.kill(os.getpid(), signal.SIGUSR1),
    "an item": lambda: queue.Queue().get(timeout=0.01),
    "an item at once": lambda: queue.Queue().get_nowait(),
    "room": lambda: full.put(2, timeout=0.01),
    "an address": lambda: socket.socket().bind(taken.getsockname()),
    "a connection": lambda: socket.create_connection(("127.0.0.1", 1)),
    "a line": lambda: input("? "),
}
for name, way in WAYS.items():
    try:
        way()
    except BaseException as error:
        lines = traceback.extract_tb(error.__traceback__)
        print(name, type(error).__name__, [(os.path.basename(line.filename), line.name) for line in lines])
os.environ["NOT_THERE"]
"""


@pytest.mark.skipif(sys.platform != "linux", reason="signals and sockets as Linux has them")
def test_tracebacks_are_those_of_the_program_without_lctl(tmp_path: Path) -> None:
    program, log = tmp_path / "fails.py", tmp_path / "fails.lctl.json"
    program.write_text(_PROGRAM)
    plain = run([sys.executable, str(program)], tmp_path, {}, log)
    recorded = run([*LCTL, "run", "--output", str(log), str(program)], tmp_path, {"LCTL_STRICT": "1"}, log)
    assert "lctl" not in plain.out
    assert recorded.out == plain.out
    assert recorded.out.count("\n") == 21
    assert recorded.err.startswith(plain.err)
    (error,) = [event for event in recorded.events if event["type"] == "error"]
    last = program.read_text().splitlines().index('os.environ["NOT_THERE"]') + 1
    places = error["data"]["context"]["traceback"]
    assert [place.rpartition("/")[2] for place in places] == [
        f"fails.py:{last} in <module>",
        places[-1],
    ]
    assert "__getitem__" in places[-1]
    assert "lctl" not in places[-1]
