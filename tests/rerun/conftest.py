"""A program that is recorded and forked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lctl.testing import ModelServer
from tests.rerun.forked import Agent


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with ModelServer(random_answers=True) as server:
        yield server


@pytest.fixture
def agent(tmp_path: Path, models: ModelServer) -> Agent:
    return Agent(tmp_path, models)
