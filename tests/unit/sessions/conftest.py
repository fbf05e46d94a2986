"""Every test lets go of what it has opened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lctl.session import ending


@pytest.fixture(autouse=True)
def nothing_stays_open() -> Iterator[None]:
    before = set(ending._open)
    yield
    left = [str(session.path) for session in ending._open if session not in before]
    ending.close_all()
    assert left == []
