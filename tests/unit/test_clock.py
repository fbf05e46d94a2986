"""The clocks that lctl reads."""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.instrument import attempts, calls, transports
from lctl.session import LCTLSession
from lctl.session.concurrency import underway

_FUNCTIONS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")


def test_what_sets_the_programs_clocks_does_not_set_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As freezegun does, which looks for the functions of `time` in every module."""
    assert all(part.__name__ in sys.modules for part in (attempts, calls, transports, underway))
    fake: dict[int, Any] = {id(getattr(time, name)): lambda: 0 for name in _FUNCTIONS}
    for module in [m for name, m in sys.modules.items() if name.partition(".")[0] == lctl.__name__]:
        for name, value in list(vars(module).items()):
            if id(value) in fake:
                monkeypatch.setattr(module, name, fake[id(value)])
    path = tmp_path / "run.lctl.json"
    with LCTLSession("c", path) as session, session.step("a"):
        pass
    start, end = json.loads(path.read_text())["events"]
    assert datetime.fromisoformat(start["timestamp"]).year > 1970  # what the set ones say
    assert end["data"]["duration_ms"] > 0
