"""What the patch language says of messages and tools, as steps and tools of Google's Interactions API."""

from __future__ import annotations

from typing import Any

_ROLES = {"user_input": "user", "model_output": "assistant", "function_result": "tool"}
_TYPES = {role: kind for kind, role in _ROLES.items()} | {"model": "model_output"}
#: What an interaction says beside its `generation_config`.
TOP = frozenset({"background", "store", "stream", "service_tier", "response_format", "response_modalities",
    "previous_interaction_id", "environment", "labels", "safety_settings", "webhook_config", "agent_config",
    "cached_content", "continuation_token"})  # fmt: skip


def role_of(step: Any) -> str | None:
    """Whose a step is."""
    return _ROLES.get(str(step.get("type"))) if isinstance(step, dict) else None


def addressed(steps: list[Any], at: Any, inside: list[Any], value: Any) -> tuple[list[Any], Any]:
    """Where in a step stands what `inside` is of a message, and what is to be there.

    Args:
        at: of the step among `steps`, if it is one of them.
        value: None to take something away.
    """
    if not inside:
        return inside, step_of(value)
    if inside == ["role"]:
        return ["type"], _TYPES.get(value, value) if isinstance(value, str) else value
    there = steps[at] if isinstance(at, int) and -len(steps) <= at < len(steps) else None
    if inside[0] == "content" and isinstance(there, dict) and there.get("type") == "function_result":
        return ["result", *inside[1:]], value
    return inside, parts_of(value) if inside == ["content"] else value


def step_of(message: Any) -> Any:
    """A message with a role as a step; anything else as it is."""
    if not isinstance(message, dict) or "role" not in message:
        return message
    return {"type": _TYPES.get(message["role"], message["role"]), "content": parts_of(message.get("content"))}


def parts_of(content: Any) -> Any:
    """What a step says, in the one form there is for it: a list."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def tool_of(tool: Any) -> Any:
    """A function as chat completions have it, as an interaction does; any other tool as it is."""
    inner = tool.get("function") if isinstance(tool, dict) else None
    return {"type": "function", **inner} if isinstance(inner, dict) else tool
