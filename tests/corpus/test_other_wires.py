"""Recorded traffic of Google, Bedrock, Ollama and Cohere: every answer that was one is read whole."""

from __future__ import annotations

import gzip
from collections import Counter
from typing import Any

import pytest

from lctl.instrument.codecs import find
from tests.corpus.recorded import SHARED

yaml: Any = pytest.importorskip("yaml")
pytestmark = pytest.mark.corpus

_OURS = ("Google", "Bedrock", "Ollama", "Cohere")


def _bytes(value: Any) -> bytes:
    value = value.get("string") if isinstance(value, dict) else value
    return value.encode() if isinstance(value, str) else value or b""


def test_every_recorded_answer_is_read_whole() -> None:
    """Content, finish and token counts of each 200; the provider's own words of each failure."""
    cassettes = SHARED / "corpus" / "cassettes"
    if not cassettes.is_dir():
        pytest.skip(f"no recorded traffic at {cassettes}")
    read: Counter[str] = Counter()
    for path in sorted(cassettes.glob("**/*.yaml")):
        document = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
        for one in document.get("interactions") or ():
            request, response = one["request"], one["response"]
            found = find(request["method"], request["uri"], {})
            if found is None or type(found[0]).__name__ not in _OURS:
                continue
            codec, operation = found
            codec.read_request(operation, request["uri"], _bytes(request["body"]))
            body = _bytes(response.get("body") or response.get("content"))
            body = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
            headers = {name.lower(): values[0] for name, values in response["headers"].items()}
            status = response["status"]["code"]
            answer = codec.read_answer(operation, status, headers, [body])
            if status >= 400:
                assert answer.error and answer.error["message"], path
                continue
            assert answer.complete and answer.finish_reason, path
            assert answer.messages[0]["role"] in ("assistant", "model"), path
            # A server that has the prompt in its cache may count none of it.
            assert answer.tokens and answer.tokens["output"], path
            read[type(codec).__name__] += 1
    assert min(read[name] for name in _OURS) >= 5
