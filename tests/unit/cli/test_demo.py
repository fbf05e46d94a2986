"""`lctl demo`, and the diff of two runs of it."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tests.unit.cli.conftest import Cli

pytest.importorskip("openai")
pytest.importorskip("anthropic")


EVERY = [
    "replay",
    "show",
    "show last 20",
    "tail",
    "stats",
    "bottleneck --full",
    "verify",
    "validate --strict",
    "convert --to yaml",
    "export -f report",
    "export -f chrome",
    "export -f messages",
    "ls",
    "doctor",
]


@pytest.mark.slow
def test_same_seed_same_run(place: Path, lctl: Cli) -> None:
    """Two runs with one seed differ in nothing; with another the first divergence is named."""
    first = lctl("demo", "--seed", "3")
    assert first.code == 0
    assert "Three agents reviewed" in first.out
    assert "lctl replay" in first.out
    second = orjson.loads(lctl("demo", "--seed", "3", "--json").out)
    same = lctl("diff")
    assert (same.code, same.out) == (0, f"No difference in {second['events']} events.\n")
    lctl("demo", "--seed", "4", "-o", "other.lctl.json")
    other = lctl("diff", "last", "other.lctl.json")
    assert other.code == 1
    assert other.out.startswith("Events diverged at seq ")
    assert lctl("demo", "-o", "other.lctl.json").code == 2


def test_every_command_on_the_demo(place: Path, lctl: Cli) -> None:
    """A run of real SDKs goes through every reading command without a word on stderr."""
    lctl("demo")
    for command in EVERY:
        got = lctl(*command.split())
        assert (got.code, got.err) == (0, ""), (command, got)
        assert got.out
