"""Reading a long log: windows, the index, states at any seq, the reducer (V1, V2, O1 to O3, P1).

    python -m benchmarks.reading 100000

Every figure comes from a process of its own, which holds nothing else; CPU time, except for windows and
seeks, which are wall time. Ratios are within one process. The log is synthetic (`trace.py`).
"""

from __future__ import annotations

import gc
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from benchmarks import Row
from benchmarks.mutable import plain_loop
from benchmarks.trace import write_trace
from lctl.codec import open_log
from lctl.state.blocks import LineBlocks
from lctl.state.index import Index
from lctl.state.timeline import Timeline

_K = 64
_ROUNDS = 3


def measure(events: int = 1_000_000) -> list[Row]:
    """All rows, for a log of `events` events beside one of a tenth of it."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.lctl.json", Path(folder) / "large.lctl.json"
        write_trace(small, events // 10)
        size = write_trace(large, events)
        windows = [_alone("windows", path) for path in (small, large)]
        indexed = [_alone("index", large) for _ in range(_ROUNDS)]
        few = _alone("index", small)
        whole = _alone("whole", large)
        reduced = [_alone("reduce", small) for _ in range(_ROUNDS)]
    name = f"{events:,} events, {size / 1e6:.0f} MB"
    return [
        _v1(name, *windows),
        *_v2(name, indexed, few),
        _o1(name, indexed),
        _o2(name, indexed, whole),
        _o3(name, indexed, size),
        *_p1(reduced),
    ]


def _v1(name: str, small: dict[str, float], large: dict[str, float]) -> Row:
    ms, mb = large["ms"], large["mb"]
    measured = f"{ms:.2f} ms ({small['ms']:.2f} at a tenth), {mb:.0f} MB"
    what = f"open and show any 100 events of {name}"
    return Row("V1", what, "<= 0.5 ms, < 20 MB", measured, ms / small["ms"], ms <= 0.5 and mb < 20)


def _v2(name: str, rounds: list[dict[str, float]], few: dict[str, float]) -> list[Row]:
    best = min(rounds, key=lambda one: one["seek"])
    seek, decode = best["seek"], best["decode"]
    to_decode, growth = seek / decode, seek / few["seek"]
    return [
        Row(
            "V2",
            f"state at any seq of {name}, p50, against orjson.loads of {_K} lines",
            "<= 120 us, <= 2.0x",
            f"{seek:.0f} us against {decode:.0f}",
            to_decode,
            seek <= 120 and to_decode <= 2.0,
        ),
        Row(
            "V2",
            "the same against a tenth of the log",
            "<= 1.5x",
            f"{few['seek']:.0f} us",
            growth,
            growth <= 1.5,
        ),
    ]


def _o1(name: str, rounds: list[dict[str, float]]) -> Row:
    ratio = statistics.median(one["index"] / one["stream"] for one in rounds)
    best = min(rounds, key=lambda one: one["index"])
    measured = f"{best['index']:.2f} s against {best['stream']:.2f}"
    what = f"index of {name}, against a streamed orjson.loads of its lines"
    return Row("O1", what, "<= 2.0x", measured, ratio, ratio <= 2.0)


def _o2(name: str, rounds: list[dict[str, float]], whole: dict[str, float]) -> Row:
    index = min(one["index"] for one in rounds)
    ratio = index / whole["seconds"]
    measured = f"{index:.2f} s against {whole['seconds']:.2f}"
    what = f"index of {name}, against orjson.loads of the document"
    return Row("O2", what, "<= 0.35x", measured, ratio, ratio <= 0.35)


def _o3(name: str, rounds: list[dict[str, float]], size: int) -> Row:
    mb = min(one["mb"] for one in rounds)
    ratio = mb * 1e6 / size
    return Row(
        "O3", f"memory of the index of {name}", "<= 0.6x the file", f"{mb:.0f} MB", ratio, ratio <= 0.6
    )


def _p1(rounds: list[dict[str, float]]) -> list[Row]:
    ratio = statistics.median(one["reduce"] / one["plain"] for one in rounds)
    best = min(rounds, key=lambda one: one["reduce"])
    speed = best["events"] / best["reduce"] / 1e6
    pure, plain = (best[key] / best["events"] * 1e6 for key in ("reduce", "plain"))
    return [
        Row(
            "P1",
            f"fold decoded events with a keyframe every {_K}, against a plain mutable loop without",
            "<= 1.4x",
            f"{pure:.2f} us an event against {plain:.2f}",
            ratio,
            ratio <= 1.4,
        ),
        Row("P1", "the same in events a second", ">= 0.8 M/s", f"{speed:.2f} M/s", speed, speed >= 0.8),
    ]


# -- what each process measures ------------------------------------------------------------


def windows(path: Path) -> dict[str, float]:
    """Open the log anew and decode 100 events somewhere in it."""
    before = _anonymous_mb()
    last = open_log(path).last_seq
    draw = random.Random(1)
    times = []
    for _ in range(200):
        start = draw.randrange(1, last - 99)
        began = time.perf_counter()
        shown = list(open_log(path).events(start, start + 100))
        times.append(time.perf_counter() - began)
        assert len(shown) == 100
    return {"ms": statistics.median(times) * 1000, "mb": _anonymous_mb() - before}


def index(path: Path) -> dict[str, float]:
    """Index the log; look at states in random order."""
    stream = _cpu(lambda: _stream(path))
    before = _anonymous_mb()
    timeline = Timeline(open_log(path))
    seconds = _cpu(lambda: timeline.last)
    grown = _anonymous_mb() - before
    draw, last = random.Random(1), timeline.source.last_seq
    seeks, decodes = [], []
    for _ in range(2000):
        seq = draw.randrange(1, last - _K)
        began = time.perf_counter()
        timeline.at(seq)
        seeks.append(time.perf_counter() - began)
    for _ in range(300):
        seq = draw.randrange(1, last - _K)
        lines = list(timeline.source.lines(seq, seq + _K))  # type: ignore[attr-defined]
        began = time.perf_counter()
        for line in lines:
            orjson.loads(line)
        decodes.append(time.perf_counter() - began)
    return {
        "stream": stream,
        "index": seconds,
        "mb": grown,
        "seek": statistics.median(seeks) * 1e6,
        "decode": statistics.median(decodes) * 1e6,
    }


def whole(path: Path) -> dict[str, float]:
    """What it costs to have everything in memory."""
    data = path.read_bytes()
    return {"seconds": _cpu(lambda: orjson.loads(data))}


def reduce(path: Path) -> dict[str, float]:
    """Fold the same decoded events with keyframes, and by a loop of plain mutable dicts."""
    lines = open_log(path).buffer()
    assert lines is not None
    source = LineBlocks(lines, _K)
    blocks: list[Any] = list(source.more())
    flat = [event for block in blocks for event in block]

    def keyframes() -> None:
        states = Index("", source.event)
        for block in blocks:
            states.add(block)

    gc.disable()
    plain = min(_cpu(lambda: plain_loop(flat)) for _ in range(3))
    pure = min(_cpu(keyframes) for _ in range(3))
    return {"plain": plain, "reduce": pure, "events": len(flat)}


def _stream(path: Path) -> None:
    loads = orjson.loads
    gc.disable()  # as the index does
    with path.open("rb") as file:
        next(file)
        for line in file:
            if line[:1] == b"]":
                break
            loads(line.rstrip(b",\n"))
    gc.enable()


def _cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _anonymous_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    return 0.0


_PARTS: dict[str, Callable[[Path], dict[str, float]]] = {
    "windows": windows,
    "index": index,
    "whole": whole,
    "reduce": reduce,
}


def _alone(part: str, path: Path) -> dict[str, float]:
    """One part in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.reading", part, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, cwd=Path(__file__).parents[1])
    result: dict[str, float] = orjson.loads(done.stdout)
    return result


if __name__ == "__main__":
    if sys.argv[1] in _PARTS:
        sys.stdout.buffer.write(orjson.dumps(_PARTS[sys.argv[1]](Path(sys.argv[2]))))
    else:
        for row in measure(int(sys.argv[1])):
            print(row)
