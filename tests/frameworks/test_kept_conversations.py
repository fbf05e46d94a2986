"""Conversations and checkpoints that frameworks keep in databases: each run of a program goes on from the one
before, and a rerun of it from where it had begun."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lctl.testing import ModelServer

pytestmark = [pytest.mark.frameworks, pytest.mark.long]

_PROGRAMS = Path(__file__).parent / "programs"


def _lctl(folder: Path, environ: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
    command = [sys.executable, "-m", "lctl", *words]
    return subprocess.run(
        command, cwd=folder, env={**kept, **environ}, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    ("program", "package"), [("kept_agents", "agents"), ("kept_langgraph", "langgraph.checkpoint.sqlite")]
)
def test_each_run_is_run_again_from_where_it_began(program: str, package: str, tmp_path: Path) -> None:
    pytest.importorskip(package)
    with ModelServer(random_answers=True) as models:
        runs = [
            _lctl(tmp_path, models.environ, "run", "-o", f"{n}.lctl.json", str(_PROGRAMS / f"{program}.py"))
            for n in range(3)
        ]
    assert [run.returncode for run in runs] == [0, 0, 0], runs
    kept = (tmp_path / "kept.db").read_bytes()
    for n, run in enumerate(runs):
        again = _lctl(tmp_path, {}, "rerun", f"{n}.lctl.json", "--writes", "aside")
        assert (again.returncode, again.stdout) == (0, run.stdout), again.stderr
        assert "written aside, and gone: kept.db\n" in again.stderr
    assert (tmp_path / "kept.db").read_bytes() == kept
