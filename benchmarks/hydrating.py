"""C12: sessions taken from a log of a million events (the design's section on scale).

    python -m benchmarks.hydrating 1000000

The log is read once, which makes its index; then sessions are hydrated at random events and read whole.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

import orjson

import lctl
from benchmarks import Row
from lctl.record.journal import JournalStore

#: Events of one session: its start, messages, and every twenty messages a state.
_EVENTS = 211
_READ = 30


def measure(events: int = 1_000_000) -> list[Row]:
    """Rows for a log of `events` events."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.lctl.json"
        write(path, events)
        chain = lctl.load(path)
        start = process_time()
        sessions = len(chain.sessions)
        indexed = process_time() - start
        slowest = _hydrated(chain, events)
    name = f"{events:,} events"
    after = f"{sessions:,} sessions, after {indexed:.1f} s of folding"
    return [
        Row("C12", f"a session hydrated at an event of {name} and read, the slowest of {_READ}", "<= 0.5 s",
            f"{slowest:.3f} s ({after})", slowest / 0.5, slowest <= 0.5),
    ]  # fmt: skip


def write(path: Path, events: int) -> None:
    """A log of sessions one after the other."""
    store = JournalStore(path, {"id": "sessions"})
    lines = _lines(events)
    while batch := list(islice(lines, 10_000)):
        store.append(b",\n".join(batch), len(batch))
    store.close({})


def _lines(events: int) -> Iterator[bytes]:
    for seq in range(1, events + 1):
        session, place = divmod(seq - 1, _EVENTS)
        kind, data = _event(f"s{session}", place)
        line = {
            "seq": seq,
            "type": kind,
            "timestamp": "2026-01-01T00:00:00.000000Z",
            "agent": "a",
            "data": data,
        }
        yield orjson.dumps(line)


def _event(session: str, place: int) -> tuple[str, dict[str, Any]]:
    if not place:
        seeds = [{"role": "system", "content": "You are a helpful assistant."}]
        return "session_start", {"session_id": session, "conversation_id": session, "seed_messages": seeds}
    block, within = divmod(place - 1, 21)
    if within == 20:
        return "checkpoint", {"session_id": session, "state": {"block": block}}
    number = block * 20 + within + 2
    above = f"{session}/{number - 1}" if number > 2 else None
    return "message", {
        "message_id": f"{session}/{number}",
        "parent_id": above,
        "conversation_id": session,
        "session_id": session,
        "message_number": number,
        "role": "assistant" if number % 2 else "user",
        "content": f"Message {number} of {session}.",
    }


def _hydrated(chain: Any, events: int) -> float:
    chance, slowest = random.Random(1), 0.0
    for _ in range(_READ):
        at = chance.randrange(_EVENTS, events)
        session = f"s{at // _EVENTS - 1}"
        start = process_time()
        found = lctl.Session.hydrate(chain, session, at=at)
        messages, state, totals = found.messages, found.state, found.totals
        slowest = max(slowest, process_time() - start)
        assert len(messages) == 200
        assert state == {"block": 9}
        assert totals is not None
    return slowest


if __name__ == "__main__":
    for row in measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000):
        print(f"{row.id:4} {row.what:72} {row.target:10} {row.measured} {'pass' if row.passed else 'short'}")
