"""What messages say, in every dialect."""

from __future__ import annotations

from typing import Any

import pytest

from lctl.state.messages import images_of, reasoning_of, text_of, tool_calls_of, tool_results_of

CALL = {"id": "c1", "name": "grep", "arguments": {"pattern": "x"}}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"role": "user", "content": "hi"}, "hi"),
        ({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"role": "assistant", "content": None, "refusal": "no"}, "no"),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "never"}]}, "never"),
        (
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "ok"}],
            },
            "ok",
        ),
        ({"role": "user", "content": [{"type": "input_text", "text": "q"}]}, "q"),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "s"}]},
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": "done"}],
                    },
                    {"role": "assistant", "content": "."},
                ],
            },
            "done.",
        ),
        (
            {"role": "model", "parts": [{"text": "I"}, {"text": "thought", "thought": True}, {"text": "J"}]},
            "IJ",
        ),
        (
            {"content": [{"citationsContent": {"content": [{"text": "I"}], "citations": []}}, {"text": "J"}]},
            "IJ",
        ),
        ({"content": [{"citationsContent": 7}, {"citationsContent": {"content": [7, {"text": "I"}]}}]}, "I"),
        ({"role": "user", "content": ["a", "b"]}, "ab"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}, ""),
        ({"role": "user"}, ""),
        ({"content": 7}, ""),
        ({"content": [None, 7, {"type": "text"}, {"type": "text", "text": 5}]}, ""),
    ],
)
def test_words(data: dict[str, Any], text: str) -> None:
    """The words of a message, whatever holds them; junk has none."""
    assert text_of(data) == text


@pytest.mark.parametrize(
    ("data", "reasoning"),
    [
        ({"content": "x", "reasoning_content": "deep"}, "deep"),
        ({"content": "x", "reasoning": "or"}, "or"),
        (
            {"content": [{"type": "thinking", "thinking": "a"}, {"type": "thinking", "thinking": "b"}]},
            "a\n\nb",
        ),
        ({"content": [{"type": "redacted_thinking", "data": "xx"}]}, ""),
        (
            {
                "content": [
                    {
                        "type": "reasoning",
                        "summary": [
                            {"type": "summary_text", "text": "s1"},
                            {"type": "summary_text", "text": "s2"},
                        ],
                        "content": [{"type": "reasoning_text", "text": "whole"}],
                    }
                ]
            },
            "s1\n\ns2\n\nwhole",
        ),
        ({"parts": [{"text": "thought", "thought": True}]}, "thought"),
        ({"content": "x", "reasoning": {"effort": "low"}}, ""),
    ],
)
def test_reasoning(data: dict[str, Any], reasoning: str) -> None:
    """What the model thought."""
    assert reasoning_of(data) == reasoning


@pytest.mark.parametrize(
    "data",
    [
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": '{"pattern":"x"}'}}
            ],
        },
        {"content": [{"type": "tool_use", "id": "c1", "name": "grep", "input": {"pattern": "x"}}]},
        {"content": [{"type": "server_tool_use", "id": "c1", "name": "grep", "input": {"pattern": "x"}}]},
        {
            "content": [
                {
                    "type": "function_call",
                    "id": "fc_9",
                    "call_id": "c1",
                    "name": "grep",
                    "arguments": '{"pattern":"x"}',
                }
            ]
        },
        {
            "type": "function_call",
            "id": "fc_9",
            "call_id": "c1",
            "name": "grep",
            "arguments": '{"pattern":"x"}',
        },
        {"parts": [{"functionCall": {"id": "c1", "name": "grep", "args": {"pattern": "x"}}}]},
    ],
)
def test_a_tool_call_in_every_dialect(data: dict[str, Any]) -> None:
    """One form for all."""
    assert tool_calls_of(data) == [CALL]


def test_other_tool_calls() -> None:
    """Free-form input, the old single call, arguments that are no JSON, and junk."""
    custom = {"tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}]}
    assert tool_calls_of(custom) == [{"id": "c", "name": "sql", "arguments": "SELECT 1"}]
    item = {"content": [{"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "SELECT 1"}]}
    assert tool_calls_of(item) == [{"id": "c", "name": "sql", "arguments": "SELECT 1"}]
    assert tool_calls_of({"function_call": {"name": "f", "arguments": "{}"}}) == [
        {"id": None, "name": "f", "arguments": {}}
    ]
    cut = {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"a": '}}]}
    assert tool_calls_of(cut)[0]["arguments"] == '{"a": '
    assert tool_calls_of({"tool_calls": "none", "content": [1, {"type": 5}]}) == []
    assert tool_calls_of({"tool_calls": [7]}) == [{"id": None, "name": None, "arguments": 7}]


@pytest.mark.parametrize(
    ("data", "result"),
    [
        ({"role": "tool", "tool_call_id": "c1", "content": "3 lines"}, ("c1", "3 lines", False)),
        ({"role": "function", "name": "grep", "content": "3"}, ("grep", "3", False)),
        (
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}],
            },
            ("c1", "no", True),
        ),
        (
            {
                "role": "tool",
                "tool_call_id": "c1",
                "content": [{"type": "input_text", "text": "x"}],
                "type": "function_call_output",
            },
            ("c1", [{"type": "input_text", "text": "x"}], False),
        ),
        ({"type": "function_call_output", "call_id": "c1", "output": "x"}, ("c1", "x", False)),
        (
            {
                "content": [
                    {
                        "type": "web_search_tool_result",
                        "tool_use_id": "c1",
                        "content": {"type": "web_search_tool_result_error"},
                    }
                ]
            },
            ("c1", {"type": "web_search_tool_result_error"}, True),
        ),
        (
            {"parts": [{"functionResponse": {"name": "grep", "response": {"n": 3}}}]},
            ("grep", {"n": 3}, False),
        ),
    ],
)
def test_tool_results(data: dict[str, Any], result: tuple[str, Any, bool]) -> None:
    """Whose result, what it is, and whether it failed."""
    call_id, output, is_error = result
    assert tool_results_of(data) == [{"call_id": call_id, "output": output, "is_error": is_error}]


@pytest.mark.parametrize(
    ("part", "image"),
    [
        (
            {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
            {"media_type": None, "url": "https://x/y.png"},
        ),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
            {"media_type": "image/png", "url": "data:image/png;base64,AA"},
        ),
        (
            {
                "type": "image_url",
                "image_url": {"url": {"$blob": "sha256:ab", "prefix": "data:image/png;base64,"}},
            },
            {"media_type": "image/png", "blob": "sha256:ab"},
        ),
        (
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/jpeg", "data": {"$blob": "sha256:cd"}},
            },
            {"media_type": "image/jpeg", "blob": "sha256:cd"},
        ),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "QQ"}},
            {"media_type": "image/jpeg", "url": "data:image/jpeg;base64,QQ"},
        ),
        ({"type": "input_image", "image_url": "https://x"}, {"media_type": None, "url": "https://x"}),
        ({"type": "input_image", "file_id": "file-1"}, {"media_type": None, "url": "file-1"}),
        (
            {
                "type": "tool_result",
                "content": [{"type": "image", "source": {"type": "url", "url": "https://z"}}],
            },
            {"media_type": None, "url": "https://z"},
        ),
    ],
)
def test_images(part: dict[str, Any], image: dict[str, Any]) -> None:
    """Where the picture is: an address, or the hash of a blob."""
    assert images_of({"role": "user", "content": [part]}) == [image]
    assert images_of({"role": "user", "content": "no picture"}) == []
