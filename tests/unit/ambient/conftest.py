"""Programs run in a process of their own, recorded in full, and served from what was recorded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lctl.codec import open_log
from tests.warm.starting import warmth

#: Runs program.py as `lctl run` does; with TAPE set, its reads are served from that log.
DRIVER = """
import os, runpy, sys
from lctl.session import border
import lctl.instrument

if "TAPE" in os.environ:
    from lctl.codec import open_log
    from lctl.payloads.tape import reads_of

    class Player(border.Player):
        def __init__(self, path):
            self.rows = {}
            for event in open_log(path).events():
                if event.type == "ambient":
                    lane = event.data.get("lane", "0")
                    for source, key, value, _ in reads_of(event.data):
                        self.rows.setdefault((lane, source), []).append((key, value))

        def ambient(self, source, key, lane, number):
            recorded, value = self.rows[lane.path, source][number - 1]
            assert recorded == key, (recorded, key, number)
            return (value,)

    from lctl.instrument.ambient import inputs

    inputs.recorded = open_log(os.environ["TAPE"]).chain["program"]["stdin"]
    border.set_player(Player(os.environ.pop("TAPE")))

sys.argv[:] = ["program.py"]
sys.path[0] = os.getcwd()
lctl.instrument.auto_instrument(record="full")
runpy.run_path("program.py", run_name="__main__")
"""


class Result(NamedTuple):
    out: str
    err: str
    log: Path

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event.to_dict() for event in open_log(self.log).events()]

    @property
    def reads(self) -> list[dict[str, Any]]:
        return [event["data"] for event in self.events if event["type"] == "ambient"]


Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`run(code)` records; `run(code, tape=log)` serves."""
    (tmp_path / "driver.py").write_text(DRIVER)

    def start(code: str, tape: Path | None = None, stdin: str = "", **environ: str) -> Result:
        (tmp_path / "program.py").write_text(code)
        before = set(tmp_path.glob("logs/*.lctl.json"))
        inner = {k: v for k, v in os.environ.items() if not k.startswith(("LCTL_", "PYTHON"))}
        inner |= {"LCTL_DIR": "logs", "LCTL_STRICT": "1", "LCTL_QUIET": "1", "PYTHONHASHSEED": "7"}
        inner |= {**warmth(), **environ}
        if tape is not None:
            inner["TAPE"] = str(tape)
        done = subprocess.run(
            [sys.executable, "-W", "error", "driver.py"],
            cwd=tmp_path,
            env=inner,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        new = sorted(set(tmp_path.glob("logs/*.lctl.json")) - before)
        return Result(done.stdout, done.stderr, new[0] if new else tmp_path / "none")

    return start


@pytest.fixture
def twice(run: Run) -> Callable[..., tuple[Result, Result]]:
    """Recorded, then served."""

    def both(code: str, **environ: str) -> tuple[Result, Result]:
        first = run(code, **environ)
        return first, run(code, tape=first.log)

    return both
