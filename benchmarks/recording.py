"""What recording costs: R1 to R4 and D3, beside what it is compared with, in interleaved rounds.

The event is a tool call of about 350 bytes, sixteen in turn, built before the clock starts.
Times are medians over rounds in which every candidate runs once, so that a busy machine slows all. The steps
of R2s differ in numbers and times only, as a program's do that does one thing over and over: such short lines
are not searched for secrets again. Where each step says something new, they cost a seventh more.

R3b asks for a record() of 3.4 times one orjson.dumps where a span is 61 of them, as on the machine this was
written on. There a call that builds the dict of an event and serialises it is 2.2, its timestamp 0.6, the
buffer and the bytes' way into the kernel 0.7 (it costs the same in larger pieces, and a list of lines costs
more than one growing buffer), and a lock 0.6. The two rows beside it measure what that comes to
(benchmarks/recordfloor.py): a span is 20 of those calls without the lock, 17 to 18 with it. So R3b leaves
nothing for re-entry by signal handlers and finalisers, a full disk, and values orjson does not know.
"""

from __future__ import annotations

import gc
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import orjson

from benchmarks import Row, loops
from benchmarks.loops import Loop
from benchmarks.recordfloor import locked, unguarded
from lctl.record.journal import JournalStore
from lctl.session import Redactor
from lctl.session.redaction.scrub import Scrubber

ROUNDS = 25
KILLS = 10


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        wall = _interleaved(
            {
                "write": loops.bare_write(folder, stack),
                "record": loops.recorder(folder, stack, "process"),
                "redacted": loops.recorder(folder, stack, "process", redact=True),
                "steps": loops.steps(folder, stack),
            },
            time.perf_counter_ns,
        )
        cpu = _interleaved(
            {
                "dumps": loops.dumps,
                "buffered": loops.recorder(folder, stack, "buffered"),
                "unguarded": loops.least(unguarded, folder, stack),
                "locked": loops.least(locked, folder, stack),
                "process": loops.recorder(folder, stack, "process"),
                "structlog": loops.structlogger(folder, stack),
                "logging": loops.logger(folder, stack),
                "span": loops.spans(stack),
            },
            time.thread_time_ns,
        )
        return [*_times(wall, cpu), _kills(folder), _redaction()]


def _interleaved(candidates: dict[str, Loop], clock: Callable[[], int]) -> dict[str, float]:
    """Median ns a call of each loop."""
    taken: dict[str, list[float]] = {name: [] for name in candidates}
    gc.collect()
    for round_ in range(ROUNDS + 2):
        for name, loop in candidates.items():
            began = clock()
            loop()
            if round_ > 1:  # the first two warm up
                taken[name].append((clock() - began) / loops.CALLS)
    return {name: median(times) for name, times in taken.items()}


def _times(wall: dict[str, float], cpu: dict[str, float]) -> list[Row]:
    def at_most(id: str, what: str, target: float | None, mine: float, other: float) -> Row:
        wanted = "" if target is None else f"<= {target}x"
        passed = None if target is None else mine / other <= target
        return Row(id, what, wanted, f"{mine:.0f} / {other:.0f} ns", mine / other, passed)

    def at_least(id: str, what: str, target: float, other: float, mine: float) -> Row:
        return Row(
            id, what, f">= {target}x", f"{other:.0f} / {mine:.0f} ns", other / mine, other / mine >= target
        )

    def least(what: str, other: float, mine: float) -> Row:
        what = f"beside it: span / the least record() in Python {what}"
        return Row("R3b", what, "", f"{other:.0f} / {mine:.0f} ns", other / mine, None)

    return [
        at_most("R1", "buffered record() / orjson.dumps, CPU", 4.5, cpu["buffered"], cpu["dumps"]),
        at_most("R2", "crash-safe record() / bare os.write, wall", 2.5, wall["record"], wall["write"]),
        at_most(
            "R2r", "the same with redaction and limits / os.write", None, wall["redacted"], wall["write"]
        ),
        at_most(
            "R2s", "step(): two events, context, redaction / os.write", None, wall["steps"], wall["write"]
        ),
        at_least("R3a", "OpenTelemetry span / crash-safe record(), CPU", 7, cpu["span"], cpu["process"]),
        at_least("R3b", "OpenTelemetry span / buffered record(), CPU", 18, cpu["span"], cpu["buffered"]),
        least("with no lock, for one thread", cpu["span"], cpu["unguarded"]),
        least("with a lock", cpu["span"], cpu["locked"]),
        at_least("R3c", "structlog / buffered record(), CPU", 4, cpu["structlog"], cpu["buffered"]),
        at_least("R3d", "logging / buffered record(), CPU", 6, cpu["logging"], cpu["buffered"]),
    ]


# -- kills ---------------------------------------------------------------------------------------

_CHILD = """
import os, sys
from lctl.session import LCTLSession
session = LCTLSession("c", sys.argv[1])
for n in range(10_000_000):
    os.write(1, b"%d\\n" % session.emit("t", {"x": "y" * (n % 3000)}))
"""


def _kills(folder: Path) -> Row:
    """R4 in short; the test suite has two hundred."""
    lost = events = 0
    chance = random.Random(7)
    for n in range(KILLS):
        path = folder / f"kill{n}.lctl.json"
        child = subprocess.Popen([sys.executable, "-c", _CHILD, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        acknowledged = child.stdout.readline()
        os.set_blocking(child.stdout.fileno(), False)
        until = time.monotonic() + chance.random() * 0.1
        while time.monotonic() < until:
            acknowledged += child.stdout.read() or b""
        child.send_signal(signal.SIGKILL)
        acknowledged += child.stdout.read() or b""
        child.communicate()
        store = JournalStore(path, {"id": "c"})
        kept = store.last_seq
        store.close({})
        told = int(acknowledged[: acknowledged.rfind(b"\n")].rpartition(b"\n")[2])
        lost += max(told - kept, 0)
        events += kept
    return Row(
        "R4", f"{KILLS} SIGKILLs: acknowledged events lost", "0", f"{lost} of {events}", None, lost == 0
    )


# -- redaction -----------------------------------------------------------------------------------

_PROSE = (
    "The reviewer reads the controller, follows each value from the request to the query, and notes where "
    "nothing checks it. Line %d builds SQL from a form field; the fix binds it as a parameter instead.\n"
)


def _redaction() -> Row:
    """D3: what scrubbing adds to each kB of new, clean content (10 kB messages)."""
    scrub = Scrubber(Redactor())
    text = "".join(_PROSE % n for n in range(50))
    event = {
        "seq": 1,
        "type": "message",
        "timestamp": "",
        "agent": "a",
        "data": {"role": "user", "content": text},
    }
    line = orjson.dumps(event)
    times = []
    for _ in range(ROUNDS * 4):
        began = time.perf_counter_ns()
        for _ in range(10):
            scrub(line, event)
        times.append((time.perf_counter_ns() - began) / 10)
    each = median(times) / 1000 / (len(line) / 1000)
    return Row("D3", "redaction of new clean content", "<= 8 us/kB", f"{each:.2f} us/kB", None, each <= 8)
