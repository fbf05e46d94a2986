"""DashScope, watsonx and Hugging Face: forms of their own, whole and in streams."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.instrument.codecs.test_further_wires import HI, SSE, TOKENS, stream
from tests.unit.instrument.codecs.test_other_wires import answered, asked

WATSONX = "https://us-south.ml.cloud.ibm.com/ml/v1/text"
DASHSCOPE = "https://dashscope.aliyuncs.com/api/v1/services"


def dash(text: Any, reason: str | None = "null", **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": text, **message}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    output = {"choices": [{"message": said, "finish_reason": reason}]}
    return {"output": output, "usage": usage, "request_id": "r"}


def test_dashscope() -> None:
    """Streams of what is new, and of all so far; texts, parts, tool calls."""
    url = f"{DASHSCOPE}/aigc/text-generation/generation"
    params = {"incremental_output": True, "tools": [{"type": "function"}], "result_format": "message"}
    request = asked(url, {"model": "qwen-max", "input": {"messages": HI}, "parameters": params})
    assert (request.provider, request.messages, request.stream) == ("dashscope", HI, True)
    assert request.tools == params["tools"] and "tools" not in request.params
    new = [dash("Hel", reasoning_content=""), dash("lo", "stop")]
    grown = [dash("Hel"), dash("Hello"), dash("Hello", "stop")]
    for events in ([dash("Hello", "stop")], new, grown):
        answer = answered(url, stream(*events, name="result"), SSE)
        assert (answer.messages[0]["content"], answer.finish_reason) == ("Hello", "stop")
        assert (answer.response_id, answer.tokens, answer.complete) == ("r", TOKENS, True)
    parts = [dash([{"text": "Hel"}]), dash([{"text": "lo"}], "stop")]
    assert answered(url, stream(*parts), SSE).messages[0]["content"] == [{"text": "Hello"}]
    pieces = [{"index": 0, "id": "t", "type": "function", "function": {"name": "f", "arguments": '{"a"'}}]
    more = [{"index": 0, "id": "", "type": "function", "function": {"arguments": ":1}"}}]
    answer = answered(url, stream(dash("", tool_calls=pieces), dash("", "tool_calls", tool_calls=more)), SSE)
    assert answer.messages[0]["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a":1}'}
    old = {"output": {"text": "Hello", "finish_reason": "stop"}, "request_id": "r"}
    assert answered(url, old).messages == [{"role": "assistant", "content": "Hello"}]
    failed = {"code": "InvalidApiKey", "message": "no", "request_id": "r"}
    for answer in (answered(url, failed, status=401), answered(url, stream(failed, name="error"), SSE)):
        assert answer.error is not None and (answer.error["code"], answer.error["message"]) == (
            "InvalidApiKey",
            "no",
        )


def test_dashscope_embeddings() -> None:
    """All tokens of an embedding are read."""
    url = f"{DASHSCOPE}/embeddings/text-embedding/text-embedding"
    request = asked(url, {"model": "text-embedding-v4", "input": {"texts": ["Hi"]}})
    assert (request.kind, request.input) == ("embedding", ["Hi"])
    body = {"output": {"embeddings": [{"embedding": [0.1, 0.2]}]}, "usage": {"total_tokens": 3}}
    answer = answered(url, body)
    assert (answer.embedding, answer.tokens) == ({"count": 1, "dimensions": 2}, {"input": 3, "total": 3})


def test_watsonx() -> None:
    """Chats, texts whose stream counts as it goes, embeddings, failures in a list."""
    request = asked(f"{WATSONX}/chat_stream?version=1", {"model_id": "g", "messages": HI, "project_id": "p"})
    assert (request.provider, request.model, request.stream, request.messages) == ("watsonx", "g", True, HI)
    event = {"model_id": "g", "choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    answer = answered(f"{WATSONX}/chat_stream", stream(event, name="message"), SSE)
    assert answer.complete and (answer.model, answer.messages[0]["content"]) == ("g", "Hi")
    told = [("", 0, 10, "not_finished"), ("Hel", 1, 0, "not_finished"), ("lo", 5, 0, "eos_token")]
    names = ("generated_text", "generated_token_count", "input_token_count", "stop_reason")
    pieces = [{"results": [dict(zip(names, one, strict=True))]} for one in told]
    answer = answered(f"{WATSONX}/generation_stream", stream(*pieces, name="message"), SSE)
    assert (answer.messages[0]["content"], answer.finish_reason) == ("Hello", "eos_token")
    assert answer.tokens == {"input": 10, "output": 5}
    assert not answered(f"{WATSONX}/generation_stream", stream(*pieces[:2]), SSE).complete
    assert asked(f"{WATSONX}/embeddings", {"model_id": "s", "inputs": ["Hi"]}).input == ["Hi"]
    answer = answered(f"{WATSONX}/embeddings", {"results": [{"embedding": [1, 2]}], "input_token_count": 3})
    assert (answer.embedding, answer.tokens) == ({"count": 1, "dimensions": 2}, {"input": 3})
    error = answered(f"{WATSONX}/chat", {"errors": [{"code": "x", "message": "no"}]}, status=404).error
    assert error is not None and (error["code"], error["message"]) == ("x", "no")


@pytest.mark.parametrize(
    "url",
    [
        "https://x.endpoints.huggingface.cloud/",
        "http://x/generate",
        "https://router.huggingface.co/m/models/gpt2",
    ],
)
def test_hugging_face_text_generation(url: str) -> None:
    """An endpoint's root, a server's own path, a model without a provider."""
    request = asked(url, {"inputs": "Hi", "parameters": {"max_new_tokens": 2}, "stream": False})
    assert (request.input, request.params, request.stream) == ("Hi", {"max_new_tokens": 2}, False)
    details = {"finish_reason": "length", "generated_tokens": 2, "input_length": 1}
    answer = answered(url, [{"generated_text": "Hello", "details": details}])
    assert (answer.messages[0]["content"], answer.tokens) == ("Hello", {"input": 1, "output": 2})
    pieces = [{"token": {"text": "Hel", "special": False}}, {"token": {"text": "lo", "special": False}}]
    assert answered(url, stream(*pieces), SSE).messages[0]["content"] == "Hello"
    end = {**pieces[1], "generated_text": "Hello", "details": details}
    whole = answered(url, stream(pieces[0], end), SSE)
    assert whole.complete and whole.finish_reason == "length"
    error = answered(url, stream({"error": "full", "error_type": "overloaded"}, name="error"), SSE).error
    assert error is not None and (error["type"], error["message"]) == ("overloaded", "full")


def test_hugging_face_embeddings() -> None:
    """Of one text, of several, of each token."""
    url = "https://router.huggingface.co/hf-inference/models/a/b/pipeline/feature-extraction"
    request = asked(url, {"inputs": ["a", "b"], "normalize": True})
    assert (request.model, request.input, request.params) == ("a/b", ["a", "b"], {"normalize": True})
    for body, count in (([0.1, 0.2], 1), ([[0.1, 0.2], [0.3, 0.4]], 2), ([[[0.1, 0.2]]], 1)):
        assert answered(url, body).embedding == {"count": count, "dimensions": 2}
