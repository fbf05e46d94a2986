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


def is_installed(key: str) -> bool:
    try:
        return importlib.util.find_spec(key) is not None
    except ModuleNotFoundError:
        return False


def told(when: str, folder: Path) -> dict[str, Any]:
    """Of all that are installed, in one process: as in a program that has them all."""
    command = [sys.executable, str(PROGRAM), when, *filter(is_installed, OURS)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
    environ = {**kept, "LCTL_DIR": str(folder), "LCTL_QUIET": "1", "HOME": str(folder)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    made: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return made


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = tmp_path_factory.mktemp("surroundings")
    return told("before", folder), told("after", folder)


@pytest.mark.parametrize("key", OURS)
def test_classes_are_as_before(key: str, surroundings: tuple[dict[str, Any], dict[str, Any]]) -> None:
    if not is_installed(key):
        pytest.skip(f"{key} is not installed")
    before, after = (one[key] for one in surroundings)
    for one in (before, after):
        assert (one["state"], one["missing"]) == ("patched", [])
        assert one["points"] > 0
    assert after["changed"] == []
    assert before["described"] == after["described"]
