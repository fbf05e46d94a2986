"""Bedrock, Cohere and Ollama: a streamed answer holds all that the answer in one piece would hold."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from lctl.instrument.codecs import ModelAnswer, find
from lctl.testing.wire.bedrock import frame

BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-lite-v1%3A0"
FRAMES = {"content-type": "application/vnd.amazon.eventstream"}
SSE = {"content-type": "text/event-stream"}


def answered(url: str, body: bytes, headers: dict[str, str]) -> ModelAnswer:
    found = find("POST", url, {})
    assert found is not None, url
    return found[0].read_answer(found[1], 200, headers, [body])


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def converse_stream(start: dict[str, Any] | None, deltas: list[dict[str, Any]]) -> ModelAnswer:
    """The answer of one content block."""
    body = frame("messageStart", {"role": "assistant"})
    if start is not None:
        body += frame("contentBlockStart", {"contentBlockIndex": 0, "start": start})
    for delta in deltas:
        body += frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta})
    body += frame("contentBlockStop", {"contentBlockIndex": 0})
    body += frame("messageStop", {"stopReason": "end_turn"})
    return answered(f"{BEDROCK}/converse-stream", body, FRAMES)


CITED = {"title": "a.pdf", "location": {"documentChar": {"documentIndex": 0, "start": 0, "end": 3}}}
BLOCKS: dict[str, tuple[dict[str, Any] | None, list[dict[str, Any]], dict[str, Any]]] = {
    "thoughts that nobody may read": (
        None,
        [{"reasoningContent": {"redactedContent": b64(b"sealed")}}],
        {"reasoningContent": {"redactedContent": b64(b"sealed")}},
    ),
    "thoughts and their signature": (
        None,
        [{"reasoningContent": piece} for piece in ({"text": "I "}, {"text": "see"}, {"signature": "s"})],
        {"reasoningContent": {"reasoningText": {"text": "I see", "signature": "s"}}},
    ),
    "citations": (
        None,
        [{"text": "So "}, {"text": "it is."}, {"citation": CITED}, {"citation": {**CITED, "title": "b"}}],
        {
            "citationsContent": {
                "content": [{"text": "So it is."}],
                "citations": [CITED, {**CITED, "title": "b"}],
            }
        },
    ),
    "what a tool of the server found": (
        {"toolResult": {"toolUseId": "t1", "type": "nova_grounding", "status": "success"}},
        [{"toolResult": [{"json": {"a": 1}}]}, {"toolResult": [{"text": "b"}]}],
        {
            "toolResult": {
                "toolUseId": "t1",
                "type": "nova_grounding",
                "status": "success",
                "content": [{"json": {"a": 1}}, {"text": "b"}],
            }
        },
    ),
    "a picture in pieces": (
        {"image": {"format": "png"}},
        [{"image": {"source": {"bytes": b64(b"one")}}}, {"image": {"source": {"bytes": b64(b"more")}}}],
        {"image": {"format": "png", "source": {"bytes": b64(b"onemore")}}},
    ),
    "a picture that failed": (
        {"image": {"format": "png"}},
        [{"image": {"error": {"message": "no"}}}],
        {"image": {"format": "png", "source": {}, "error": {"message": "no"}}},
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_bedrock_blocks_of_a_stream(name: str) -> None:
    start, deltas, whole = BLOCKS[name]
    answer = converse_stream(start, deltas)
    assert answer.messages == [{"role": "assistant", "content": [whole]}]
    assert answer.complete and answer.finish_reason == "end_turn"


def cohere_stream(*events: dict[str, Any]) -> ModelAnswer:
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    return answered("https://api.cohere.com/v2/chat", body, SSE)


def test_cohere_citations_of_a_stream() -> None:
    """In the message, as the answer in one piece has them."""
    cited = [
        {"start": 0, "end": 2, "text": "So", "sources": [{"type": "document", "id": f"d{n}"}]} for n in "12"
    ]
    answer = cohere_stream(
        {"type": "message-start", "id": "c1", "delta": {"message": {"role": "assistant", "citations": []}}},
        {
            "type": "content-start",
            "index": 0,
            "delta": {"message": {"content": {"type": "text", "text": ""}}},
        },
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "So."}}}},
        {"type": "citation-start", "index": 0, "delta": {"message": {"citations": cited[0]}}},
        {"type": "citation-end", "index": 0},
        {"type": "citation-start", "index": 1, "delta": {"message": {"citations": cited[1]}}},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
    )
    content = [{"type": "text", "text": "So."}]
    assert answer.messages == [{"role": "assistant", "content": content, "citations": cited}]
    assert answer.complete and answer.error is None


def test_cohere_stream_whose_end_says_that_it_failed() -> None:
    answer = cohere_stream(
        {"type": "message-start", "id": "c1", "delta": {"message": {"role": "assistant"}}},
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "So"}}}},
        {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "out of memory"}},
    )
    assert answer.error == {"status": 200, "type": "ERROR", "code": None, "message": "out of memory"}
    assert answer.messages[0]["content"] == [{"type": "text", "text": "So"}]


@pytest.mark.parametrize("pieces", [1, 3])
def test_ollama_thoughts_before_a_generated_text(pieces: int) -> None:
    """/api/generate has them beside its text, whole or in a stream."""
    lines: list[dict[str, Any]] = [
        {"model": "q", "response": "", "thinking": "Hm"},
        {"model": "q", "response": "Ye"},
    ]
    last = {"model": "q", "response": "s", "done": True, "done_reason": "stop"}
    if pieces == 1:
        lines, last = [], {**last, "response": "Yes", "thinking": "Hm"}
    body = b"".join(json.dumps(line).encode() + b"\n" for line in [*lines, last])
    answer = answered("http://localhost:11434/api/generate", body, {})
    assert answer.messages == [{"role": "assistant", "content": "Yes", "thinking": "Hm"}]
    assert answer.complete
