"""Training data from a long log: samples of many conversations, of one, and of forks (G13).

    python -m benchmarks.training 1000000

Every figure comes from a process of its own; CPU time. Memory is what samples add to the tree of the log,
which is in memory before them, beside the largest row.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson

from benchmarks import Row

#: Shape -> messages of one path.
SHAPES = {"conversations of 200 messages": 200, "one conversation": 0, "10 forks of each 1,000": 1000}


def measure(messages: int = 1_000_000) -> list[Row]:
    """A row for each shape of log; the target is of the design (section 7)."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for shape in SHAPES:
            path = Path(folder) / "log.lctl.json"
            write_log(path, messages, shape)
            got = _alone(path)
            limit = 60.0 * got["read"] / 1_000_000
            seconds = got["plan"] + got["rows"]
            rows.append(
                Row(
                    "G13",
                    f"samples of {messages:,} messages, {shape}: {got['count']:,.0f} rows",
                    "<= 60 s a million messages of rows",
                    f"{got['plan']:.1f} s + {got['rows']:.1f} s, after {got['fold']:.1f} s of folding; "
                    f"{got['mb']:.0f} MB more, the largest row has {got['largest']:,.0f} messages",
                    seconds / limit,
                    seconds <= limit,
                )
            )
    return rows


def write_log(path: Path, messages: int, shape: str) -> None:
    """A log of that many messages, every second one sampled."""
    with path.open("wb") as file:
        file.write(b'{"lctl":"4.0","chain":{"id":"bench"},"events":[\n')
        for n, data in enumerate(_messages(messages, shape), 1):
            event = {"seq": n, "type": "message", "timestamp": "2026-01-01T00:00:00Z", "agent": "a"}
            file.write((b",\n" if n > 1 else b"") + orjson.dumps({**event, "data": data}))
        file.write(b"\n")


def _messages(messages: int, shape: str) -> Iterator[dict[str, Any]]:
    call = {"model": "m", "finish_reason": "stop", "usage": {"input": 900, "output": 60}}
    length, forks = SHAPES[shape] or messages, 10 if "forks" in shape else 0
    parent: str | None = None
    for n in range(messages):
        place = n % (length + forks)
        if place == 0:
            parent = None
        elif place >= length:
            parent = f"m{n - place + length - 2}"
        data: dict[str, Any] = {"message_id": f"m{n}", "parent_id": parent, "role": "user"}
        if place % 2 or place >= length:
            data |= {"role": "assistant", "sampled": True, "call": call}
        yield data | {"content": f"Some words of message {n}, as many as a short answer has."}
        parent = f"m{n}"


def samples(path: Path) -> dict[str, float]:
    """Fold, plan, and go through the rows."""
    from lctl.chain import load
    from lctl.training.planning import Plan
    from lctl.training.sampling import rows

    times = [time.process_time()]
    tree = load(path).tree
    times.append(time.process_time())
    before = _anonymous_mb()
    plan = Plan(tree)
    times.append(time.process_time())
    most = largest = read = 0.0
    for n, row in enumerate(rows(plan)):
        largest = max(largest, len(row.messages))
        read += len(row.messages)
        if n % 500 == 0:
            most = max(most, _anonymous_mb())
    times.append(time.process_time())
    fold, planned, gone = (b - a for a, b in pairwise(times))
    return {
        "fold": fold,
        "plan": planned,
        "rows": gone,
        "count": len(plan),
        "largest": largest,
        "read": max(read, len(tree)),
        "mb": max(most, _anonymous_mb()) - before,
    }


def _anonymous_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    return 0.0


def _alone(path: Path) -> dict[str, float]:
    """In a process of its own."""
    command = [sys.executable, "-m", "benchmarks.training", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, cwd=Path(__file__).parents[1])
    result: dict[str, float] = orjson.loads(done.stdout)
    return result


if __name__ == "__main__":
    if sys.argv[1].isdigit():
        for row in measure(int(sys.argv[1])):
            print(row)
    else:
        sys.stdout.buffer.write(orjson.dumps(samples(Path(sys.argv[1]))))
