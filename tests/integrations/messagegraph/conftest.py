"""A server, a session, and clients of the real SDKs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lctl.instrument import ensure_installed, uninstrument
from lctl.session import LCTLSession
from lctl.testing import ModelServer


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with ModelServer(seed=3, strict=True) as server:
        yield server


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LCTLSession]:
    ensure_installed()
    with LCTLSession("graphs", tmp_path / "graphs.lctl.json", redact=False) as session:
        yield session
    uninstrument()


@pytest.fixture
def client(models: ModelServer) -> Iterator[Any]:
    with pytest.importorskip("openai", reason="openai is not installed").OpenAI(
        api_key="test", base_url=models.openai_url, max_retries=0
    ) as client:
        yield client


@pytest.fixture
def claude(models: ModelServer) -> Iterator[Any]:
    with pytest.importorskip("anthropic", reason="anthropic is not installed").Anthropic(
        api_key="test", base_url=models.anthropic_url, max_retries=0
    ) as client:
        yield client
