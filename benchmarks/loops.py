"""What recording is measured beside: each as a loop over the same events."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson

from benchmarks.recordfloor import Record
from lctl.record.journal import Durability, JournalStore
from lctl.record.recorder import Recorder
from lctl.session import LCTLSession, Redactor, jsonable
from lctl.session.redaction.scrub import Scrubber

CALLS = 1024
EVENTS_HOT = 16  # different ones, in turn

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


def dumps() -> None:
    dumps = orjson.dumps
    for event in EVENTS:
        dumps(event)


def bare_write(folder: Path, stack: ExitStack) -> Loop:
    fd = os.open(folder / "bare", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    stack.callback(os.close, fd)
    lines = [b",\n" + orjson.dumps(event) for event in EVENTS]

    def loop() -> None:
        write = os.write
        for line in lines:
            write(fd, line)

    return loop


def recorder(folder: Path, stack: ExitStack, durability: Durability, redact: bool = False) -> Loop:
    store = JournalStore(folder / f"{time.monotonic_ns()}.lctl.json", {"id": "c"}, durability=durability)
    stack.callback(store.close, {})
    scrub = Scrubber(Redactor()).scrub if redact else None
    recorder = Recorder(store, default=jsonable.default, encode=jsonable.encode, scrub=scrub)

    def loop() -> None:
        record = recorder.record
        for data in DATA:
            record("tool_call", "code-analyzer", data, 7)

    return loop


def least(make: Callable[[Path], tuple[Record, int]], folder: Path, stack: ExitStack) -> Loop:
    record, fd = make(folder / make.__name__)
    stack.callback(os.close, fd)

    def loop() -> None:
        for data in DATA:
            record("tool_call", "code-analyzer", data, 7)

    return loop


def steps(folder: Path, stack: ExitStack) -> Loop:
    session = stack.enter_context(LCTLSession("c", folder / "session.lctl.json"))

    def loop() -> None:
        for _ in DATA:
            with session.step("code-analyzer", "analyze"):
                pass

    return loop


def structlogger(folder: Path, stack: ExitStack) -> Loop:
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


def logger(folder: Path, stack: ExitStack) -> Loop:
    logger = logging.Logger("benchmark")
    handler = logging.FileHandler(folder / "logging")
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    stack.callback(handler.close)

    def loop() -> None:
        for data in DATA:
            logger.info("tool_call %s", data)

    return loop


def spans(stack: ExitStack) -> Loop:
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
