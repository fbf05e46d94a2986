"""What a rerun says of sleeps that it did not come to."""

from __future__ import annotations

from pathlib import Path

from tests.unit.rerun.commands import Run


def test_a_sleep_is_called_one(lctl: Run, tmp_path: Path) -> None:
    """It was said to be a tool call."""
    (tmp_path / "agent.py").write_text("""
import os, time
print("begins")
if not os.access("hurry", os.F_OK):
    time.sleep(0.01)
""")
    assert lctl("run", "-o", "run.lctl.json", "agent.py").returncode == 0
    (tmp_path / "hurry").mkdir()
    again = lctl("rerun", "run.lctl.json")
    assert again.returncode == 1
    assert ": sleep 1 of lane 0" in again.stderr
    assert "tool call" not in again.stderr
