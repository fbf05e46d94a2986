"""Messages as SDKs give them: a program puts `response.choices[0].message` into a conversation as well as a
dict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Of what they are, nothing can be changed.
SCALARS = frozenset({str, int, float, bool, type(None)})
_DEPTH = 64


def own_copy(value: Any, depth: int = 0) -> Any:
    """`value` with containers of its own, so that nobody else changes it. SDK objects become what their SDK
    would send; what is neither (a file, a path) stays what it is."""
    if type(value) in SCALARS or depth > _DEPTH:
        return value
    if type(value) is dict and SCALARS.issuperset(map(type, value.values())):
        return value.copy()
    if isinstance(value, dict):
        return {key: own_copy(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [own_copy(item, depth + 1) for item in value]
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return dumped(value)
    return value


def dumped(value: Any) -> Any:
    """A pydantic object as the openai and anthropic clients send it."""
    left_out = getattr(value, "__api_exclude__", None)
    made = value.model_dump(exclude=left_out, exclude_unset=True, mode="json", warnings=False)
    if isinstance(made, dict) and made.get("type") == "message" and "stop_reason" in made:
        return {"role": made.get("role"), "content": made.get("content")}  # a whole Anthropic answer
    return made


def no_message(value: Any) -> str | None:
    """Why an SDK's object, or a list, is no message, and what to take instead; None of what may be one."""
    if isinstance(value, list | tuple):
        whole = any(_has(one, "role") for one in value)
        return "a list of messages is no message: give each by itself" if whole else None
    if value is None or isinstance(value, bool | int | float):
        return f"{value!r} is no message: it is a dict, an object of an SDK, or words"
    if isinstance(value, str | Mapping) or _has(value, "role") or _has(value, "type"):
        return None
    name = type(value).__name__
    for inner, take in (("choices", ".choices[0].message"), ("message", ".message"), ("output", ".output")):
        if _has(value, inner):
            return f"a {name} is no message, but has some: give {take} of it"
    return None


def _has(value: Any, name: str) -> bool:
    if isinstance(value, Mapping):
        return name in value
    return not isinstance(value, str | bytes | int | float) and getattr(value, name, None) is not None
