"""`spec/conversations.md` is complete and true: every row has a test, and every test named so a row."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "spec" / "rows.py"


@pytest.fixture(scope="module")
def rows() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rows", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_says_which_tests_there_are(rows: ModuleType, request: pytest.FixtureRequest) -> None:
    """As the script writes it from the tests as they stand; --update-golden writes it."""
    if request.config.getoption("--update-golden"):
        rows.PAGE.write_text(rows.page(), encoding="utf-8")
    assert rows.PAGE.read_text(encoding="utf-8") == rows.page(), "write it anew with: python spec/rows.py"


def test_every_row_has_a_test(rows: ModuleType) -> None:
    tests = rows.tests()
    missing = [id for id in rows.ROWS if not tests.get(id)]
    assert missing == []


def test_every_test_named_for_a_row_has_one(rows: ModuleType) -> None:
    unknown = {id: files for id, files in rows.tests().items() if id not in rows.ROWS}
    assert unknown == {}


def test_rows_are_numbered_without_gaps(rows: ModuleType) -> None:
    """T1 to T14, M1 to M7, ...: none was left out of the page."""
    counts = {letter: [int(id[1:]) for id in rows.ROWS if id[0] == letter] for letter in rows.SECTIONS}
    assert counts == {letter: list(range(1, len(found) + 1)) for letter, found in counts.items()}
    assert {letter: len(found) for letter, found in counts.items()} == {
        "T": 14, "M": 7, "R": 13, "V": 15, "S": 17, "G": 17, "X": 8,
    }  # fmt: skip
