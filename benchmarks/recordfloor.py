"""R3b floor: what the least `record()` takes that is written in Python.

It builds the event, stamps it, serialises it, adds it to one growing buffer and writes that when it is full.
The first is for one thread that nothing interrupts: it has no lock, and knows nothing of signal handlers and
finalisers that record, of values orjson does not know, of a full disk. The second has a lock, so that threads
may share it, and nothing more. What lies between the second and lctl's is what the rest of that costs.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from lctl.clock import system_clock

_BUFFER = 1 << 17
Record = Callable[[str, str, dict[str, Any], int], int]


def unguarded(path: Path) -> tuple[Record, int]:
    """The function, and the descriptor it writes to."""
    fd = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    now, dumps, write = system_clock.now, orjson.dumps, os.write
    pending, seq = bytearray(), 0

    def record(type: str, agent: str, data: dict[str, Any], step: int) -> int:
        nonlocal pending, seq
        seq += 1
        pending += b",\n"
        pending += dumps(
            {"seq": seq, "type": type, "timestamp": now(), "agent": agent, "step": step, "data": data}
        )
        if len(pending) > _BUFFER:
            write(fd, pending)
            pending.clear()
        return seq

    return record, fd


def locked(path: Path) -> tuple[Record, int]:
    """The same for several threads."""
    fd = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    now, dumps, write = system_clock.now, orjson.dumps, os.write
    pending, seq = bytearray(), 0
    lock = threading.RLock()
    entering, leave = iter(lock.acquire, None), lock.release

    def record(type: str, agent: str, data: dict[str, Any], step: int) -> int:
        nonlocal pending, seq
        for _ in entering:
            break
        try:
            seq += 1
            pending += b",\n"
            pending += dumps(
                {"seq": seq, "type": type, "timestamp": now(), "agent": agent, "step": step, "data": data}
            )
            if len(pending) > _BUFFER:
                write(fd, pending)
                pending.clear()
            return seq
        finally:
            leave()

    return record, fd
