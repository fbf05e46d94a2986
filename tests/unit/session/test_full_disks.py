"""Disks that are full while a program records: what is lost is said, and the program goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lctl.session import LCTLSession
from tests.unit.session.conftest import quiet_environment


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_at_exit_it_is_said_how_much_a_full_disk_has_cost(folder: Path) -> None:
    """The log has no room to say so itself."""
    code = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import lctl
lctl.auto_instrument()
session = lctl.get_session()
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
for n in range(20):
    session.add_fact(f"F{n}", "x" * 300)
print(session.lost)
"""
    environment = quiet_environment()
    environment.pop("LCTL_QUIET", None)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert f"lctl: {int(done.stdout)} events could not be written to it\n" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
@pytest.mark.parametrize("durability", ["process", "buffered", "power"])
def test_a_full_disk_is_one_line_whatever_fails_for_it(durability: str, folder: Path) -> None:
    """Events, their flush, the end of the log; each is counted by itself."""
    code = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from lctl.guard import guard
from lctl.session import LCTLSession
with LCTLSession("c", "run.lctl.json", durability=sys.argv[1]) as session:
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
    for n in range(60):
        session.add_fact(f"F{n}", "x" * 300)
print(len(guard.failures))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, durability], capture_output=True, text=True, env=quiet_environment()
    )
    assert done.returncode == 0
    assert int(done.stdout) >= 2
    assert [line.startswith("lctl: could not record") for line in done.stderr.splitlines()] == [True]


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_a_full_disk_is_reported_once_and_the_program_goes_on(folder: Path) -> None:
    """What fits is kept, what does not is counted; nothing is raised, exit status is the program's."""
    code = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from lctl.session import LCTLSession
with LCTLSession("c", "run.lctl.json") as session:
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
    with session.step("a"):
        for n in range(20):
            session.add_fact(f"F{n}", "x" * 300)
        session.add_fact("small", "x")
    print(session.lost, session.last_seq)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=quiet_environment()
    )
    assert done.returncode == 0, done.stderr
    lost, last = map(int, done.stdout.split())
    assert lost > 5 and last > 5
    assert done.stderr.count("could not record events") == 1
    assert "this is in no log" in done.stderr and "doctor" not in done.stderr
    with LCTLSession(path="run.lctl.json") as again:
        assert again.last_seq == last


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_a_log_that_is_not_whole_says_so_when_it_could_be_closed(folder: Path) -> None:
    """The disk had room again by then."""
    code = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from lctl.session import LCTLSession
with LCTLSession("c", "run.lctl.json") as session:
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
    for n in range(20):
        session.add_fact(f"F{n}", "x" * 300)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(session.lost)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=quiet_environment()
    )
    summary = json.loads((folder / "run.lctl.json").read_text())["summary"]
    assert summary["lost"] == int(done.stdout) > 5, done.stderr
    assert summary["events"] + summary["lost"] == 20
