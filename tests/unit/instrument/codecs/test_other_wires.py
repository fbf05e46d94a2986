"""Google, Bedrock, Ollama and Cohere: what was asked and answered, from the bytes, however they came."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

import pytest

from lctl.instrument.codecs import ModelAnswer, ModelRequest, find
from lctl.testing.wire.bedrock import frame
from tests.unit.instrument.chains import Chain

GOOGLE = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash"
BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-lite-v1%3A0"
SSE = {"content-type": "text/event-stream"}
FRAMES = {"content-type": "application/vnd.amazon.eventstream"}


def asked(url: str, document: dict[str, Any]) -> ModelRequest:
    found = find("POST", url, {})
    assert found is not None, url
    return found[0].read_request(found[1], url, json.dumps(document).encode())


def answered(url: str, body: Any, headers: dict[str, str] | None = None, status: int = 200) -> ModelAnswer:
    found = find("POST", url, {})
    assert found is not None, url
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return found[0].read_answer(found[1], status, headers or {}, [data])


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\r\n\r\n" for event in events)


def piece(text: str, **more: Any) -> dict[str, Any]:
    part = {"text": text, **({"thought": True} if more.pop("thought", False) else {})}
    return {"candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0, **more}]}


# -- Google ----------------------------------------------------------------------------------


def test_google_request() -> None:
    """Model of the path, system prompt first, tools and the rest as parameters."""
    document = {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"functionDeclarations": [{"name": "f"}]}],
        "generationConfig": {"temperature": 0},
    }
    request = asked(f"{GOOGLE}:streamGenerateContent?alt=sse", document)
    assert (request.provider, request.model, request.stream) == ("google", "gemini-2.5-flash", True)
    assert [message["role"] for message in request.messages] == ["system", "user"]
    assert request.instructions and request.params == {"generationConfig": {"temperature": 0}}
    assert request.tools == document["tools"]


def test_google_pieces_that_a_chat_sends_back_are_one_message() -> None:
    """As the answer was; what they were made of is in `spans`."""
    contents = [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": [{"text": "Hel"}]},
        {"role": "model", "parts": [{"text": "lo"}]},
        {"role": "user", "parts": [{"text": "More"}]},
    ]
    request = asked(f"{GOOGLE}:generateContent", {"contents": contents})
    assert request.messages[1] == {"role": "model", "parts": [{"text": "Hello"}]}
    assert request.spans == [1, 2, 1]


def test_google_names_with_underscores_are_the_answers_names() -> None:
    """As LiteLLM writes them: the call in a prompt is the one that the model asked for."""
    picture = {"mime_type": "image/png", "data": "AA=="}
    told = {"name": "f", "response": {"some_key": 1}}
    called = {"function_call": {"name": "f", "args": {"a_b": 1}}, "thought_signature": "s"}
    contents = [
        {"role": "model", "parts": [called]},
        {"role": "user", "parts": [{"function_response": told}, {"inline_data": picture}]},
    ]
    request = asked(f"{GOOGLE}:generateContent", {"contents": contents})
    assert [message["parts"] for message in request.messages] == [
        [{"functionCall": {"name": "f", "args": {"a_b": 1}}, "thoughtSignature": "s"}],
        [{"functionResponse": told}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}],
    ]


def test_google_stream_is_what_the_whole_would_be() -> None:
    """Thoughts and words each put together; the last usage stands, thoughts are output."""
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 4, "thoughtsTokenCount": 6, "totalTokenCount": 19}
    events = [piece("I ", thought=True), piece("think", thought=True), piece("Hel"), piece("lo")]
    last = {**piece("", finishReason="STOP"), "usageMetadata": usage, "responseId": "r1", "modelVersion": "g"}
    answer = answered(f"{GOOGLE}:streamGenerateContent", sse(*events, last), SSE)
    parts = [{"text": "I think", "thought": True}, {"text": "Hello"}]
    assert answer.messages == [{"role": "model", "parts": parts}]
    assert answer.complete and answer.finish_reason == "STOP" and answer.response_id == "r1"
    assert answer.tokens == {"input": 9, "output": 10, "reasoning": 6, "total": 19}
    assert answer.events == 5
    as_list = answered(f"{GOOGLE}:streamGenerateContent", [*events, last])
    assert as_list.messages == answer.messages and as_list.tokens == answer.tokens


def test_google_stream_that_was_cut() -> None:
    answer = answered(f"{GOOGLE}:streamGenerateContent", sse(piece("Hel")) + b'data: {"candi', SSE)
    assert not answer.complete and answer.messages[0]["parts"] == [{"text": "Hel"}]


def test_google_says_no() -> None:
    """A prompt that is blocked has no answer and a reason; an error its status by name."""
    answer = answered(f"{GOOGLE}:generateContent", {"promptFeedback": {"blockReason": "SAFETY"}})
    assert (answer.complete, answer.finish_reason, answer.messages) == (True, "SAFETY", [])
    error = {"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}}
    failed = answered(f"{GOOGLE}:generateContent", error, status=429)
    assert failed.error is not None
    assert (failed.error["type"], failed.error["message"]) == ("RESOURCE_EXHAUSTED", "slow down")
    inside = answered(f"{GOOGLE}:streamGenerateContent", sse(piece("a"), error), SSE)
    assert not inside.complete and inside.error is not None and inside.error["code"] == 429


def test_google_numbers_for_names() -> None:
    """Vertex with enum-encoding=int."""
    whole = {"candidates": [{"content": {"parts": [{"text": "x"}], "role": "model"}, "finishReason": 2}]}
    assert answered(f"{GOOGLE}:generateContent", whole).finish_reason == "MAX_TOKENS"


def test_google_embeddings_and_counts() -> None:
    content = {"parts": [{"text": "one"}]}
    request = asked(
        f"{GOOGLE}:batchEmbedContents", {"requests": [{"content": content}, {"content": content}]}
    )
    assert (request.kind, request.input) == ("embedding", ["one", "one"])
    answer = answered(f"{GOOGLE}:batchEmbedContents", {"embeddings": [{"values": [0, 1]}] * 2})
    assert answer.embedding == {"count": 2, "dimensions": 2}
    assert answered(f"{GOOGLE}:countTokens", {"totalTokens": 7}).usage == {"totalTokens": 7}


def test_embeddings_of_vertex() -> None:
    """Models that are asked for predictions; pictures are made by the same path."""
    url = "https://x/v1/projects/p/locations/l/publishers/google/models/text-embedding-005:predict"
    request = asked(url, {"instances": [{"content": "one"}, {"content": "two"}], "parameters": {"a": 1}})
    assert (request.kind, request.model, request.input) == ("embedding", "text-embedding-005", ["one", "two"])
    assert request.params == {"parameters": {"a": 1}}
    row = {"embeddings": {"values": [0, 1], "statistics": {"token_count": 4}}}
    answer = answered(url, {"predictions": [row, row]})
    assert (answer.embedding, answer.tokens) == ({"count": 2, "dimensions": 2}, {"input": 8})
    assert answered(url, {"predictions": [{"embeddings": {"values": [0]}}]}).tokens is None
    with pytest.raises(ValueError, match="embeddings"):
        asked(url, {"instances": [{"prompt": "a cat"}]})


def test_calls_without_ids_are_answered_by_name_and_order() -> None:
    """Two calls of one function, then its two results."""
    chain, url = Chain(), f"{GOOGLE}:generateContent"
    use = [{"functionCall": {"name": "f", "args": {"n": n}}} for n in (1, 2)]
    contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": "x"}]}]
    chain.receive(chain.send({"contents": contents}, url), {"role": "model", "parts": use})
    gave: list[dict[str, Any]] = [{"r": 1}, {"error": "no"}]
    parts = [{"functionResponse": {"name": "f", "response": response}} for response in gave]
    contents += [{"role": "model", "parts": use}, {"role": "user", "parts": parts}]
    chain.send({"contents": contents}, url)
    made = [event["data"] for event in chain.events("tool_call")]
    assert [(one["input"], one.get("output"), one.get("error")) for one in made] == [
        ({"n": 1}, {"r": 1}, None),
        ({"n": 2}, None, {"error": "no"}),
    ]


# -- Bedrock ---------------------------------------------------------------------------------


def test_bedrock_request_and_whole_answer() -> None:
    message = {"role": "assistant", "content": [{"text": "Hi"}]}
    usage = {"inputTokens": 5, "outputTokens": 2, "cacheReadInputTokens": 3, "totalTokens": 10}
    whole = {"output": {"message": message}, "stopReason": "end_turn", "usage": usage}
    document = {
        "messages": [{"role": "user", "content": [{"text": "x"}]}],
        "system": [{"text": "s"}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "f"}}], "toolChoice": {"auto": {}}},
        "inferenceConfig": {"maxTokens": 9},
    }
    request = asked(f"{BEDROCK}/converse", document)
    assert (request.provider, request.model) == ("aws", "us.amazon.nova-lite-v1:0")
    assert request.params == {"inferenceConfig": {"maxTokens": 9}, "toolChoice": {"auto": {}}}
    answer = answered(f"{BEDROCK}/converse", whole)
    assert answer.messages == [message] and answer.finish_reason == "end_turn"
    assert answer.tokens == {"input": 8, "output": 2, "cache_read": 3, "total": 10}


def test_bedrock_request_of_a_stored_prompt() -> None:
    """Bedrock keeps its messages; the request has its variables. InvokeModel has no such form."""
    arn = "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aprompt%2FABC123%3A1"
    document: dict[str, Any] = {"promptVariables": {"name": {"text": "Ann"}}}
    request = asked(f"https://bedrock-runtime.us-east-1.amazonaws.com/model/{arn}/converse", document)
    assert (request.model, request.messages, request.params) == (unquote(arn), [], document)
    with pytest.raises(ValueError, match="messages"):
        asked(f"{BEDROCK}/invoke", document)


def test_bedrock_stream_however_it_is_cut() -> None:
    """Text, a tool's arguments in pieces; every prefix is read as far as it goes, without an error."""
    frames = [
        frame("messageStart", {"role": "assistant"}),
        frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Hel"}}),
        frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "lo"}}),
        frame(
            "contentBlockStart",
            {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t", "name": "f"}}},
        ),
        frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '{"a":'}}}),
        frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": "1}"}}}),
        frame("messageStop", {"stopReason": "tool_use"}),
        frame("metadata", {"usage": {"inputTokens": 1, "outputTokens": 2}}),
    ]
    body = b"".join(frames)
    answer = answered(f"{BEDROCK}/converse-stream", body, FRAMES)
    use = {"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": 1}}}
    assert answer.messages == [{"role": "assistant", "content": [{"text": "Hello"}, use]}]
    assert answer.complete and answer.tokens == {"input": 1, "output": 2} and answer.events == 8
    for end in range(0, len(body), 7):
        cut = answered(f"{BEDROCK}/converse-stream", body[:end], FRAMES)
        assert cut.complete == (end >= len(b"".join(frames[:7])))


