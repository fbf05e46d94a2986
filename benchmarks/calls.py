"""What recording adds to real SDK calls.

L1: paired calls of the openai SDK over a mock transport, order drawn anew for every pair, CPU time of
the calling thread; recorded against not recorded, both instrumented. Void unless an A/A control (not
recorded, twice) in the same draw is within 1 %.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
from typing import Any

import httpx2
import openai

from benchmarks import Row
from benchmarks.floor import least_recorder
from benchmarks.least import least_protocol
from lctl.instrument import ensure_installed, uninstrument
from lctl.session import LCTLSession
from lctl.session.runs import context

_TEXT = "The quick brown fox jumps over the lazy dog, and then it reads the whole log again. "
Call = Callable[[], Any]


def measure() -> list[Row]:
    ensure_installed()
    try:
        with tempfile.TemporaryDirectory(dir=".", prefix=".bench-") as folder:
            return [*_overhead(Path(folder)), *_least(Path(folder)), *_otel()]
    finally:
        uninstrument()


# -- L1 ----------------------------------------------------------------------------------------


def _overhead(folder: Path) -> Iterator[Row]:
    for id, what, call, pairs, limit in (
        ("L1", "openai call, 2 messages: recorded / not", _plain_call(2), 2000, 1.045),
        ("L1b", "openai call, 100 messages: recorded / not", _plain_call(100), 120, 1.02),
        ("L1c", "openai stream of 50 chunks: recorded / not", _stream_call(50), 300, 1.04),
    ):
        with recorded_session(folder / f"{id}.lctl.json") as session:
            on, off, control = _paired(call, session, pairs)
        added = (on - off) * 1000
        same = control / off
        void = abs(same - 1) > 0.01
        measured = f"{off * 1000:.0f} us + {added:.0f} us, A/A {same:.3f}{' (void)' if void else ''}"
        yield Row(id, what, f"<= {limit}", measured, on / off, None if void else on / off <= limit)


def _least(folder: Path) -> Iterator[Row]:
    """Hand-written recorders of this one call, which no recorder that does more can be below."""
    call = _plain_call(2)
    with least_recorder(folder / "floor.log") as on:
        content = _in_turns([lambda: _timed(lambda: on(call)), *[lambda: _timed(call)] * 2], 2000)
    with least_protocol() as recorder:
        on = recorder(folder / "least.log")
        protocol = _in_turns([lambda: _timed(lambda: on(call)), *[lambda: _timed(call)] * 2], 2000)
    for what, (least, off, control) in (
        ("content can add (benchmarks/floor.py)", content),
        ("the protocol's events can add (benchmarks/least.py)", protocol),
    ):
        measured = f"{off * 1000:.0f} us + {(least - off) * 1000:.0f} us, A/A {control / off:.3f}"
        yield Row("L1", f"beside it: the least any recorder of {what}", "", measured, least / off, None)


def _paired(call: Call, session: LCTLSession, pairs: int) -> tuple[float, float, float]:
    """Milliseconds of CPU: recorded, not recorded, and not recorded again."""
    frame = session.frame()

    def recorded() -> float:
        return _timed(call, frame)

    def bare() -> float:
        return _timed(call, None)

    on, off, control = _in_turns([recorded, bare, bare], pairs)
    return on, off, control


def _timed(call: Call, frame: Any = None) -> float:
    """Milliseconds of this thread's CPU."""
    token = context.enter(frame)
    start = time.thread_time_ns()
    call()
    took = time.thread_time_ns() - start
    context.leave(token)
    return took / 1e6


