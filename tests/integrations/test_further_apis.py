"""APIs of their own, asked over HTTP: each call is a step, with its text and tokens, and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lctl.instrument import ensure_installed, uninstrument
from lctl.session import LCTLSession
from tests.integrations.conftest import Reply
from tests.integrations.libraries import LIBRARIES, Library

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
HI = [{"role": "user", "content": "Hi"}]
TOLD = {"role": "assistant", "content": "Hello"}
WHOLE = {"id": "c", "choices": [{"index": 0, "message": TOLD, "finish_reason": "stop"}], "usage": USAGE}

#: path, request, answer, (operation, text, tokens of the output)
CASES: list[tuple[str, dict[str, Any], Any, tuple[str, Any, int | None]]] = [
    (
        "/v1/fim/completions",
        {"model": "codestral", "prompt": "def f("},
        WHOLE,
        ("completions", "Hello", 5),
    ),
    ("/v1/agents/completions", {"agent_id": "a", "messages": HI}, WHOLE, ("chat.completions", "Hello", 5)),
    (
        "/v1/conversations",
        {"model": "m", "inputs": "Hi"},
        {"conversation_id": "c", "outputs": [{"type": "message.output", **TOLD}], "usage": USAGE},
        ("conversations", "Hello", 5),
    ),
    (
        "/v1/chat",
        {"model": "command-r", "message": "Hi"},
        {"text": "Hello", "finish_reason": "COMPLETE", "meta": {"tokens": {"output_tokens": 5}}},
        ("cohere.v1.chat", "Hello", 5),
    ),
    (
        "/api/v1/services/aigc/text-generation/generation",
        {"model": "qwen-max", "input": {"messages": HI}},
        {
            "output": {"choices": [{"message": TOLD, "finish_reason": "stop"}]},
            "usage": {"output_tokens": 5},
        },
        ("dashscope.generation", "Hello", 5),
    ),
    (
        "/ml/v1/text/generation?version=1",
        {"model_id": "granite", "input": "Hi"},
        {"results": [{"generated_text": "Hello", "generated_token_count": 5, "stop_reason": "eos_token"}]},
        ("watsonx.generation", "Hello", 5),
    ),
    (
        "/generate",
        {"inputs": "Hi", "parameters": {"max_new_tokens": 5}},
        {"generated_text": "Hello", "details": {"finish_reason": "length", "generated_tokens": 5}},
        ("text_generation", "Hello", 5),
    ),
    (
        "/v1/projects/p/locations/l/publishers/mistralai/models/large:rawPredict",
        {"messages": HI},
        WHOLE,
        ("chat.completions", "Hello", 5),
    ),
    (
        "/v1/complete",
        {"model": "claude-2", "prompt": "Hi"},
        {"type": "completion", "completion": "Hello", "stop_reason": "stop_sequence"},
        ("complete", "Hello", None),
    ),
]


@pytest.mark.parametrize("ask", LIBRARIES)
def test_each_call_is_a_step(server: Any, tmp_path: Path, ask: Library) -> None:
    """What the program gets is the same with and without lctl."""
    for path, body, answer, (operation, text, written) in CASES:
        server.replies[:] = [Reply(answer), Reply(answer)]
        plain = ask(f"{server.url}{path}", body)
        log = tmp_path / f"{operation}-{path.count('/')}.lctl.json"
        ensure_installed()
        try:
            with LCTLSession("test", log):
                assert ask(f"{server.url}{path}", body) == plain == answer
        finally:
            uninstrument()
        events = json.loads(log.read_bytes())["events"]
        [started] = [event["data"] for event in events if event["type"] == "step_start"]
        [ended] = [event["data"] for event in events if event["type"] == "step_end"]
        assert (started["operation"], ended["outcome"]) == (operation, "success"), path
        sampled = [event["data"] for event in events if event["type"] == "message"][-1]
        assert (sampled["content"], sampled["status"]) == (text, "complete"), path
        assert (ended.get("tokens") or {}).get("output") == written, path


@pytest.mark.parametrize("ask", LIBRARIES)
def test_paths_like_theirs_are_no_model_calls(server: Any, log: Any, ask: Library) -> None:
    """Conversations that OpenAI keeps, a program's own chat."""
    others: list[tuple[str, dict[str, Any]]] = [
        ("/v1/conversations", {"items": []}),
        ("/v1/conversations/conv_1", {"metadata": {}}),
        ("/v1/chat", {"message": "Hi"}),
        ("/generate", {"prompt": "Hi"}),
        ("/v1/embed", {"text": "Hi"}),
    ]
    for path, body in others:
        server.replies[:] = [Reply({"ok": True})]
        assert ask(f"{server.url}{path}", body) == {"ok": True}
    assert not log.steps()


