"""Bedrock's InvokeModel, for models whose name says nothing of how they speak."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from lctl.instrument.codecs import ModelAnswer, ModelRequest, find
from lctl.testing.wire.bedrock import frame

ARN = "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc"
FRAMES = {"content-type": "application/vnd.amazon.eventstream"}
METRICS = {"amazon-bedrock-invocationMetrics": {"inputTokenCount": 11, "outputTokenCount": 7}}
COUNTS = {"prompt_token_count": 11, "generation_token_count": 7}
TITAN = {"outputText": "Hello you", "completionReason": "stop"}
PICTURE = {"taskType": "TEXT_IMAGE", "textToImageParams": {"text": "A cat"}}


def url(model: str, ending: str = "invoke") -> str:
    return f"https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}/{ending}"


def asked(body: dict[str, Any], model: str = ARN, ending: str = "invoke") -> ModelRequest:
    found = find("POST", url(model, ending), {})
    assert found is not None
    return found[0].read_request(found[1], url(model, ending), json.dumps(body).encode())


def answered(
    *events: dict[str, Any], headers: dict[str, str] | None = None, status: int = 200
) -> ModelAnswer:
    """Of one event as a whole answer, with `FRAMES` as a stream of them."""
    found = find("POST", url(ARN), {})
    assert found is not None
    if headers is FRAMES:
        sealed = [base64.b64encode(json.dumps(event).encode()).decode() for event in events]
        chunks = [frame("chunk", {"bytes": one, "p": "abc"}) for one in sealed]
    else:
        chunks = [json.dumps(events[0]).encode()]
    return found[0].read_answer(found[1], status, headers or {}, chunks)


@pytest.mark.parametrize(
    ("body", "messages", "input"),
    [
        ({"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 5}, ["user Hi"], None),
        (
            {"anthropic_version": "v", "system": "S", "messages": [{"role": "user", "content": "Hi"}]},
            ["system S", "user Hi"],
            None,
        ),
        (
            {"schemaVersion": "messages-v1", "messages": [{"role": "user", "content": [{"text": "Hi"}]}]},
            ["user [{'text': 'Hi'}]"],
            None,
        ),
        (
            {
                "message": "Now?",
                "preamble": "S",
                "chat_history": [{"role": "USER", "message": "Hi"}, {"role": "CHATBOT", "message": "Yes"}],
            },
            ["system S", "user Hi", "assistant Yes", "user Now?"],
            None,
        ),
        ({"prompt": "Once", "max_gen_len": 5}, [], "Once"),
        ({"inputText": "Once", "textGenerationConfig": {}}, [], "Once"),
    ],
)
def test_what_is_asked(body: dict[str, Any], messages: list[str], input: str | None) -> None:
    """By the body: an inference profile's name says nothing."""
    request = asked(body)
    assert [f"{one['role']} {one['content']}" for one in request.messages] == messages
    assert (request.input, request.kind, request.provider, request.stream) == (input, "llm", "aws", False)
    assert request.model is not None and request.model.endswith("application-inference-profile/abc")
    assert asked(body, ending="invoke-with-response-stream").stream


def test_what_is_embedded() -> None:
    assert asked({"texts": ["a", "b"], "input_type": "search_query"}).kind == "embedding"
    request = asked({"inputText": "a"}, "amazon.titan-embed-text-v2%3A0")
    assert (request.kind, request.input) == ("embedding", "a")
    answer = answered({"embedding": [0.1, 0.2], "inputTextTokenCount": 3})
    assert (answer.embedding, answer.tokens) == ({"count": 1, "dimensions": 2}, {"input": 3})
    assert answered({"embeddings": {"float": [[1], [2]]}}).embedding == {"count": 2, "dimensions": 1}


def test_pictures_are_no_model_call() -> None:
    with pytest.raises(ValueError, match="prompt"):
        asked(PICTURE)


@pytest.mark.parametrize(
    ("whole", "pieces"),
    [
        (
            {"generation": "Hello you", "stop_reason": "stop", **COUNTS},
            [{"generation": "Hello"}, {"generation": " you", "stop_reason": "stop"}],
        ),
        (
            {"outputs": [{"text": "Hello you", "stop_reason": "stop"}]},
            [{"outputs": [{"text": "Hello"}]}, {"outputs": [{"text": " you", "stop_reason": "stop"}]}],
        ),
        (
            {"inputTextTokenCount": 11, "results": [{**TITAN, "tokenCount": 7}]},
            [{"outputText": "Hello"}, {"outputText": " you", "completionReason": "stop"}],
        ),
        (
            {"text": "Hello you", "finish_reason": "stop", "generation_id": "g"},
            [
                {"event_type": "text-generation", "text": "Hello"},
                {"event_type": "text-generation", "text": " you"},
                {"event_type": "stream-end", "finish_reason": "stop", "response": {"text": "Hello you"}},
            ],
        ),
        (
            {"choices": [{"message": {"role": "assistant", "content": "Hello you"}, "stop_reason": "stop"}]},
            [
                {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}}]},
                {"choices": [{"index": 0, "message": {"content": " you"}, "stop_reason": "stop"}]},
            ],
        ),
        (
            {"choices": [{"text": "Hello you", "stop_reason": "stop"}]},
            [{"choices": [{"text": "Hello"}]}, {"choices": [{"text": " you", "stop_reason": "stop"}]}],
        ),
    ],
)
def test_what_is_answered(whole: dict[str, Any], pieces: list[dict[str, Any]]) -> None:
    """Llama, Mistral, Titan, Cohere, chat completions, DeepSeek: the same whole and streamed, with counts."""
    told = {"x-amzn-bedrock-input-token-count": "11", "x-amzn-bedrock-output-token-count": "7"}
    for answer in (
        answered(whole, headers=told),
        answered(*pieces[:-1], {**pieces[-1], **METRICS}, headers=FRAMES),
    ):
        assert [(one["role"], one["content"]) for one in answer.messages] == [("assistant", "Hello you")]
        assert (answer.finish_reason, answer.tokens) == ("stop", {"input": 11, "output": 7})
        assert answer.complete and answer.error is None
    cut = answered(*pieces[:1], headers=FRAMES)
    assert not cut.complete and cut.messages[0]["content"] == "Hello"


def test_anthropics_and_novas_answers_are_theirs() -> None:
    """Behind a profile's name, whole and in frames."""
    content = [{"type": "text", "text": "Hi"}]
    message = {"type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn"}
    whole = answered({**message, "usage": {"input_tokens": 3, "output_tokens": 1}})
    assert whole.tokens == {"input": 3, "output": 1}
    start = {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    piece = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}
    streamed = answered(start, piece, {"type": "message_stop", **METRICS}, headers=FRAMES)
    assert streamed.complete and streamed.messages[0]["content"][0]["text"] == "Hi"
    nova = answered({"messageStop": {"stopReason": "end_turn"}}, headers=FRAMES)
    assert nova.finish_reason == "end_turn"


def test_errors() -> None:
    """Of a response, whose name stands in a header, and of a stream."""
    named = {"x-amzn-errortype": "ThrottlingException:http://x"}
    failed = answered({"message": "slow"}, headers=named, status=429)
    assert failed.error == {"status": 429, "type": "ThrottlingException", "code": None, "message": "slow"}
    found = find("POST", url(ARN), {})
    assert found is not None
    broken = frame("modelStreamErrorException", {"message": "gone"})
    answer = found[0].read_answer(found[1], 200, FRAMES, [broken])
    assert answer.error is not None and answer.error["message"] == "gone" and not answer.complete
