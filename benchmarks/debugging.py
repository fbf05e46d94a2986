"""The debugger's server on a long log, over HTTP as a page asks it (F1 to F4).

    python -m benchmarks.debugging 1000000

The server is a process of its own, started as a user starts it. Times are wall time, from the start of the
process or of the request; memory is what the system counts as the server's (VmHWM, VmRSS). `cpu` of a state
is the server's CPU time for it, which a busy machine does not change much.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import Row
from benchmarks.trace import write_trace

_FIRST = ("/api/session", "/api/run", "/api/timeline?width=1200", "/api/events?limit=100", "/api/state?at=50")
_STATES = 500


class Page:
    """A server for a log, and what a page asks of it."""

    def __init__(self, path: Path) -> None:
        self.began = time.perf_counter()
        command = [sys.executable, "-m", "lctl", "debug", str(path), "--no-browser", "--port", "0"]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        link = self._process.stdout.readline()
        port, token = re.search(r":(\d+)/", link), re.search(r"token=([^#&\s]+)", link)
        assert port is not None and token is not None, link
        self._headers = {"Authorization": f"Bearer {token[1]}"}
        self._connection = http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=600)

    def get(self, path: str) -> Any:
        self._connection.request("GET", path, headers=self._headers)
        response = self._connection.getresponse()
        body = response.read()
        assert response.status == 200, (path, body[:300])
        return json.loads(body)

    def whole(self, path: str) -> None:
        """Ask until everything has been read."""
        while self.get(path).get("progress", 1.0) < 1.0:
            time.sleep(0.1)

    def ms(self, path: str) -> float:
        began = time.perf_counter()
        self.get(path)
        return (time.perf_counter() - began) * 1000

    def cpu(self) -> float:
        """Seconds of CPU the server has used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self, name: str) -> float:
        """MB of the server, by its name in /proc."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        found = re.search(rf"{name}:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else 0.0

    def close(self) -> None:
        self._connection.close()
        self._process.terminate()
        self._process.wait()


def measure(events: int = 1_000_000) -> list[Row]:
    """All rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.lctl.json"
        size = write_trace(path, events)
        page = Page(path)
        try:
            return list(_rows(page, f"{events:,} events, {size / 1e6:.0f} MB", events, size))
        finally:
            page.close()


def _rows(page: Page, name: str, events: int, size: int) -> list[Row]:
    for path in _FIRST:
        page.get(path)
    first = time.perf_counter() - page.began
    page.whole("/api/timeline?width=1200")
    whole = time.perf_counter() - page.began
    rows = [
        Row(
            "F1", f"start, header, time bar, 100 rows and a state of {name}", "<= 1.5 s",
            f"{first:.2f} s (time bar whole at {whole:.2f} s)", None, first <= 1.5,
        )
    ]  # fmt: skip
    page.whole("/api/state")
    draw = random.Random(1)
    orders = {
        "random": [draw.randrange(1, events) for _ in range(_STATES)],
        "one by one": list(range(events // 2, events // 2 + _STATES)),
        "dragged": list(range(1, events, max(1, events // _STATES))),
    }
    for order, seqs in orders.items():
        before = page.cpu()
        times = sorted(page.ms(f"/api/state?at={seq}") for seq in seqs)
        cpu = (page.cpu() - before) / len(seqs) * 1000
        p99 = times[int(len(times) * 0.99)]
        measured = f"{p99:.1f} ms (p50 {statistics.median(times):.1f}, cpu {cpu:.1f})"
        rows.append(
            Row("F2", f"state at any seq of {name}, {order}, p99", "<= 16 ms", measured, p99 / 16, p99 <= 16)
        )
    now, most = page.memory("VmRSS"), page.memory("VmHWM")
    ratio = now * 1e6 / size
    measured = f"{now:.0f} MB (at most {most:.0f})"
    rows.append(
        Row("F3", f"memory of the server, {name}", "<= 0.25x the file", measured, ratio, ratio <= 0.25)
    )
    window = page.ms(f"/api/timeline?from={events // 2}&to={events // 2 + 3000}&width=1200")
    rows.append(
        Row("F4", "the time bar zoomed to 3,000 events, steps drawn", "", f"{window:.0f} ms", None, None)
    )
    return rows


if __name__ == "__main__":
    for row in measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000):
        sys.stdout.write(f"{row.id}  {row.what}: {row.measured} ({row.target}) {row.passed}\n")
