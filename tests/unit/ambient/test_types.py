"""What is replaced stays what it was for everybody else; and is put back without a trace."""

from __future__ import annotations

import sys

import pytest

from tests.unit.ambient.conftest import Run

DATETIME = """
import copy, gc, inspect, pickle, threading, datetime as module, weakref
from datetime import date, datetime, timezone

class Later(datetime):
    @classmethod
    def now(cls, tz=None): return super().now(tz)

class Made(datetime):
    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls, *args, **kwargs)
        made.mark = "made"
        return made

assert module.datetime is datetime and type(datetime) is type and datetime.__module__ == "datetime"
assert type(datetime.now()) is datetime and type(date.today()) is date and type(datetime.today()) is datetime
assert type(Later.now()) is Later and type(Later.today()) is Later and type(Made.now(timezone.utc)) is Made
assert Made.now().mark == Made.today().mark == Made.now(timezone.utc).mark == "made"
assert datetime.now(timezone.utc).tzinfo is timezone.utc
assert pickle.loads(pickle.dumps(datetime.now))().year == datetime.now().year
assert pickle.loads(pickle.dumps(Later.now())).__class__ is Later
assert datetime.now.__self__ is datetime and datetime.now.__name__ == "now" and datetime.now.__doc__
assert str(inspect.signature(datetime.now)) == "(tz=None)"
try: datetime.now("x")
except TypeError as error: assert "tzinfo" in str(error), error
def many():
    for _ in range(2000):
        datetime.now(); date.today(); Later.now()
threads = [threading.Thread(target=many) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
gc.collect()
print("well")
"""

FUNCTIONS = """
import copy, inspect, os, pickle, random, time, uuid

class Timer:
    clock = time.perf_counter
    draw = random.random
    folder = os.getcwd
    def read(self): return self.clock(), self.draw(), self.folder()

Timer().read()
functions = time.time, time.localtime, random.random, random.randint, uuid.uuid4, os.urandom, os.getcwd
for function in functions:
    assert pickle.loads(pickle.dumps(function)) == function
    assert copy.deepcopy(function) == function and copy.copy(function) == function
    assert function.__name__ in repr(function) and function.__doc__
assert time.time.__module__ == "time" and str(inspect.signature(time.time)) == "()"
assert time.localtime(0).tm_year in (1969, 1970) and time.strftime("%Y", time.gmtime(0)) == "1970"
assert len({function for function in (time.time, time.time, time.time_ns)}) == 2
for bad, given in ((time.time, 1), (time.localtime, "x"), (os.urandom, "x"), (random.randint, 1)):
    try: bad(given)
    except TypeError: pass
    else: raise SystemExit("no TypeError")
print("well")
"""

NAMED = """
import datetime, os, random, secrets, uuid

system = random.SystemRandom()
assert system.getrandbits(k=8) < 256 and len(system.randbytes(n=3)) == 3
assert system.randrange(start=1, stop=2) == 1
assert secrets.randbits(k=8) < 256 and len(secrets.token_hex(nbytes=3)) == 6
assert secrets.choice(seq="a") == "a"
random.seed(a=1, version=2)
assert random.getrandbits(8) < 256 and random.choices(population="a", k=2) == ["a", "a"]
assert random.sample(population="a", k=1) == ["a"] and random.randint(a=1, b=1) == 1
assert uuid.uuid1(node=1, clock_seq=2).node == 1
assert os.getenv(key="NOWHERE", default="x") == os.environ.get(key="NOWHERE", default="x") == "x"
assert datetime.datetime.now(tz=datetime.timezone.utc).tzinfo is datetime.timezone.utc
print("well")
"""

UNDONE = """
import builtins, datetime, io, os, random, sys, time, uuid
import lctl.instrument
lctl.instrument.uninstrument()
kept = {}
classes = random.Random, random.SystemRandom, datetime.datetime, datetime.date, type(os.environ)
def state():
    found = {(owner.__name__, n): v for owner in classes for n, v in vars(owner).items()}
    for module in (time, random, os, uuid):
        found |= {(module.__name__, n): getattr(module, n) for n in dir(module)}
    return found | {"input": builtins.input, "out": sys.stdout, "in": sys.stdin, "err": sys.stderr}
before = state()
lctl.instrument.auto_instrument(record="full")
now = datetime.datetime.now
changed = [name for name, value in state().items() if value is not before[name] and value != before[name]]
assert len(changed) > 40, changed
lctl.instrument.uninstrument()
after = state()
assert {name for name in before if before[name] is not after[name] and before[name] != after[name]} == set()
assert type(now()) is datetime.datetime
print("well")
"""


@pytest.mark.parametrize(
    "code", [DATETIME, FUNCTIONS, NAMED, UNDONE], ids=["datetime", "functions", "named", "undone"]
)
def test_nobody_sees_a_difference(code: str, run: Run) -> None:
    assert run(code).out == "well\n"


def test_pydantic(run: Run) -> None:
    pytest.importorskip("pydantic")
    code = (
        "from datetime import date, datetime\n"
        "from uuid import UUID, uuid4\n"
        "from pydantic import BaseModel, Field\n"
        "class Note(BaseModel):\n"
        "    at: datetime = Field(default_factory=datetime.now)\n"
        "    day: date = Field(default_factory=date.today)\n"
        "    id: UUID = Field(default_factory=uuid4)\n"
        "print(Note().model_dump_json())\n"
        "assert Note.model_validate_json(Note().model_dump_json()).at.year\n"
    )
    first = run(code)
    assert run(code, tape=first.log).out == first.out


def test_a_utcnow_is_warned_of_where_it_is_called(run: Run) -> None:
    code = (
        "import warnings, datetime\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    assert datetime.datetime.utcnow().tzinfo is None\n"
        "print([(str(w.message)[:28], w.filename) for w in caught])\n"
    )
    said = [("datetime.datetime.utcnow() i", "program.py")] if sys.version_info >= (3, 12) else []
    assert run(code).out == f"{said}\n"
