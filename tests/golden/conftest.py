"""Golden files: text kept beside the tests, compared byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Golden = Callable[[str, str], None]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """`golden("stats.txt", text)` compares; with --update-golden it writes."""

    def compare(name: str, text: str) -> None:
        path = Path(__file__).parent / "text" / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8", newline="")
            return
        assert path.exists(), f"no golden file {name}; make it with: pytest {__file__} --update-golden"
        assert text == path.read_text(encoding="utf-8")

    return compare
