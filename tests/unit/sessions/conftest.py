"""Where tests record; every one lets go of what it has opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lctl.session import LCTLSession, ending


@pytest.fixture(autouse=True)
def nothing_stays_open() -> Iterator[None]:
    before = set(ending._open)
    yield
    left = [str(session.path) for session in ending._open if session not in before]
    ending.close_all()
    assert left == []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.lctl.json"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LCTLSession]:
    with LCTLSession(path=tmp_path / "mail.lctl.json") as session:
        session.conversations.system = "You are Lal."
        yield session
