"""Counts of what has a price of its own, as each provider's usage says it."""

from __future__ import annotations

from typing import Any

import pytest

from lctl.instrument.codecs.usage import read_tokens
from tests.unit.instrument.codecs.streams import SSE, named
from tests.unit.instrument.codecs.test_other_wires import BEDROCK, GOOGLE, answered

MESSAGES = "https://api.anthropic.com/v1/messages"
INTERACTIONS = "https://generativelanguage.googleapis.com/v1beta/interactions"
RESPONSES = "https://api.openai.com/v1/responses"
CACHED = {
    "input_tokens": 4,
    "cache_creation_input_tokens": 900,
    "cache_creation": {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 600},
}


def test_a_cache_kept_for_an_hour_in_a_stream() -> None:
    """The end of a stream repeats the counts and says the searches; for how long it is kept, its begin."""
    start = {"id": "msg", "model": "m", "role": "assistant", "content": []}
    end = {"output_tokens": 7, "cache_creation_input_tokens": 900}
    body = named(
        {"type": "message_start", "message": {**start, "usage": {**CACHED, "output_tokens": 1}}},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {**end, "server_tool_use": {"web_search_requests": 3}},
        },
        {"type": "message_stop"},
    )
    counts = {"input": 904, "output": 7, "cache_write": 900, "cache_write_1h": 600, "web_searches": 3}
    assert answered(MESSAGES, body, SSE).tokens == counts


def test_what_there_is_none_of_is_not_said() -> None:
    nothing = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}
    usage = {"input_tokens": 4, "output_tokens": 1, "cache_creation": nothing, "server_tool_use": None}
    assert read_tokens(usage) == {"input": 4, "output": 1}
    details = {"audio_tokens": 0, "cached_tokens": 0}
    usage = {"prompt_tokens": 4, "completion_tokens": 1, "prompt_tokens_details": details}
    assert read_tokens(usage) == {"input": 4, "output": 1, "cache_read": 0}


def test_sound_of_a_realtime_response() -> None:
    """Of what was cached, too."""
    read = {"cached_tokens": 64, "audio_tokens": 80, "cached_tokens_details": {"audio_tokens": 40}}
    usage = {
        "input_tokens": 100,
        "output_tokens": 50,
        "input_token_details": read,
        "output_token_details": {"text_tokens": 10, "audio_tokens": 40},
    }
    assert read_tokens(usage) == {
        "input": 100,
        "output": 50,
        "cache_read": 64,
        "input_audio": 80,
        "cache_read_audio": 40,
        "output_audio": 40,
    }


def test_searches_of_a_response() -> None:
    """To open a page that was found has no price; a gateway may say of no search what it was."""
    calls = [{"type": "search", "query": "q"}, {"type": "open_page", "url": "u"}, None]
    output = [{"type": "web_search_call", "id": "ws", "action": action} for action in calls]
    usage = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    answer = answered(RESPONSES, {"id": "r", "status": "completed", "output": output, "usage": usage})
    assert answer.tokens == {"input": 3, "output": 2, "total": 5, "web_searches": 2}


GENERATED = {
    "promptTokenCount": 300,
    "candidatesTokenCount": 1290,
    "promptTokensDetails": [
        {"modality": "TEXT", "tokenCount": 100},
        {"modality": "AUDIO", "tokenCount": 150},
        {"modality": "AUDIO", "tokenCount": 50},
        {"modality": "MODALITY_UNSPECIFIED"},
        None,
    ],
    "cachedContentTokenCount": 120,
    "cacheTokensDetails": [{"modality": "AUDIO", "tokenCount": 120}],
    "candidatesTokensDetails": [{"modality": "IMAGE", "tokenCount": 1290}],
}
INTERACTED = {
    "total_input_tokens": 300,
    "total_output_tokens": 1290,
    "total_cached_tokens": 120,
    "input_tokens_by_modality": [{"modality": "text", "tokens": 100}, {"modality": "audio", "tokens": 200}],
    "cached_tokens_by_modality": [{"modality": "audio", "tokens": 120}],
    "output_tokens_by_modality": [{"modality": "image", "tokens": 1290}],
}


@pytest.mark.parametrize(
    ("url", "body"),
    [
        (f"{GOOGLE}:generateContent", {"candidates": [], "usageMetadata": GENERATED}),
        (INTERACTIONS, {"id": "i", "status": "completed", "steps": [], "usage": INTERACTED}),
    ],
    ids=["generateContent", "interactions"],
)
def test_sound_and_images_of_google(url: str, body: dict[str, Any]) -> None:
    assert answered(url, body).tokens == {
        "input": 300,
        "output": 1290,
        "cache_read": 120,
        "input_audio": 200,
        "cache_read_audio": 120,
        "output_image": 1290,
    }


def test_a_cache_of_bedrock() -> None:
    written = [{"ttl": "5m", "inputTokens": 300}, {"ttl": "1h", "inputTokens": 600}]
    usage = {"inputTokens": 4, "outputTokens": 1, "cacheWriteInputTokens": 900, "cacheDetails": written}
    message = {"role": "assistant", "content": [{"text": "Hi"}]}
    body = {"output": {"message": message}, "stopReason": "end_turn", "usage": usage}
    assert answered(f"{BEDROCK}/converse", body).tokens == {
        "input": 904,
        "output": 1,
        "cache_write": 900,
        "cache_write_1h": 600,
    }
