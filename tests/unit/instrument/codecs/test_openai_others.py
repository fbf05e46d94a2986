"""Legacy completions, embeddings, token counting; usage of every provider."""

from __future__ import annotations

import base64
import struct
from typing import Any

import orjson
import pytest

from lctl.instrument.codecs import ModelAnswer, ModelRequest, find
from lctl.instrument.codecs.usage import read_tokens
from tests.unit.instrument.codecs.streams import JSON, SSE, sse


def request(path: str, body: dict[str, Any]) -> ModelRequest:
    found = find("POST", path, {})
    assert found is not None
    return found[0].read_request(found[1], path, orjson.dumps(body))


def answer(path: str, body: bytes, headers: dict[str, str] = JSON) -> ModelAnswer:
    found = find("POST", path, {})
    assert found is not None
    return found[0].read_answer(found[1], 200, headers, [body])


class TestCompletions:
    path = "http://x/v1/completions"

    def test_request(self) -> None:
        """A prompt is an input, not a message."""
        read = request(self.path, {"model": "m", "prompt": ["a", "b"], "max_tokens": 3})
        assert (read.messages, read.input, read.params) == ([], ["a", "b"], {"max_tokens": 3})

    def test_whole(self) -> None:
        """A message per choice."""
        choices = [
            {"index": 0, "text": "x", "finish_reason": "stop"},
            {"text": "y", "finish_reason": "length"},
        ]
        read = answer(self.path, orjson.dumps({"id": "1", "model": "m", "choices": choices}))
        assert [message["content"] for message in read.messages] == ["x", "y"]
        assert (read.finish_reason, read.finish_reasons) == ("stop", ["stop", "length"])

    def test_stream(self) -> None:
        """Texts in pieces, choices interleaved."""
        parts = [(0, "a", None), (1, "b", None), (0, "c", "stop"), (1, None, "stop")]
        events = [{"choices": [{"index": i, "text": text, "finish_reason": end}]} for i, text, end in parts]
        read = answer(self.path, sse(*events), SSE)
        assert [message["content"] for message in read.messages] == ["ac", "b"]
        assert read.complete
        assert not answer(self.path, sse(*events[:3]), SSE).complete


class TestEmbeddings:
    path = "http://x/v1/embeddings"

    def test_request(self) -> None:
        """Kind embedding, with its input."""
        read = request(self.path, {"model": "m", "input": ["a"], "encoding_format": "float"})
        assert (read.kind, read.input, read.params) == ("embedding", ["a"], {"encoding_format": "float"})

    @pytest.mark.parametrize("size", [1, 2, 3, 256])
    def test_base64_is_counted_as_floats(self, size: int) -> None:
        """4 bytes a number, whatever the padding."""
        vector = base64.b64encode(struct.pack(f"{size}f", *range(size))).decode()
        rows = {"model": "m", "data": [{"embedding": vector}, {"embedding": vector}]}
        assert answer(self.path, orjson.dumps(rows)).embedding == {"count": 2, "dimensions": size}

    def test_lists(self) -> None:
        """Count of rows, size of the first; none is none."""
        rows = {"data": [{"embedding": [0.1, 0.2, 0.3]}], "usage": {"prompt_tokens": 2, "total_tokens": 2}}
        read = answer(self.path, orjson.dumps(rows))
        assert (read.embedding, read.tokens) == ({"count": 1, "dimensions": 3}, {"input": 2, "total": 2})
        assert answer(self.path, b'{"data":[]}').embedding == {"count": 0, "dimensions": 0}
        assert answer(self.path, b"{}").embedding is None


@pytest.mark.parametrize("more", [{}, {"prompt_tokens_details": {"cached_tokens": -1}}])
def test_a_count_below_zero_is_none(more: dict[str, Any]) -> None:
    """Servers that do not know a count say -1; a log's counts begin with 0."""
    usage = {"prompt_tokens": 7, "completion_tokens": -1, "total_tokens": 7, **more}
    assert read_tokens(usage) == {"input": 7, "total": 7}


def test_counting_tokens_uses_none() -> None:
    """The count is in `usage`; `tokens`, which are summed, are None."""
    read = answer(
        "http://x/v1/responses/input_tokens", b'{"object":"response.input_tokens","input_tokens":11}'
    )
    assert read.tokens is None
    assert read.usage is not None
    assert read.usage["input_tokens"] == 11
    asked = request("http://x/v1/responses/input_tokens", {"model": "m", "input": "hi"})
    assert (asked.operation, asked.messages) == (
        "responses.input_tokens",
        [{"role": "user", "content": "hi"}],
    )


@pytest.mark.parametrize(
    ("usage", "apart", "tokens"),
    [
        (None, False, None),
        ({}, False, None),
        ("much", False, None),
        ({"prompt_tokens": None, "completion_tokens": True}, False, None),
        (
            {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
            False,
            {"input": 0, "output": 0, "total": 0},
        ),
        ({"prompt_tokens": 9.0, "completion_tokens": "3"}, False, {"input": 9}),
        (
            {
                "input_tokens": 9,
                "input_tokens_details": {"cached_tokens": 4},
                "output_tokens": 8,
                "output_tokens_details": {"reasoning_tokens": 6},
            },
            False,
            {"input": 9, "output": 8, "cache_read": 4, "reasoning": 6},
        ),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}, False, {"input": 9, "cache_read": 4}),
        (
            {
                "input_tokens": 9,
                "cache_read_input_tokens": 4,
                "cache_creation_input_tokens": 2,
                "output_tokens": 1,
            },
            True,
            {"input": 15, "output": 1, "cache_read": 4, "cache_write": 2},
        ),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, False, {"input": 9}),
        ({"prompt_tokens": 9, "cached_tokens": 4}, False, {"input": 9, "cache_read": 4}),
        (
            {"prompt_tokens": 9, "prompt_token_details": {"cached_tokens": 4}},
            False,
            {"input": 9, "cache_read": 4},
        ),
        (
            {"prompt_tokens": 9, "prompt_tokens_details": {"cache_creation_input_tokens": 4}},
            False,
            {"input": 9, "cache_write": 4},
        ),
        ({"completion_tokens": 9, "reasoning_tokens": 4}, False, {"output": 9, "reasoning": 4}),
    ],
)
def test_tokens_of_a_usage(usage: Any, apart: bool, tokens: dict[str, int] | None) -> None:
    """Only what was reported, cached input counted in."""
    assert read_tokens(usage, cache_apart=apart) == tokens
