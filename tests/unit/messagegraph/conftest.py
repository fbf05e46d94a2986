"""A session to record into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lctl.guard import guard
from lctl.session import LCTLSession


@pytest.fixture(autouse=True)
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "policy", "raise")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LCTLSession]:
    with LCTLSession("graph", tmp_path / "graph.lctl.json", redact=False) as session:
        yield session