def test_bedrock_stream_that_fails() -> None:
    """An exception frame inside a 200."""
    body = frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "a"}})
    body += frame("throttlingException", {"message": "slow down"})
    answer = answered(f"{BEDROCK}/converse-stream", body, FRAMES)
    assert not answer.complete and answer.error is not None
    assert (answer.error["type"], answer.error["message"]) == ("throttlingException", "slow down")


# -- Ollama and Cohere -----------------------------------------------------------------------


def test_ollama_lines() -> None:
    lines: list[dict[str, Any]] = [
        {"model": "m", "message": {"role": "assistant", "content": "Hel", "thinking": "hm"}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": "lo"}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
    ]
    lines[-1] |= {"prompt_eval_count": 4, "eval_count": 2}
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    answer = answered("http://localhost:11434/api/chat", body)
    assert answer.messages == [{"role": "assistant", "content": "Hello", "thinking": "hm"}]
    assert answer.complete and answer.tokens == {"input": 4, "output": 2} and answer.events == 3
    assert not answered("http://localhost:11434/api/chat", body[:120]).complete


def test_another_programs_api_chat_is_no_model_call() -> None:
    """Many have one; it names no model."""
    with pytest.raises(ValueError):
        asked("https://shop.example/api/chat", {"messages": []})


def test_cohere_events() -> None:
    events: list[dict[str, Any]] = [
        {"type": "message-start", "id": "c1", "delta": {"message": {"role": "assistant"}}},
        {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "I will"}}},
        {
            "type": "tool-call-start",
            "index": 0,
            "delta": {
                "message": {"tool_calls": {"id": "f_1", "type": "function", "function": {"name": "f"}}}
            },
        },
        {
            "type": "tool-call-delta",
            "index": 0,
            "delta": {"message": {"tool_calls": {"function": {"arguments": "{}"}}}},
        },
        {
            "type": "message-end",
            "delta": {
                "finish_reason": "TOOL_CALL",
                "usage": {"tokens": {"input_tokens": 3, "output_tokens": 1}},
            },
        },
    ]
    answer = answered("https://api.cohere.com/v2/chat", sse(*events), SSE)
    call = {"function": {"name": "f", "arguments": "{}"}, "id": "f_1", "type": "function"}
    assert answer.messages == [{"role": "assistant", "tool_plan": "I will", "tool_calls": [call]}]
    assert (answer.response_id, answer.finish_reason, answer.complete) == ("c1", "TOOL_CALL", True)
    assert answer.tokens == {"input": 3, "output": 1}
