"""Servers that speak nearly as OpenAI does: what they do otherwise is read all the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.instrument.codecs.test_further_wires import SSE, TOKENS, USAGE, stream
from tests.unit.instrument.codecs.test_other_wires import answered

CHAT = "https://api.openai.com/v1/chat/completions"


def chunk(text: str, reason: str | None = None, **choice: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason, **choice}],
    }


def test_usage_in_the_last_choice() -> None:
    """Moonshot's."""
    answer = answered(CHAT, stream(chunk("a"), chunk("b", "stop", usage=USAGE)), SSE)
    assert (answer.messages[0]["content"], answer.tokens) == ("ab", TOKENS)


def test_a_failure_in_the_choice() -> None:
    """As OpenRouter says that the provider behind it failed: whole, and in a stream."""
    failed = {"code": 429, "message": "Provider error"}
    whole = {
        "id": "c",
        "choices": [{"message": {"role": "assistant", "content": ""}, "finish_reason": "error"}],
    }
    whole["choices"][0]["error"] = failed  # type: ignore[index]
    for answer in (answered(CHAT, whole), answered(CHAT, stream(chunk("", "error", error=failed)), SSE)):
        assert answer.error == {"status": 200, "type": None, **failed}


def test_an_event_that_is_named_an_error() -> None:
    """Its name alone says so."""
    body = stream(chunk("a")) + b'event: error\ndata: {"message": "overloaded", "code": "503"}\n\n'
    answer = answered(CHAT, body, SSE)
    assert answer.error is not None and answer.error["message"] == "overloaded"
    assert not answer.complete and answer.messages[0]["content"] == "a"


def test_events_without_empty_lines_between_them() -> None:
    """Clients that read line by line take them."""
    lines = [*(f"data: {json.dumps(one)}" for one in (chunk("Hel"), chunk("lo", "stop"))), "data: [DONE]"]
    answer = answered(CHAT, "\n".join(lines).encode(), SSE)
    assert answer.complete and answer.messages[0]["content"] == "Hello"


def test_thoughts_of_openrouter_in_pieces() -> None:
    """Pieces of one thought have its index."""
    pieces = [
        {"type": "reasoning.text", "text": "hm ", "index": 0},
        {"type": "reasoning.text", "text": "so", "index": 0},
        {"type": "reasoning.text", "signature": "S", "index": 0},
        {"type": "reasoning.encrypted", "data": "X", "index": 1},
    ]
    events = [{"choices": [{"index": 0, "delta": {"reasoning_details": [one]}}]} for one in pieces]
    whole = {"type": "reasoning.text", "text": "hm so", "index": 0, "signature": "S"}
    answer = answered(CHAT, stream(*events, chunk("Hi", "stop")), SSE)
    assert answer.messages[0]["reasoning_details"] == [whole, pieces[3]]


@pytest.mark.parametrize("said", ["no such model", [{"msg": "field required"}]])
def test_failures_that_fastapi_tells(said: Any) -> None:
    """Under `detail`."""
    error = answered(CHAT, {"detail": said}, status=400).error
    assert error is not None and error["message"] == said
