"""Answers of status 200 that are errors: routers say so of the provider behind them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from lctl.instrument import codecs


@pytest.mark.parametrize(
    ("url", "body"),
    [
        ("http://h/v1/chat/completions", {"error": {"message": "Provider returned error", "code": 502}}),
        ("http://h/v1/completions", {"error": {"message": "Provider returned error", "code": 502}}),
        ("http://h/v1/embeddings", {"error": {"message": "Provider returned error", "code": 502}}),
        ("http://h/v1/messages", {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
    ],
)
def test_the_answer_says_the_error(url: str, body: dict[str, Any]) -> None:
    found = codecs.find("POST", url, {})
    assert found is not None
    codec, operation = found
    answer = codec.read_answer(operation, 200, {"content-type": "application/json"}, [orjson.dumps(body)])
    assert answer.error is not None
    assert answer.error["status"] == 200
    assert answer.error["message"] == body["error"]["message"]
    assert answer.messages == []
