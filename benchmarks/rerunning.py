"""What a rerun costs: T1 and T2.

A program of 100 model calls is recorded against a transport that answers at once, and run again on its
tape. A provider would have taken 400 ms a call.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import lctl
from benchmarks import Row
from benchmarks.calls import _TEXT, _client, completion
from lctl.rerun.exactness.echo import EchoStore
from lctl.rerun.serving.answers import RecordedAnswer
from lctl.rerun.serving.player import TapePlayer

CALLS = 100
LATENCY = 0.4  # seconds a call
ROUNDS = 7


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        before = os.environ.get("LCTL_DIR")
        os.environ["LCTL_DIR"] = name
        try:
            return list(_rows(Path(name) / "recorded.lctl.json"))
        finally:
            lctl.uninstrument()
            os.environ.pop("LCTL_DIR")
            if before is not None:
                os.environ["LCTL_DIR"] = before


def _rows(path: Path) -> Iterator[Row]:
    program = _program()
    with lctl.LCTLSession("recorded", path):
        program()
    took, served, parsed = [], [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        with lctl.rerun(path) as block:
            program()
        took.append(time.perf_counter() - began)
        assert block.certificate.ok, block.certificate
    recorded = CALLS * LATENCY
    yield Row(
        "T1",
        f"recording of {CALLS} calls at 400 ms / its rerun, wall",
        ">= 50x",
        f"{recorded:.0f} / {median(took):.2f} s",
        recorded / median(took),
        recorded / median(took) >= 50,
    )
    client = _client(completion(_TEXT * 6))
    for _ in range(2 * ROUNDS):  # by turns, because the machine's speed changes
        served.append(_served(path, program))
        parsed.append(_parsed(client))
    ratio = median(one / other for one, other in zip(served, parsed, strict=True))
    yield Row(
        "T2",
        "player, a served call / the SDK's parsing of it, CPU",
        "<= 1x",
        f"{median(served):.0f} / {median(parsed):.0f} us",
        ratio,
        ratio <= 1,
    )


def _program() -> Callable[[], None]:
    client = _client(completion(_TEXT * 6))

    def program() -> None:
        messages: list[Any] = [{"role": "system", "content": "You are helpful. " * 20}]
        for n in range(CALLS):
            if n % 10 == 0:
                del messages[1:]
            messages.append({"role": "user", "content": f"question {n}"})
            answer = client.chat.completions.create(model="gpt-4o", messages=messages)
            messages.append({"role": "assistant", "content": answer.choices[0].message.content})

    return program


def _served(path: Path, program: Callable[[], None]) -> float:
    """Microseconds a call in what only a rerun does: finding, serving, comparing."""
    spent = 0

    def timed(function: Any) -> Any:
        def inner(*args: Any, **kwargs: Any) -> Any:
            nonlocal spent
            began = time.thread_time_ns()
            try:
                return function(*args, **kwargs)
            finally:
                spent += time.thread_time_ns() - began

        return inner

    places = [(TapePlayer, "exchange"), (RecordedAnswer, "_left"), (EchoStore, "_compared")]
    originals = [(owner, name, getattr(owner, name)) for owner, name in places]
    for owner, name, original in originals:
        setattr(owner, name, timed(original))
    try:
        with lctl.rerun(path):
            program()
    finally:
        for owner, name, original in originals:
            setattr(owner, name, original)
    return spent / CALLS / 1000


def _parsed(client: Any) -> float:
    """Microseconds in which the SDK makes its object of one response."""
    times = []
    for _ in range(CALLS):
        raw = client.chat.completions.with_raw_response.create(
            model="gpt-4o", messages=[{"role": "user", "content": "question"}]
        )
        began = time.thread_time_ns()
        raw.parse()
        times.append((time.thread_time_ns() - began) / 1000)
    return sum(times) / len(times)
