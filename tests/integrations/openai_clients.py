"""Clients of the openai SDK for the loopback server."""

from __future__ import annotations

from typing import Any

import pytest

openai = pytest.importorskip("openai", reason="needs: pip install 'lctl[test]'")

MESSAGES: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]


@pytest.fixture
def client(server: Any) -> Any:
    with openai.OpenAI(api_key="sk-test", base_url=f"{server.url}/v1", max_retries=0) as client:
        yield client


def async_client(server: Any, **options: Any) -> Any:
    return openai.AsyncOpenAI(api_key="sk-test", base_url=f"{server.url}/v1", **{"max_retries": 0, **options})


def fast(client: Any) -> Any:
    """With retries that do not wait."""
    client._calculate_retry_timeout = lambda *args, **kwargs: 0.0
    return client
