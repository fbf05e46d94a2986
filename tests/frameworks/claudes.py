"""A `claude` of the tests' own, in the place of the command line that the SDK starts."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"


def put(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where it lies now, and where programs run."""
    cli = folder / "claude"
    cli.write_text(f"#!{sys.executable}\n" + (PROGRAMS / "claude_cli.py").read_text())
    cli.chmod(cli.stat().st_mode | stat.S_IXUSR)
    monkeypatch.chdir(folder)
    return folder
