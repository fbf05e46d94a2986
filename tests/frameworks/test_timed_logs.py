"""Log lines of libraries on standard output: a rerun prints them with the times and durations recorded."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lctl.testing import Reply, Request
from lctl.testing.server import ModelServer

pytestmark = pytest.mark.frameworks

PROGRAM = Path(__file__).parent / "programs" / "timed_logs.py"


def answer(request: Request) -> Any:
    if request.tool_results:
        return f"There is {request.tool_results[-1]}."
    return Reply(tool_calls=[(request.tools[0], {"place": "home"})])


@pytest.mark.parametrize("framework", ["semantic_kernel", "agent_framework"])
def test_times_and_durations_are_printed_again(framework: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")

    def lctl(*words: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
        environ = {**kept, "LCTL_DIR": str(tmp_path), "FRAMEWORK": framework, **server.environ}
        command = [sys.executable, "-m", "lctl", *words]
        return subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=200)

    with ModelServer(seed=1) as server:
        server.reply(answer, times=None)
        recorded = lctl("run", "-o", "run.lctl.json", str(PROGRAM))
    assert recorded.returncode == 0, recorded.stderr
    assert "uration: " in recorded.stdout
    assert recorded.stdout.endswith("There is HOME.\n")
    again = lctl("rerun", "run.lctl.json")
    assert again.stdout == recorded.stdout
    assert "output equal" in again.stderr, again.stderr
