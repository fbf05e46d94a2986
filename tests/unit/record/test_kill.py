"""SIGKILL in the middle of recording: every event whose call had returned is in the file."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lctl.record.journal import JournalStore

if sys.platform == "win32":
    pytest.skip("needs SIGKILL", allow_module_level=True)

# Forks a process for each path it is told, with all loaded: that one says its number, records, and says what
# was acknowledged, until it is killed.
_PARENT = """
import os, sys
from lctl.session import LCTLSession

def record(path):
    os.write(1, b"%d\\n" % os.getpid())
    session = LCTLSession("c", path)
    sizes = [10, 300, 9000, 40]
    n = 0
    while True:
        n += 1
        if n % 50 == 0:
            seq = session.emit_many(lambda first: [("t", "a", {"x": "y" * 500}, None)] * 4) + 3
        else:
            seq = session.emit("t", {"x": "y" * sizes[n % 4]})
        os.write(1, b"%d\\n" % seq)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        record(line[:-1])
    os.waitpid(child, 0)
    os.write(1, b"gone\\n")
"""


@pytest.fixture
def parent(monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[str]]:
    monkeypatch.delenv("WARM_PYTHON", raising=False)  # whose child it is that is killed
    command = [sys.executable, "-c", _PARENT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0


def kill_one(parent: subprocess.Popen[str], path: Path, after: float) -> tuple[int, int]:
    """Kill a recording process `after` seconds from its first event; (last acknowledged seq, last kept)."""
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write(f"{path}\n")
    parent.stdin.flush()
    child, acknowledged = int(parent.stdout.readline()), int(parent.stdout.readline())
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    while (said := parent.stdout.readline()) != "gone\n":
        acknowledged = int(said)
    store = JournalStore(path, {"id": "c"})
    seqs = [json.loads(line)["seq"] for line in store.read()]
    store.close({})
    assert seqs == list(range(1, len(seqs) + 1))
    assert json.loads(path.read_bytes())["hash"]["count"] == len(seqs)
    return acknowledged, len(seqs)


def kill_many(parent: subprocess.Popen[str], count: int, folder: Path) -> None:
    chance = random.Random(count)
    for n in range(count):
        acknowledged, kept = kill_one(parent, folder / f"{n}.lctl.json", chance.random() * 0.05)
        assert kept >= acknowledged


def test_killed_20_times(parent: subprocess.Popen[str], tmp_path: Path) -> None:
    """Twenty kills at random moments."""
    kill_many(parent, 20, tmp_path)


@pytest.mark.slow
def test_killed_200_times(parent: subprocess.Popen[str], tmp_path: Path) -> None:
    """Two hundred kills at random moments."""
    kill_many(parent, 200, tmp_path)
