"""Prices that a command looked up are there for the next one, without the list."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_ASK = """
import sys
from lctl.analysis import keptprices
from lctl.analysis.prices import Prices
from lctl.state.model import Tokens

keptprices.keep()
prices = Prices()
for model in ("gpt-4o", "claude-sonnet-4-5", "deepseek-chat", "nobody-knows"):
    for read in (1_000, 300_000):
        for at in ("2025-06-01T01:00:00Z", "2025-06-01T17:00:00Z", ""):
            print(model, read, at, prices.cost(model, Tokens(input=read, output=100, cache_read=500), at=at))
print("list", "genai_prices" in sys.modules)
"""


def ask(folder: Path) -> str:
    """What a process of its own works out."""
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(folder),
        "LOCALAPPDATA": str(folder),
        "HOME": str(folder),
    }
    done = subprocess.run(
        [sys.executable, "-c", _ASK], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout


def kept(folder: Path) -> Path:
    (file,) = folder.rglob("prices-*.json")
    return file


def test_the_second_command_does_without_the_list(tmp_path: Path) -> None:
    """The same dollars, from the file alone; names in it are no text."""
    first, second = ask(tmp_path), ask(tmp_path)
    assert first.splitlines()[:-1] == second.splitlines()[:-1]
    assert (first.splitlines()[-1], second.splitlines()[-1]) == ("list True", "list False")
    assert "nobody-knows 1000  None" in second
    assert b"nobody" not in kept(tmp_path).read_bytes()


@pytest.mark.parametrize("harm", ["damaged", "no folder"])
def test_without_a_file_everything_is_as_right(tmp_path: Path, harm: str) -> None:
    """What cannot be read is written anew; what cannot be written is looked up each time."""
    first = ask(tmp_path)
    file = kept(tmp_path)
    if harm == "damaged":
        file.write_bytes(file.read_bytes()[:-20])
        assert ask(tmp_path) == first
        assert ask(tmp_path).endswith("list False\n")
    else:
        file.unlink()
        file.parent.rmdir()
        file.parent.write_bytes(b"")
        assert ask(tmp_path) == first