KEY = "sk-proj-" + "MaNyChUnKs0123456789abcdefGH"
PIECES = ["Your key: ", KEY[:20], KEY[20:], ", keep it."]
CALL = {"index": 0, "id": "t", "type": "function"}


def argument(text: str) -> dict[str, Any]:
    piece = {"jsonPath": "$.a", "stringValue": text}
    return {"functionCall": {"partialArgs": [piece], "willContinue": True}}


#: path, request, an event that says a piece
SPREAD: list[tuple[str, dict[str, Any], Any]] = [
    (
        "/v1/conversations",
        {"inputs": "Hi", "stream": True},
        lambda text: {"type": "message.output.delta", "id": "m", "output_index": 0, "content": text},
    ),
    (
        "/v1/conversations",
        {"inputs": "Hi", "stream": True},
        lambda text: {"type": "function.call.delta", "id": "m", "output_index": 0, "arguments": text},
    ),
    (
        "/services/aigc/text-generation/generation",
        {"model": "q", "input": {"messages": HI}},
        lambda text: {
            "output": {"choices": [{"message": {"tool_calls": [{**CALL, "function": {"arguments": text}}]}}]}
        },
    ),
    (
        "/generate_stream",
        {"inputs": "Hi", "parameters": {"max_new_tokens": 9}},
        lambda text: {"index": PIECES.index(text), "token": {"id": 1, "text": text, "special": False}},
    ),
    (
        "/ml/v1/text/generation_stream",
        {"input": "Hi", "model_id": "g"},
        lambda text: {"results": [{"generated_text": text, "stop_reason": "not_finished"}]},
    ),
    (
        "/v1/models/gemini:streamGenerateContent?alt=sse",
        {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
        lambda text: {"candidates": [{"content": {"parts": [argument(text)]}}]},
    ),
    (
        "/v1/threads/thread_1/runs",
        {"assistant_id": "a", "stream": True},
        lambda text: {
            "object": "thread.message.delta",
            "id": "m",
            "delta": {"content": [{"index": 0, "type": "text", "text": {"value": text}}]},
        },
    ),
    ("/v1/completions", {"prompt": "Hi", "stream": True}, lambda text: {"value": text}),
]


@pytest.mark.parametrize(
    ("path", "body", "event"), SPREAD, ids=[f"{n}{row[0][:20]}" for n, row in enumerate(SPREAD)]
)
def test_a_secret_in_pieces_is_not_in_the_log(
    server: Any, log: Any, path: str, body: Any, event: Any
) -> None:
    """Whichever way the stream says its text; where no codec reads it, too."""
    httpx2 = pytest.importorskip("httpx2", reason="needs: pip install 'lctl[test]'")
    chunks = [b"data: " + json.dumps(event(text)).encode() + b"\n\n" for text in PIECES]
    server.replies[:] = [Reply(chunks=chunks)]
    assert KEY[:20] in httpx2.post(f"{server.url}{path}", json=body).text
    assert len(log.steps()) == 1
    written = log.path.read_text()
    assert "keep it." in written
    assert KEY[:20] not in written and KEY[20:] not in written
