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
import logging
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
from typing import Any

import orjson

from benchmarks import Row
from benchmarks.recordfloor import Record, locked, unguarded
from lctl.record.journal import Durability, JournalStore
from lctl.record.recorder import Recorder
from lctl.session import LCTLSession, Redactor, jsonable
from lctl.session.redaction.scrub import Scrubber

ROUNDS = 25
CALLS = 1024
EVENTS_HOT = 16  # different ones, in turn
KILLS = 10

Loop = Callable[[], None]


def _data(n: int) -> dict[str, Any]:
    return {
        "tool": "grep",
        "input": {"pattern": "execute.*user", "file": f"Controller{n}.py"},
        "output": {"matches": n % 9, "lines": [45, 67, n]},
        "duration_ms": n * 0.25,
        "note": f"SQL query constructed from user input near login form {n}",
        "confidence": 0.85,
        "source": "static-analysis",
    }


def _event(n: int) -> dict[str, Any]:
    time_, agent = "2026-01-01T00:00:00.000000Z", "code-analyzer"
    return {"seq": n, "type": "tool_call", "timestamp": time_, "agent": agent, "step": 7, "data": _data(n)}


DATA = [_data(n) for n in range(EVENTS_HOT)] * (CALLS // EVENTS_HOT)
EVENTS = [_event(n) for n in range(EVENTS_HOT)] * (CALLS // EVENTS_HOT)


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        wall = _interleaved(
            {
                "write": _bare_write(folder, stack),
                "record": _recorder(folder, stack, "process"),
                "redacted": _recorder(folder, stack, "process", redact=True),
                "steps": _steps(folder, stack),
            },
            time.perf_counter_ns,
        )
        cpu = _interleaved(
            {
                "dumps": _dumps,
                "buffered": _recorder(folder, stack, "buffered"),
                "unguarded": _least(unguarded, folder, stack),
                "locked": _least(locked, folder, stack),
                "process": _recorder(folder, stack, "process"),
                "structlog": _structlog(folder, stack),
                "logging": _logging(folder, stack),
                "span": _spans(stack),
            },
            time.thread_time_ns,
        )
        return [*_times(wall, cpu), _kills(folder), _redaction()]


def _interleaved(loops: dict[str, Loop], clock: Callable[[], int]) -> dict[str, float]:
    """Median ns a call of each loop."""
    taken: dict[str, list[float]] = {name: [] for name in loops}
    gc.collect()
    for round_ in range(ROUNDS + 2):
        for name, loop in loops.items():
            began = clock()
            loop()
            if round_ > 1:  # the first two warm up
                taken[name].append((clock() - began) / CALLS)
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


# -- the candidates ------------------------------------------------------------------------------


def _dumps() -> None:
    dumps = orjson.dumps
    for event in EVENTS:
        dumps(event)


def _bare_write(folder: Path, stack: ExitStack) -> Loop:
    fd = os.open(folder / "bare", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    stack.callback(os.close, fd)
    lines = [b",\n" + orjson.dumps(event) for event in EVENTS]

    def loop() -> None:
        write = os.write
        for line in lines:
            write(fd, line)

    return loop


def _recorder(folder: Path, stack: ExitStack, durability: Durability, redact: bool = False) -> Loop:
    store = JournalStore(folder / f"{time.monotonic_ns()}.lctl.json", {"id": "c"}, durability=durability)
    stack.callback(store.close, {})
    scrub = Scrubber(Redactor()).scrub if redact else None
    recorder = Recorder(store, default=jsonable.default, encode=jsonable.encode, scrub=scrub)

    def loop() -> None:
        record = recorder.record
        for data in DATA:
            record("tool_call", "code-analyzer", data, 7)

    return loop


def _least(make: Callable[[Path], tuple[Record, int]], folder: Path, stack: ExitStack) -> Loop:
    record, fd = make(folder / make.__name__)
    stack.callback(os.close, fd)

    def loop() -> None:
        for data in DATA:
            record("tool_call", "code-analyzer", data, 7)

    return loop


def _steps(folder: Path, stack: ExitStack) -> Loop:
    session = stack.enter_context(LCTLSession("c", folder / "session.lctl.json"))

    def loop() -> None:
        for _ in DATA:
            with session.step("code-analyzer", "analyze"):
                pass

    return loop


def _structlog(folder: Path, stack: ExitStack) -> Loop:
    import structlog

    logger = structlog.wrap_logger(
        structlog.BytesLogger(stack.enter_context((folder / "structlog").open("wb"))),
        processors=[
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.JSONRenderer(orjson.dumps),
        ],
    ).bind()

    def loop() -> None:
        for data in DATA:
            logger.info("tool_call", agent="code-analyzer", step=7, **data)

    return loop


def _logging(folder: Path, stack: ExitStack) -> Loop:
    logger = logging.Logger("benchmark")
    handler = logging.FileHandler(folder / "logging")
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    stack.callback(handler.close)

    def loop() -> None:
        for data in DATA:
            logger.info("tool_call %s", data)

    return loop


def _spans(stack: ExitStack) -> Loop:
    """A span with eight attributes, batched to an exporter that does nothing; the caller's thread only."""
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

    class Null(SpanExporter):
        def export(self, spans: Any) -> SpanExportResult:
            assert all(isinstance(span, ReadableSpan) for span in spans)
            return SpanExportResult.SUCCESS

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(Null()))
    stack.callback(provider.shutdown)
    tracer = provider.get_tracer("benchmark")
    logging.getLogger("opentelemetry").setLevel(
        logging.CRITICAL
    )  # its queue is full at times, and it says so

    def loop() -> None:
        for data in DATA:
            with tracer.start_as_current_span("tool_call") as span:
                span.set_attribute("tool", data["tool"])
                span.set_attribute("pattern", data["input"]["pattern"])
                span.set_attribute("file", data["input"]["file"])
                span.set_attribute("matches", data["output"]["matches"])
                span.set_attribute("duration_ms", data["duration_ms"])
                span.set_attribute("note", data["note"])
                span.set_attribute("confidence", data["confidence"])
                span.set_attribute("source", data["source"])

    return loop


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
