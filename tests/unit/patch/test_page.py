"""spec/patch.md: its examples are edits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lctl.patch import parse_edit
from lctl.patch.edits import REQUEST_ROOTS

PAGE = (Path(__file__).parents[3] / "spec" / "patch.md").read_text(encoding="utf-8")


def examples(kind: str) -> list[str]:
    found = re.search(rf"```{kind}\n(.*?)\n```", PAGE, re.DOTALL)
    assert found is not None
    return found[1].splitlines()


@pytest.mark.parametrize("line", examples("edits"))
def test_examples_are_read_and_printed(line: str) -> None:
    """What is printed for an example says the same."""
    edit = parse_edit(line)
    assert parse_edit(str(edit)) == edit


@pytest.mark.parametrize("line", examples("results"))
def test_examples_of_results(line: str) -> None:
    """Behind --result each line is about what comes back."""
    edit = parse_edit(line, results=True)
    assert edit.side == "result"
    assert parse_edit(str(edit)) == edit


def test_the_page_names_every_target() -> None:
    """Every root stands in the table of targets."""
    named = set(re.findall(r"^\| `(\w+)", PAGE, re.MULTILINE))
    assert REQUEST_ROOTS | {"tool", "answer", "data", "event"} <= named
