"""Every integration whose library is installed: called before or after the import, twice, and undone, it leaves
modules and classes as they are without it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lctl.instrument.registry import OURS

pytestmark = pytest.mark.frameworks

PROGRAM = Path(__file__).parent / "programs" / "surroundings.py"


def told(key: str, when: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, str(PROGRAM), key, when]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
    environ = {**kept, "LCTL_DIR": str(folder), "LCTL_QUIET": "1", "HOME": str(folder)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    made: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return made


def is_installed(key: str) -> bool:
    try:
        return importlib.util.find_spec(key) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("key", OURS)
def test_classes_are_as_before(key: str, tmp_path: Path) -> None:
    if not is_installed(key):
        pytest.skip(f"{key} is not installed")
    before, after = told(key, "before", tmp_path), told(key, "after", tmp_path)
    for one in (before, after):
        assert (one["state"], one["missing"]) == ("patched", [])
        assert one["points"] > 0
    assert after["changed"] == []
    assert before["described"] == after["described"]
