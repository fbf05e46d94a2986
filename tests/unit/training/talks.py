"""One agent's work as each provider's messages: text, image, reasoning, parallel tools, unicode."""

from __future__ import annotations

from typing import Any

from tests.unit.conversation.events import event
from tests.unit.training.fixtures import CALL, Talk

IMAGE = "data:image/png;base64,iVBORw0KGgo="
WORDS = "Zwei Stellen: <b>a.py</b> & \U0001f600 \u202e \u0007"

CHAT_TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "grep",
            "description": "Find.",
            "parameters": {"type": "object", "properties": {}},
        },
    }
]
RESPONSES_TOOLS = [
    {"type": "function", "name": "grep", "description": "Find.", "parameters": {"type": "object"}},
    {"type": "web_search"},
]
ANTHROPIC_TOOLS = [
    {"name": "grep", "description": "Find.", "input_schema": {"type": "object"}},
    {"type": "web_search_20250305", "name": "web_search"},
]


def _chat_call(id: str, q: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "grep", "arguments": f'{{"q": "{q}"}}'}}


CHAT: list[dict[str, Any]] = [
    {"role": "developer", "content": "Be brief."},
    {
        "role": "user",
        "name": "kim",
        "content": [
            {"type": "text", "text": "Where?"},
            {"type": "image_url", "image_url": {"url": IMAGE}},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        ],
    },
    {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "annotations": [],
        "reasoning_content": "Look first.",
        "tool_calls": [_chat_call("c1", "a"), _chat_call("c2", "b")],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
    {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "b.py"}]},
    {"role": "assistant", "content": WORDS},
]
RESPONSES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "type": "message",
        "content": [
            {"type": "input_text", "text": "Where?"},
            {"type": "input_image", "image_url": IMAGE, "detail": "auto"},
            {"type": "input_file", "file_id": "f1"},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "Look first."}]},
            {"type": "web_search_call", "id": "w1", "status": "completed"},
            {"type": "function_call", "call_id": "c1", "name": "grep", "arguments": '{"q": "a"}'},
            {"type": "function_call", "call_id": "c2", "name": "grep", "arguments": '{"q": "b"}'},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "a.py", "type": "function_call_output"},
    {"role": "tool", "tool_call_id": "c2", "content": "b.py", "type": "function_call_output"},
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "id": "r2", "summary": [], "encrypted_content": "xyz"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": WORDS}]},
        ],
    },
]
ANTHROPIC: list[dict[str, Any]] = [
    {
        "role": "system",
        "content": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    },
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "Where?"},
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
            },
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Look first.", "signature": "s"},
            {"type": "tool_use", "id": "c1", "name": "grep", "input": {"q": "a"}},
            {"type": "tool_use", "id": "c2", "name": "grep", "input": {"q": "b"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "a.py"},
            {
                "type": "tool_result",
                "tool_use_id": "c2",
                "is_error": True,
                "content": [
                    {"type": "text", "text": "b.py"},
                    {"type": "image", "source": {"type": "url", "url": "u"}},
                ],
            },
        ],
    },
    {
        "role": "assistant",
        "content": [{"type": "text", "text": WORDS[:5]}, {"type": "text", "text": WORDS[5:]}],
    },
]

DIALECTS: dict[str, tuple[list[dict[str, Any]], list[Any]]] = {
    "chat": (CHAT, CHAT_TOOLS),
    "responses": (RESPONSES, RESPONSES_TOOLS),
    "anthropic": (ANTHROPIC, ANTHROPIC_TOOLS),
}


def talk_of(
    messages: list[dict[str, Any]], tools: list[Any] | None = None, sampled: str = "assistant"
) -> Talk:
    """The messages as one conversation, whose answers the model gave with these tools."""
    talk = Talk()
    if tools:
        talk.add("session_start", session_id="s", tools={"sha256:t": tools})
    parent = None
    for n, message in enumerate(messages):
        data = {"message_id": f"m{n}", "parent_id": parent, **message}
        if message["role"] == sampled:
            data |= {"sampled": True, "call": {**CALL, "tools": "sha256:t"} if tools else CALL}
        talk.events.append({**event(len(talk.events) + 1, "message"), "data": data})
        parent = f"m{n}"
    return talk
