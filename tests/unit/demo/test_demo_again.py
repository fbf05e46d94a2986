"""The demo run again and forked, as its own output proposes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.demo import run_demo

pytest.importorskip("openai")
pytest.importorskip("anthropic")

pytestmark = pytest.mark.slow

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def run_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI", "ANTHROPIC", "LCTL"))}
    command = [sys.executable, "-m", "lctl", *words]
    return subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the demo was recorded as `run.lctl.json`, for all tests."""
    folder = tmp_path_factory.mktemp("demo")
    made = run_in(folder, "demo", "-o", "run.lctl.json")
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture
def lctl(tmp_path: Path, recorded: Path) -> Run:
    """`lctl` in a folder with a copy of that recording."""
    shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    return partial(run_in, tmp_path)


def test_a_rerun_of_the_demo_is_exact(lctl: Run) -> None:
    """Parallel agents, a retry, a stream and a tool, with a server of the program's own beside them."""
    made = lctl("rerun", "run.lctl.json")
    assert made.returncode == 0, made.stderr
    assert "rerun exact: 62 events" in made.stderr
    assert "log equal" in made.stderr


def test_last_is_no_rerun_for_a_rerun(tmp_path: Path) -> None:
    """A rerun that was stopped on the way does not take its recording's place."""
    lctl = partial(run_in, tmp_path)  # of its own: reruns are kept where the recording was made
    made = lctl("demo", "-o", ".lctl/20260101-100000-run.lctl.json")
    assert made.returncode == 0, made.stderr
    assert lctl("rerun", "last", "--to", "30").returncode == 0
    assert lctl("rerun", "last", "--to", "40").returncode == 0
    assert "State at seq 30" in lctl("replay", "last~1", "--to-seq", "30").stdout


@pytest.mark.parametrize("at", [0, 9, 17, 26, 39, 53, 62])
def test_a_fork_of_the_demo_ends_well(lctl: Run, at: int, tmp_path: Path) -> None:
    """Wherever it is forked: events up to there are the recording's, and the fork reruns."""
    made = lctl("fork", "run.lctl.json", "--at", str(at), "--tools", "live", "-o", "fork.lctl.json")
    assert made.returncode == 0, made.stderr
    recorded, forked = open_log(tmp_path / "run.lctl.json"), open_log(tmp_path / "fork.lctl.json")
    assert "fork" in forked.chain
    shared = [event.to_dict() for event in recorded.events()][:at]
    assert [event.to_dict() for event in forked.events()][:at] == shared
    again = lctl("rerun", "fork.lctl.json")
    assert again.returncode == 0, again.stderr


def test_other_findings_are_no_failure_of_the_demo(lctl: Run) -> None:
    """Its agents and its model server take what an edit makes of them."""
    for words in (
        ("--at", "9", "--set", "model=gpt-4.1"),
        ("--at", "9", "--set", "all prompt.system=Be brief."),
        ("--at", "9", "--result", 'all tool:grep={"matches": 0, "hits": []}'),
        ("--at", "49", "--tools", "dry-run"),
    ):
        made = lctl("fork", "run.lctl.json", *words)
        assert made.returncode == 0, (words, made.stderr)


def test_the_same_order_in_every_recording(tmp_path: Path) -> None:
    """Its two analysts overlap, and take turns."""
    kinds = []
    for n in range(5):
        log = open_log(run_demo(7, tmp_path / f"{n}.lctl.json").path)
        kinds.append([(event.type, event.agent, event.data.get("step")) for event in log.events()])
    assert all(one == kinds[0] for one in kinds)
