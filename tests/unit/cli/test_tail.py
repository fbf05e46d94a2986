"""`lctl tail`, on a log that a real session writes meanwhile."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from lctl.session import LCTLSession
from tests.golden import logs
from tests.unit.cli.conftest import Cli


def test_following_a_session(place: Path) -> None:
    """Events are printed as they are recorded, and the end of the run ends the command."""
    session = LCTLSession("live", place / "live.lctl.json")
    session.add_fact("F1", "first", confidence=0.5)
    with subprocess.Popen(
        [sys.executable, "-m", "lctl", "tail", "-f", "live.lctl.json"],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as tail:
        assert tail.stdout is not None
        assert tail.stderr is not None
        assert tail.stdout.readline() == "[1] main: fact_added F1 (confidence: 0.50)\n"
        session.add_fact("F2", "second", confidence=0.0)
        assert tail.stdout.readline() == "[2] main: fact_added F2 (confidence: 0.00)\n"
        session.checkpoint()
        assert tail.stdout.readline().startswith("[3] system: checkpoint")
        session.close()
        assert tail.stdout.read() == ""
        assert tail.wait(20) == 0
        assert tail.stderr.read().endswith("lctl: the run has ended (3 events)\n")


def test_a_run_that_has_ended(place: Path, lctl: Cli) -> None:
    """-f on a closed log prints its last events and says that it has ended."""
    logs.written(place / "done.lctl.json", logs.security_review())
    got = lctl("tail", "-f", "-n", "1", "done.lctl.json")
    assert (got.code, got.out.count("\n")) == (0, 1)
    assert got.err == "lctl: the run has ended (25 events)\n"


def test_interrupted(place: Path) -> None:
    """Ctrl-C ends the following quietly, with 130."""
    import signal

    session = LCTLSession("live", place / "live.lctl.json")
    session.add_fact("F1", "first", confidence=0.5)
    with subprocess.Popen(
        [sys.executable, "-m", "lctl", "tail", "-f", "live.lctl.json"],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as tail:
        assert tail.stdout is not None
        assert tail.stderr is not None
        tail.stdout.readline()
        tail.send_signal(signal.SIGINT)
        assert tail.wait(20) == 130
        assert "Traceback" not in tail.stderr.read()
    session.close()


def test_a_run_that_goes_on_is_not_called_recovered(place: Path, lctl: Cli) -> None:
    """A log in the hands of its writer misses nothing; one that its writer left does."""
    with LCTLSession("c", path="run.lctl.json") as session:
        session.add_fact("F1", "x")
        got = lctl("stats", "run.lctl.json")
        assert got.err == "lctl: run.lctl.json: 1 event so far, its program still runs\n"
        left = Path("run.lctl.json").read_bytes()
    Path("left.lctl.json").write_bytes(left)
    assert "recovered: 1 event, not closed" in lctl("stats", "left.lctl.json").err
