"""Steps of Google's Interactions API and the messages they form.

As items of OpenAI's Responses API: consecutive steps of the model (what it thought and said, calls of
functions, server tools with their results) form one message of role "assistant", whose `content` is the list
of steps as they were. The result of a function is a message of role "tool", what the user said one of "user".
"""

from __future__ import annotations

from typing import Any

from lctl.conversation.items import gathered

_INPUT = "user_input"
_RESULT = "function_result"


def group(steps: list[Any]) -> tuple[list[dict[str, Any]], list[int]]:
    """The messages of an interaction's input, and how many steps each was made of. Contents that are no
    steps are what the user says, in one message."""
    if steps and not any(map(is_step, steps)):
        return [{"role": "user", "content": steps}], [len(steps)]
    return gathered(steps, own_message)


def is_step(value: Any) -> bool:
    """Whether it says of itself that it is a step: every other type is a content's."""
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and (
        kind in (_INPUT, "model_output", "thought") or kind.endswith(("_call", "_result"))
    )


def own_message(step: Any) -> dict[str, Any] | None:
    """The message that a step is by itself; None for one of the model's side."""
    if not isinstance(step, dict):
        return {"role": "user", "content": step}
    kind = step.get("type")
    if kind == _RESULT:
        rest = {key: value for key, value in step.items() if key not in ("call_id", "result")}
        return {"role": "tool", "tool_call_id": step.get("call_id"), "content": step.get("result"), **rest}
    if kind == _INPUT:
        return {"role": "user", "content": step.get("content")}
    return None if is_step(step) else {"role": "user", "content": [step]}