def _in_turns(runs: list[Callable[[], float]], turns: int) -> list[float]:
    """The trimmed mean of each, their order drawn anew each turn; the first tenth of the turns warms up."""
    kinds: list[tuple[Callable[[], float], list[float]]] = [(run, []) for run in runs]
    for turn in range(turns + turns // 10):
        for run, times in random.sample(kinds, len(kinds)):
            took = run()
            if turn >= turns // 10:
                times.append(took)
    return [_trimmed(times) for _, times in kinds]


def _trimmed(times: list[float]) -> float:
    """Mean without the fastest and slowest tenth: garbage collection and other processes."""
    times.sort()
    cut = len(times) // 10
    return mean(times[cut : len(times) - cut])


def _client(body: bytes, content_type: str = "application/json") -> openai.OpenAI:
    def answer(request: httpx2.Request) -> httpx2.Response:
        if content_type == "application/json":
            return httpx2.Response(200, content=body, headers={"content-type": content_type})
        chunks = (event + b"\n\n" for event in body.split(b"\n\n") if event)
        return httpx2.Response(200, content=chunks, headers={"content-type": content_type})

    transport = httpx2.Client(transport=httpx2.MockTransport(answer))
    return openai.OpenAI(api_key="sk-none", base_url="http://model/v1", http_client=transport)


def completion(text: str) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    body = {
        "id": "chatcmpl-9",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30},
    }
    return json.dumps(body).encode()


def messages_of(count: int, size: int = 1000) -> list[Any]:
    text = (_TEXT * (size // len(_TEXT) + 1))[:size]
    return [{"role": ("user", "assistant")[n % 2], "content": f"{n} {text}"} for n in range(count)]


def _plain_call(count: int) -> Call:
    client, messages = _client(completion(_TEXT * 6)), messages_of(count)
    return lambda: client.chat.completions.create(model="gpt-4o", messages=messages)


def _stream_call(chunks: int) -> Call:
    head = {"id": "chatcmpl-9", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
    events = []
    for n in range(chunks):
        delta = {"role": "assistant", "content": "word "} if n == 0 else {"content": f"word{n} "}
        choice = {"index": 0, "delta": delta, "finish_reason": None if n < chunks - 1 else "stop"}
        events.append(b"data: " + json.dumps({**head, "choices": [choice]}).encode())
    client = _client(b"\n\n".join([*events, b"data: [DONE]"]), "text/event-stream")
    messages = messages_of(2)

    def call() -> None:
        for _ in client.chat.completions.create(model="gpt-4o", messages=messages, stream=True):
            pass

    return call


# -- the peer ----------------------------------------------------------------------------------


def _otel() -> Iterator[Row]:
    """One span with seven attributes around the same call, exported to nowhere."""
    try:
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
    except ImportError:
        return

    class Nowhere(SpanExporter):
        def export(self, spans: Any) -> SpanExportResult:
            return SpanExportResult.SUCCESS

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Nowhere()))
    tracer = provider.get_tracer("bench")
    call = _plain_call(2)

    def spanned() -> None:
        with tracer.start_as_current_span("chat gpt-4o") as span:
            answer = call()
            for key, value in {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "gpt-4o",
                "gen_ai.response.model": answer.model,
                "gen_ai.response.id": answer.id,
                "gen_ai.response.finish_reasons": [answer.choices[0].finish_reason],
                "gen_ai.usage.input_tokens": answer.usage.prompt_tokens,
                "gen_ai.usage.output_tokens": answer.usage.completion_tokens,
            }.items():
                span.set_attribute(key, value)

    kinds: list[tuple[Call, list[float]]] = [(spanned, []), (call, [])]
    for _ in range(1200):
        for run, times in random.sample(kinds, 2):
            start = time.thread_time_ns()
            run()
            times.append((time.thread_time_ns() - start) / 1e6)
    provider.shutdown()
    on, off = (_trimmed(times) for _, times in kinds)
    measured = f"{off * 1000:.0f} us + {(on - off) * 1000:.0f} us, no content, nothing on disk"
    yield Row("L1", "beside it: one OpenTelemetry span, seven attributes", "", measured, on / off, None)


# -- what the others need too -------------------------------------------------------------------


@contextmanager
def recorded_session(path: Path) -> Iterator[LCTLSession]:
    session = LCTLSession("bench", path)
    try:
        yield session
    finally:
        session.close()
