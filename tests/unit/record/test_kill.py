"""SIGKILL in the middle of recording: every event whose call had returned is in the file."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lctl.record.journal import JournalStore

if sys.platform == "win32":
    pytest.skip("needs SIGKILL", allow_module_level=True)

_CHILD = """
import os, sys
from lctl.session import LCTLSession
session = LCTLSession("c", sys.argv[1])
sizes = [10, 300, 9000, 40]
n = 0
while True:
    n += 1
    if n % 50 == 0:
        seq = session.emit_many(lambda first: [("t", "a", {"x": "y" * 500}, None)] * 4) + 3
    else:
        seq = session.emit("t", {"x": "y" * sizes[n % 4]})
    os.write(1, b"%d\\n" % seq)
"""


@pytest.fixture(autouse=True)
def own_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is killed is what records, and gone at once."""
    monkeypatch.delenv("WARM_PYTHON", raising=False)


def kill_one(path: Path, after: float) -> tuple[int, int]:
    """Kill a recording process `after` seconds from its first event; (last acknowledged seq, last kept)."""
    child = subprocess.Popen([sys.executable, "-c", _CHILD, str(path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    acknowledged = child.stdout.readline()
    os.set_blocking(child.stdout.fileno(), False)
    deadline = time.monotonic() + after
    while time.monotonic() < deadline:
        acknowledged += child.stdout.read() or b""
    child.send_signal(signal.SIGKILL)
    child.wait()
    acknowledged += child.stdout.read() or b""
    child.stdout.close()
    complete = acknowledged[: acknowledged.rfind(b"\n")]
    store = JournalStore(path, {"id": "c"})
    seqs = [json.loads(line)["seq"] for line in store.read()]
    store.close({})
    assert seqs == list(range(1, len(seqs) + 1))
    assert json.loads(path.read_bytes())["hash"]["count"] == len(seqs)
    return int(complete.rpartition(b"\n")[2]), len(seqs)


def kill_many(count: int, folder: Path) -> None:
    chance = random.Random(count)
    for n in range(count):
        acknowledged, kept = kill_one(folder / f"{n}.lctl.json", chance.random() * 0.05)
        assert kept >= acknowledged


def test_killed_20_times(tmp_path: Path) -> None:
    """Twenty kills at random moments."""
    kill_many(20, tmp_path)


@pytest.mark.slow
def test_killed_200_times(tmp_path: Path) -> None:
    """Two hundred kills at random moments."""
    kill_many(200, tmp_path)
