"""A model server and the real SDKs pointed at it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lctl.testing import ModelServer

pytest.importorskip("openai")
pytest.importorskip("anthropic")

import anthropic
import openai


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(seed=1) as running:
        yield running


@pytest.fixture
def gpt(server: ModelServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.openai_url, api_key="test", max_retries=2) as client:
        yield client


@pytest.fixture
def claude(server: ModelServer) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=server.anthropic_url, api_key="test", max_retries=2) as client:
        yield client
