"""docs/cli.md says what `--help` says: each marker is followed by that help, kept by --update-golden."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from lctl.cli.application import COMMANDS
from lctl.cli.application import lctl as application
from tests.unit.cli.conftest import Cli, lctl, place

__all__ = ["lctl", "place"]  # fixtures

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
_BLOCK = re.compile(r"<!-- help: (lctl[ a-z-]*) -->\n(?:```\n.*?\n```\n)?", re.DOTALL)


def with_help(page: str, run: Cli) -> str:
    """`page` with the help of each marked command below its marker."""

    def block(found: re.Match[str]) -> str:
        words = found[1].split()[1:]
        help = run(*words, "--help").out.rstrip()
        return f"<!-- help: {found[1]} -->\n```\n$ {found[1]} --help\n{help}\n```\n"

    return _BLOCK.sub(block, page)


def test_the_page_is_the_help(
    lctl: Cli, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page holds the help of every command, as printed."""
    monkeypatch.setenv("COLUMNS", "88")
    page = PAGE.read_text(encoding="utf-8")
    expected = with_help(page, lctl)
    if request.config.getoption("--update-golden"):
        PAGE.write_text(expected, encoding="utf-8")
        return
    assert page == expected, "write it anew with: pytest tests/golden/test_cli_docs.py --update-golden"
    assert {name.split()[1] for name in re.findall(r"help: (lctl \w[\w-]*)", page)} == set(COMMANDS)


def test_the_table_of_contents(lctl: Cli) -> None:
    """What `lctl --help` says of a command without importing it is what the command says of itself."""
    for name, entry in COMMANDS.items():
        command = application.get_command(click.Context(application), name)
        assert command is not None
        assert command.name == name
        assert entry.help.endswith(".")
        assert len(entry.help) <= 66


def test_exit_codes_are_the_errors(lctl: Cli) -> None:
    """Every exit code an error carries is documented, on the page and in the help."""
    from lctl import errors

    codes = {
        e.exit_code for e in vars(errors).values() if isinstance(e, type) and issubclass(e, errors.LctlError)
    }
    page, help = PAGE.read_text(encoding="utf-8"), lctl("--help").out
    for code in codes | {0, 70, 130}:
        assert f"\n| {code} |" in page
        assert re.search(rf"^ +{code}  ", help, re.MULTILINE)
