"""Messages as Vercel's AI SDK has them in its spans, in OpenAI's form: calls and results are parts there."""

from __future__ import annotations

from typing import Any

from lctl.spans.values import as_json, dicts, function_call, mapping, text

Messages = list[dict[str, Any]]


def read(messages: Messages) -> Messages:
    """What a call read: each tool's result a message of its own."""
    return [made for one in messages for made in _message(one)]


def gave(said: dict[str, Any], calls: Messages) -> Messages:
    """What it gave, of the attributes of its span and the tool calls among them."""
    message: dict[str, Any] = {"role": "assistant", "content": said.get("ai.response.text")}
    if calls:
        message["tool_calls"] = [_call(one) for one in calls]
    if "ai.response.object" in said:
        message["content"] = said["ai.response.object"]
    if text(said.get("ai.response.reasoning")):
        message["reasoning"] = said["ai.response.reasoning"]
    return [message] if message["content"] or calls else []


def _message(message: dict[str, Any]) -> Messages:
    parts = dicts(message.get("content"))
    if not parts or len(parts) != len(message["content"]):
        return [message]
    results = [_result(part) for part in parts if part.get("type") == "tool-result"]
    calls = [_call(part) for part in parts if part.get("type") == "tool-call"]
    is_answer = message.get("role") == "assistant"
    thought = [text(part.get("text")) for part in parts if is_answer and part.get("type") == "reasoning"]
    told = ("tool-result", "tool-call", "reasoning") if is_answer else ("tool-result", "tool-call")
    rest = [_part(part) for part in parts if part.get("type") not in told]
    if results and not calls and not rest:
        return results
    is_text = is_answer and all(part.get("type") == "text" for part in rest)
    content = "".join(text(part.get("text")) for part in rest) or None if is_text else rest
    made: dict[str, Any] = {**message, "content": content}
    if calls:
        made["tool_calls"] = calls
    if any(thought):
        made["reasoning"] = "".join(thought)
    return [made, *results]


def _call(part: dict[str, Any]) -> dict[str, Any]:
    arguments = part.get("input", part.get("args", {}))
    return function_call(text(part.get("toolCallId")), text(part.get("toolName")), arguments)


def _result(part: dict[str, Any]) -> dict[str, Any]:
    output = mapping(part.get("output"))
    value = (
        output["value"] if "value" in output and "type" in output else part.get("output", part.get("result"))
    )
    made = {"role": "tool", "tool_call_id": text(part.get("toolCallId")), "content": as_json(value)}
    failed = part.get("isError") is True or text(output.get("type")).startswith("error")
    return {**made, "is_error": True} if failed else made


def _part(part: dict[str, Any]) -> dict[str, Any]:
    """A picture as OpenAI has it; any other part as it is, without options that belong to no model."""
    media = text(part.get("mediaType")) or text(part.get("mimeType"))
    data = part.get("image") if part.get("type") == "image" else part.get("data")
    if isinstance(data, str) and (part.get("type") == "image" or media.startswith("image/")):
        url = (
            data if "://" in data or data.startswith("data:") else f"data:{media or 'image/*'};base64,{data}"
        )
        return {"type": "image_url", "image_url": {"url": url}}
    return {key: value for key, value in part.items() if key != "providerOptions"}
