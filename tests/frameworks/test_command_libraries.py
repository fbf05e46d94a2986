"""Libraries that run commands for the program: a rerun starts none of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.frameworks.claudes import PROGRAMS
from tests.rerun.harness import LCTL, run

pytest.importorskip("git", reason="needs: pip install gitpython")
pytest.importorskip("plumbum", reason="needs: pip install plumbum")
pytestmark = pytest.mark.frameworks


def _git(folder: Path, *words: str) -> str:
    who = "-c", "user.name=n", "-c", "user.email=n@example.com"
    done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def test_they_are_not_run_again(tmp_path: Path) -> None:
    """The repository is as the recording left it."""
    here = tmp_path / "repository"
    here.mkdir()
    _git(here, "init", "-q")
    for name, value in (("user.name", "n"), ("user.email", "n@example.com")):
        _git(here, "config", name, value)
    _git(here, "commit", "-q", "--allow-empty", "-m", "zero")
    (here / "agent.txt").write_text("text\n")
    log, again = tmp_path / "run.lctl.json", tmp_path / "again.lctl.json"
    environ = {"LCTL_DIR": str(tmp_path / "runs")}
    program = str(PROGRAMS / "commands_by_libraries.py")
    first = run([*LCTL, "run", "--output", str(log), program], here, environ, log)
    assert first.code == 0, first.err
    commands = [event["data"]["key"] for event in first.events if event["data"].get("source") == "command"]
    assert "git commit -m one" in commands and len(commands) > 8
    heads = _git(here, "log", "--format=%H")
    second = run([*LCTL, "rerun", str(log), "--output", str(again)], here, environ, again)
    assert (second.code, second.out, second.events) == (0, first.out, first.events), second.err
    assert _git(here, "log", "--format=%H") == heads
