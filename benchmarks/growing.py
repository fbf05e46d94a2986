"""How a conversation that grows is recorded, sent whole each turn.

D1, D2: 200 turns; bytes of log against the distinct bytes on the wire, and CPU added a call against one dumps
of the messages. D4: 40 turns, what they add in all; beside it what a hand-written recorder of the protocol's
events adds (`benchmarks/least.py`).
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import httpx2
import openai
import orjson

from benchmarks import Row
from benchmarks.calls import completion, messages_of, recorded_session
from benchmarks.least import least_protocol
from lctl.instrument import ensure_installed, uninstrument
from lctl.session.runs import context

Call = Callable[[], Any]
#: Given the path of a log: a block in which what it gives makes a recorded call.
Recorder = Callable[[Path], AbstractContextManager[Callable[[Call], Any]]]


class Grown(NamedTuple):
    """Milliseconds of CPU added a call, bytes of log, the whole history, bytes around the answers."""

    cpu: float
    size: int
    history: list[Any]
    around: int


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory(dir=".", prefix=".bench-") as folder:
        ensure_installed()
        try:
            rows = [*_long(Path(folder)), _short(Path(folder))]
        finally:
            uninstrument()
        return [*rows, _least(Path(folder))]


def _long(folder: Path) -> Iterator[Row]:
    turns = 200
    grown = _growing(_by_lctl, folder / "d1.lctl.json", turns, 1200)
    distinct = len(orjson.dumps(grown.history)) + grown.around
    prompts = [grown.history[: 2 * n + 1] for n in range(turns)]
    resent = sum(len(orjson.dumps(prompt)) for prompt in prompts)
    measured = f"{grown.size / 1e6:.2f} MB for {distinct / 1e6:.2f} MB (sent: {resent / 1e6:.0f} MB)"
    what = f"{turns} turns: log / distinct bytes on the wire"
    yield Row("D1", what, "<= 1.2", measured, grown.size / distinct, grown.size <= 1.2 * distinct)
    dumps = _cpu(lambda: [orjson.dumps(prompt) for prompt in prompts]) / turns
    void = grown.cpu <= 0  # the machine's own unevenness is more than what is measured
    measured = f"{grown.cpu * 1000:.0f} us a call, one dumps of its messages {dumps * 1000:.0f} us"
    what = f"{turns} turns: CPU added / one dumps of the list"
    measured += " (void)" if void else ""
    yield Row("D2", what, "<= 1.0", measured, grown.cpu / dumps, None if void else grown.cpu <= dumps)


def _short(folder: Path) -> Row:
    grown = _growing(_by_lctl, folder / "d4.lctl.json", 40, 300)
    total = grown.cpu * 40
    what = "40 turns of growing history: added in all"
    measured = f"{total:.1f} ms, {grown.size / 1e6:.3f} MB"
    return Row("D4", what, "<= 4 ms, 0.1 MB", measured, None, total <= 4 and grown.size <= 100_000)


def _least(folder: Path) -> Row:
    with least_protocol() as recorder:

        @contextmanager
        def by_hand(path: Path) -> Iterator[Callable[[Call], Any]]:
            yield recorder(path)

        grown = _growing(by_hand, folder / "least.log", 40, 300)
    what = "beside it: the least any recorder of the protocol's events can add"
    return Row("D4", what, "", f"{grown.cpu * 40:.1f} ms, {grown.size / 1e6:.3f} MB", None, None)


@contextmanager
def _by_lctl(path: Path) -> Iterator[Callable[[Call], Any]]:
    with recorded_session(path) as session:
        frame = session.frame()

        def on(call: Call) -> Any:
            token = context.enter(frame)
            try:
                return call()
            finally:
                context.leave(token)

        yield on


def _growing(recorder: Recorder, path: Path, turns: int, size: int) -> Grown:
    messages = messages_of(2 * turns, size)
    answers = [completion(each["content"]) for each in messages[1::2]]

    def run(on: Callable[[Call], Any]) -> list[float]:
        upcoming = iter(answers)

        def answer(request: httpx2.Request) -> httpx2.Response:
            return httpx2.Response(200, content=next(upcoming), headers={"content-type": "application/json"})

        transport = httpx2.Client(transport=httpx2.MockTransport(answer))
        client = openai.OpenAI(api_key="sk-none", base_url="http://model/v1", http_client=transport)
        times: list[float] = []

        def turn(history: list[Any]) -> None:
            start = time.thread_time_ns()
            client.chat.completions.create(model="gpt-4o", messages=history)
            times.append((time.thread_time_ns() - start) / 1e6)

        def turns_of_it() -> None:
            for n in range(turns):
                turn(messages[: 2 * n + 1])

        on(turns_of_it)
        return times

    run(lambda call: call())
    off, on = [], []
    for n in range(3):
        off.append(run(lambda call: call()))
        logged = path.with_suffix(f".{n}.json")
        with recorder(logged) as recorded:
            on.append(run(recorded))
    # Turn by turn the least of three runs: turns differ a hundredfold, and noise only adds.
    added = mean(min(o) - min(f) for o, f in zip(zip(*on, strict=True), zip(*off, strict=True), strict=True))
    around = sum(len(answer) for answer in answers) - sum(len(m["content"]) for m in messages[1::2])
    return Grown(added, logged.stat().st_size, messages, around)


def _cpu(work: Call) -> float:
    gc.collect()
    start = time.thread_time_ns()
    work()
    return (time.thread_time_ns() - start) / 1e6
