"""Traces that the OpenAI Agents SDK sends when its program, and the log, have ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.testing.server import ModelServer

pytestmark = pytest.mark.frameworks

PROGRAM = str(Path(__file__).parent / "programs" / "agents_traced.py")


@pytest.mark.parametrize("by_itself", [True, False])
def test_they_open_no_log_of_their_own(by_itself: bool, tmp_path: Path) -> None:
    pytest.importorskip("agents")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LCTL_", "OPENAI_"))}
    environ = {**kept, "LCTL_DIR": "logs", "HTTPS_PROXY": "http://127.0.0.1:9"}
    if by_itself:
        environ["BY_ITSELF"] = "1"

    def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *words]
        return subprocess.run(
            command, cwd=tmp_path, env=environ | more, capture_output=True, text=True, timeout=200
        )

    with ModelServer(seed=1) as server:
        server.reply("Hello.", times=None)
        done = run(*(() if by_itself else ("-m", "lctl", "run")), PROGRAM, **server.environ)
    assert (done.returncode, done.stdout) == (0, "Hello.\n"), done.stderr
    (log,) = (tmp_path / "logs").glob("*.lctl.json")
    again = run("-m", "lctl", "rerun", str(log), "-o", "again.lctl.json")
    assert (again.returncode, again.stdout) == (0, "Hello.\n"), again.stderr
    assert len(list((tmp_path / "logs").iterdir())) == 1
    assert list(open_log(tmp_path / "again.lctl.json").lines()) == list(open_log(log).lines())
