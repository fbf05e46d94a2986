"""The fact store: 100,000 facts loaded and asked, and what a fact costs to record (F1, F2).

    python -m benchmarks.facts 100000

Every figure comes from a process of its own; CPU time, the best of three. One fact in a hundred fits the
question wholly, one in a hundred a part of it.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson

from benchmarks import Row

_ROUNDS = 3
QUERY = """
    SELECT * FROM facts
    WHERE confidence >= 0.7
    AND relevance('SQL injection') > 0.5
    ORDER BY confidence DESC
    LIMIT 10
"""


def measure(facts: int = 100_000) -> list[Row]:
    """Both rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "facts.lctl.json"
        write_log(path, facts)
        load = _best("load", path)
        state = _best("state", path)
        ask = _best("ask", path)
        few = _best("add", Path(folder) / "few", 1000)
        many = _best("add", Path(folder) / "many", facts)
    return [
        Row(
            "F1",
            f"{facts:,} facts: the store loaded and the protocol's query answered, against loading the log",
            "<= 0.5x",
            f"{ask * 1000:.0f} ms, load {load * 1000:.0f} ms (its state {state * 1000:.0f} ms)",
            ask / load,
            ask <= 0.5 * load,
        ),
        Row(
            "F2",
            f"add_fact with {facts:,} facts in a store that is asked, against with 1,000",
            "<= 1.3x",
            f"{many * 1e6:.1f} against {few * 1e6:.1f} us",
            many / few,
            many <= 1.3 * few,
        ),
    ]


def write_log(path: Path, facts: int) -> None:
    """A log of that many facts of twelve words each."""
    chance = random.Random(1)
    words = [f"word{n}" for n in range(5000)]
    with path.open("wb") as file:
        file.write(b'{"lctl":"4.0","chain":{"id":"bench"},"events":[\n')
        for n in range(1, facts + 1):
            said = chance.choices(words, k=12)
            if n % 100 == 0:
                said[3:5] = ["SQL", "injection"]
            elif n % 100 == 50:
                said[3] = "SQL"
            data = {
                "id": f"F{n}", "text": " ".join(said), "confidence": round(chance.random(), 2),
                "source": "static-analysis",
            }  # fmt: skip
            event = {
                "seq": n,
                "type": "fact_added",
                "timestamp": "2026-01-01T00:00:00Z",
                "agent": f"a{n % 7}",
            }
            file.write((b",\n" if n > 1 else b"") + orjson.dumps({**event, "data": data}))
        file.write(b"\n]}")


def _best(what: str, path: Path, count: int = 0) -> float:
    return min(_alone(what, path, count) for _ in range(_ROUNDS))


def _alone(what: str, path: Path, count: int) -> float:
    command = [sys.executable, "-m", "benchmarks.facts", what, str(path), str(count)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _load(path: Path) -> float:
    import lctl

    start = time.process_time()
    len(lctl.load(path).events)
    return time.process_time() - start


def _state(path: Path) -> float:
    import lctl

    start = time.process_time()
    len(lctl.load(path).state.facts)
    return time.process_time() - start


def _ask(path: Path) -> float:
    import lctl
    from lctl.facts.querying import query

    chain = lctl.load(path)
    len(chain.events)
    start = time.process_time()
    found = query(chain, QUERY)
    spent = time.process_time() - start
    assert len(found.rows) == 10
    return spent


def _add(path: Path, count: int) -> float:
    from lctl import LCTLSession

    session = LCTLSession("bench", path=path)
    for n in range(count):
        session.add_fact(f"F{n}", f"fact number {n}", 0.8)
    session.facts.query("SELECT count(*) AS n FROM facts")
    start = time.process_time()
    for n in range(2000):
        session.add_fact(f"G{n}", f"fact number {n}", 0.8)
    spent = (time.process_time() - start) / 2000
    session.close()
    path.unlink()
    return spent


if __name__ == "__main__":
    if len(sys.argv) > 2:
        what, where = sys.argv[1], Path(sys.argv[2])
        print(
            _add(where, int(sys.argv[3]))
            if what == "add"
            else {"load": _load, "state": _state, "ask": _ask}[what](where)
        )
    else:
        for row in measure(*map(int, sys.argv[1:])):
            print(row)
