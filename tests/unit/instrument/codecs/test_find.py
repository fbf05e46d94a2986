"""Model calls are known by the shape of their path, on any host."""

from __future__ import annotations

import pytest

from lctl.instrument.codecs import find

VERTEX = "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/"


@pytest.mark.parametrize(
    ("url", "provider", "operation"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai", "chat.completions"),
        ("http://127.0.0.1:8765/cassette@run/v1/chat/completions", "openai", "chat.completions"),
        ("https://api.deepseek.com/chat/completions", "openai", "chat.completions"),
        ("https://gateway.example/a/b/v1/chat/completions/", "openai", "chat.completions"),
        (
            "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=1",
            "openai",
            "chat.completions",
        ),
        (
            "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
            "openai",
            "chat.completions",
        ),
        ("https://api.openai.com/v1/completions", "openai", "completions"),
        ("https://api.openai.com/v1/responses", "openai", "responses"),
        ("https://x.openai.azure.com/openai/responses?api-version=preview", "openai", "responses"),
        ("https://api.openai.com/v1/responses/input_tokens", "openai", "responses.input_tokens"),
        ("https://api.openai.com/v1/responses/compact", "openai", "responses.compact"),
        ("https://api.openai.com/v1/embeddings#x", "openai", "embeddings"),
        ("https://api.anthropic.com/v1/messages", "anthropic", "messages"),
        ("https://api.anthropic.com/v1/messages?beta=true", "anthropic", "messages"),
        ("https://gateway.example/anthropic/v1/messages", "anthropic", "messages"),
        (
            "https://api.anthropic.com/v1/messages/count_tokens?beta=true",
            "anthropic",
            "messages.count_tokens",
        ),
        (
            VERTEX + "claude-x:streamRawPredict",
            "anthropic",
            "messages",
        ),
        (
            VERTEX + "count-tokens:rawPredict",
            "anthropic",
            "messages.count_tokens",
        ),
        ("https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.c/invoke", "anthropic", "messages"),
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.c/invoke-with-response-stream",
            "anthropic",
            "messages",
        ),
    ],
)
def test_a_model_call_is_found(url: str, provider: str, operation: str) -> None:
    """Whatever host, prefix, deployment, query or slash."""
    found = find("POST", url, {})
    assert found is not None
    assert (found[0].provider, found[1]) == (provider, operation)


@pytest.mark.parametrize(
    ("method", "url"),
    [
        ("GET", "https://api.openai.com/v1/responses"),
        ("GET", "https://api.openai.com/v1/chat/completions"),
        ("POST", "https://api.openai.com/v1/responses/resp_1/cancel"),
        ("POST", "https://api.openai.com/v1/threads/thread_1/messages"),
        ("POST", "https://api.openai.com/v1/traces/ingest"),
        ("POST", "https://api.smith.langchain.com/runs/batch"),
        ("POST", "https://api.openai.com/v1/files?next=/v1/chat/completions"),
        ("POST", "https://api.anthropic.com/v1/messages/batches"),
        ("POST", "https://api.twilio.com/2010-04-01/Accounts/x/Messages.json"),
        ("POST", "https://graph.facebook.com/v20.0/1234/messages"),
        ("POST", "https://lambda.us-east-1.amazonaws.com/2015-03-31/functions/f/invoke"),
        ("POST", "https://us-aiplatform.googleapis.com/v1/publishers/google/models/g:rawPredict"),
        ("POST", "https://example.com"),
        ("POST", ""),
    ],
)
def test_other_traffic_is_not(method: str, url: str) -> None:
    """Telemetry, other endpoints of the same hosts, other services with similar names."""
    assert find(method, url, {}) is None


def test_a_version_header_marks_messages_without_v1() -> None:
    """Gateways that leave out the version segment."""
    url = "https://gateway.example/claude/messages"
    assert find("POST", url, {}) is None
    found = find("POST", url, {"Anthropic-Version": "2023-06-01"})
    assert found is not None
    assert found[1] == "messages"


@pytest.mark.parametrize(
    "url",
    [
        "http://x/v1/chat/completions",
        "http://x/v1/responses",
        "http://x/v1/messages",
        "http://x/v1/embeddings",
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[1]",
        b"nonsense",
        b"{",
        b"\xff\xfe",
        b'{"to": "+1", "text": "hi"}',
        b"[" * 100_000,
        b'{"a":' * 2000,
    ],
)
def test_a_body_of_another_kind_is_a_value_error(url: str, body: bytes) -> None:
    """A path that only looks like a model call's: the body decides."""
    found = find("POST", url, {})
    assert found is not None
    codec, operation = found
    with pytest.raises(ValueError):
        codec.read_request(operation, url, body)


@pytest.mark.parametrize(
    ("url", "provider", "model"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai", None),
        ("https://me.openai.azure.com/openai/deployments/my%20gpt/chat/completions", "azure", "my gpt"),
        ("https://api.groq.com/openai/v1/chat/completions", "groq", None),
        ("https://user@openrouter.ai:443/api/v1/chat/completions", "openrouter", None),
        ("http://localhost:11434/v1/chat/completions", "openai", None),
    ],
)
def test_provider_by_host_and_model_by_path(url: str, provider: str, model: str | None) -> None:
    """Who bills for the call; Azure names the model in the path."""
    found = find("POST", url, {})
    assert found is not None
    request = found[0].read_request(found[1], url, b'{"messages":[]}')
    assert (request.provider, request.model) == (provider, model)
