"""A program that is recorded and forked; a suite that is run by a pytest of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lctl.testing import ModelServer
from tests.rerun.forked import Agent
from tests.rerun.pytestruns import Runs


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with ModelServer(random_answers=True) as server:
        yield server


@pytest.fixture
def agent(tmp_path: Path, models: ModelServer) -> Agent:
    return Agent(tmp_path, models)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(random_answers=True) as server:
        monkeypatch.setenv("MODELS", server.openai_url)
        monkeypatch.delenv("LCTL_STRICT", raising=False)
        yield server


@pytest.fixture
def runs(pytester: pytest.Pytester) -> Runs:
    return Runs(pytester)
