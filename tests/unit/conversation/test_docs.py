"""docs/conversations.md prints what it says it prints."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "conversations.md"


def test_the_page_prints_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text().replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 30
    report: list[str] = []
    failures, _ = doctest.DocTestRunner().run(test, out=report.append)
    assert failures == 0, "".join(report)
