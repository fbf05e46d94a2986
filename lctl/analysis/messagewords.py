"""What a message of whichever dialect says and asks for, enough of it for one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.analysis.log import text
from lctl.state.messages import WORDED, cited

#: Parts of Google's and Bedrock's messages say what they are by their key.
_UNTYPED = (
    "functionCall", "functionResponse", "inlineData", "fileData", "toolUse", "toolResult", "reasoningContent",
)  # fmt: skip


def words_of(content: object) -> str:
    """The words of a message's content."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    words = []
    for part in content[:8]:
        if isinstance(part, str):
            words.append(part)
        elif isinstance(part, dict):
            inner = part.get("text", part.get("content", part.get("output", part.get("refusal"))))
            kind = text(part.get("type")) or next((key for key in _UNTYPED if key in part), "")
            if kind in ("tool_use", "function_call", "functionCall", "toolUse"):
                continue
            if kind in WORDED and isinstance(inner, list):
                words.append(words_of(inner))
                continue
            if "citationsContent" in part:
                words.append(words_of(cited(part)))
                continue
            words.append(inner if isinstance(inner, str) else f"[{kind}]" if kind else "")
    return " ".join(filter(None, words))


def names_of_calls(data: Mapping[str, Any]) -> list[str]:
    """Names of the tools it calls; "?" of a call without one."""
    calls = data.get("tool_calls")
    legacy = data.get("function_call")
    names = [text(legacy.get("name")) or "?"] if isinstance(legacy, dict) else []
    for call in calls if isinstance(calls, list) else []:
        inner = call.get("function") if isinstance(call, dict) else None
        name = (
            inner.get("name")
            if isinstance(inner, dict)
            else call.get("name")
            if isinstance(call, dict)
            else None
        )
        names.append(text(name) or "?")
    content = data.get("content")
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict) and part.get("type") in ("tool_use", "function_call"):
            names.append(text(part.get("name")) or "?")
    parts = data.get("parts", content)
    for part in parts if isinstance(parts, list) else []:
        inner = part.get("functionCall", part.get("toolUse")) if isinstance(part, dict) else None
        if isinstance(inner, dict):
            names.append(text(inner.get("name")) or "?")
    return names
