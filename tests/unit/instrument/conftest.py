"""A conversation that prompts and answers are written into."""

from __future__ import annotations

import pytest

from tests.unit.instrument.chains import Chain


@pytest.fixture
def chain() -> Chain:
    return Chain()
