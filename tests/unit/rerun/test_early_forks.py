"""Programs that fork before anything of theirs is in a log."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.unit.rerun.commands import ASKING, Run

PROGRAM = """
import os

for number in range(2):
    there, here = os.pipe()
    if not os.fork():
        from asking import answer

        os.write(here, answer([{"role": "user", "content": f"Who is child {number}?"}]).encode())
        os._exit(number)
    os.close(here)
    said = os.read(there, 1000).decode()
    print(said, os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_their_children_are_theirs(lctl: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their recordings were those of nobody, and a rerun had none for them: they failed in it."""
    (tmp_path / "agent.py").write_text(PROGRAM)
    (tmp_path / "asking.py").write_text(ASKING)
    with ModelServer() as server:
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
        assert recorded.returncode == 0, recorded.stderr
        asked = len(server.requests)
    logs = [open_log(path) for path in tmp_path.glob("*.lctl.json")]
    (parent,) = (log for log in logs if "parent" not in log.chain)
    assert asked == 2
    assert [log.chain["parent"]["id"] for log in logs if "parent" in log.chain] == [parent.id] * 2
    again = lctl("rerun", "run.lctl.json")
    assert again.stdout == recorded.stdout
    assert "rerun exact" in again.stderr, again.stderr
