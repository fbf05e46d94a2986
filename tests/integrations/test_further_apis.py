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
