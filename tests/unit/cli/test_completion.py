"""Completion scripts, and what they complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import logs
from tests.unit.cli.conftest import Cli, process


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(lctl: Cli, shell: str) -> None:
    """A script for each shell, which calls back into lctl."""
    got = lctl("completion", shell)
    assert got.code == 0
    assert f"_LCTL_COMPLETE={shell}_complete" in got.out


def test_commands_and_runs_complete(place: Path) -> None:
    """The shell is offered commands, options, and the runs there are."""
    (place / ".lctl").mkdir()
    logs.written(place / ".lctl" / "20260101-000000-a.lctl.json", [], "agent-1", closed=False)

    def offered(words: str, count: int) -> list[str]:
        got = process(cwd=place, _LCTL_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(count))
        return [line.split(",", 1)[1] for line in got.out.splitlines()]

    assert offered("lctl re", 1) == ["replay", "rerun"]
    assert "--to-seq" in offered("lctl replay --", 2)
    assert offered("lctl show ag", 2)[0] == "agent-1"
