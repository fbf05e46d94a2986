"""What the readers of each form refuse: checks of single rows, after what their makers document.

OpenAI: fine-tuning guide and the checks of its cookbook. TRL: "Dataset formats and types". Axolotl: its
`chat_template` strategy. ShareGPT: LLaMA-Factory's `data/README.md`. Together: its fine-tuning data page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import orjson

Row = dict[str, Any]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ROLES = ("system", "user", "assistant", "tool")
_OPENAI_KEYS = {"role", "content", "name", "tool_calls", "tool_call_id", "weight"}
_HUMAN, _MODEL = ("human", "observation"), ("gpt", "function_call")


def problems(format: str, row: Row) -> list[str]:
    """Why a row of this form would be refused; [] if it would not."""
    if row.keys() == {"prompt"}:
        return ["a completion of a text is no conversation"]
    return list(CHECKS[format](row))


def together(row: Row) -> list[str]:
    """Why Together would refuse an `openai` row: it wants system or user first, then strict alternation."""
    roles = [message["role"] for message in row.get("messages", ())]
    if roles[:1] == ["system"]:
        roles = roles[1:]
    if roles[:1] != ["user"]:
        return ["the first message after the system prompt is not the user's"]
    if any(role == other != "tool" for role, other in pairwise(roles)):
        return ["user and assistant do not alternate"]
    return []


def _messages(messages: Any, *, arguments: type) -> Iterator[str]:
    """What every reader of chat messages asks for."""
    if not isinstance(messages, list) or not messages:
        yield "no messages"
        return
    waiting: set[str] = set()
    for message in messages:
        role = message.get("role")
        if role not in _ROLES:
            yield f"a message of role {role!r}"
        content = message.get("content")
        if not isinstance(content, str | list) and not message.get("tool_calls"):
            yield f"a message of the {role} without content"
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                yield "a tool message that answers no call before it"
            waiting.discard(message.get("tool_call_id"))
            continue
        if waiting:
            yield "a tool call that is not answered before the conversation goes on"
            waiting = set()
        for call in message.get("tool_calls", ()):
            waiting.add(call.get("id"))
            yield from _call(call, arguments)


def _call(call: Any, arguments: type) -> Iterator[str]:
    function = call.get("function") or {}
    if call.get("type") != "function" or not isinstance(call.get("id"), str):
        yield "a tool call without id or type"
    if not _NAME.fullmatch(str(function.get("name"))):
        yield "a function's name that is not letters, digits, - and _"
    if not isinstance(function.get("arguments"), arguments):
        yield "arguments that are no text" if arguments is str else "arguments that are no JSON object"


def _openai(row: Row) -> Iterator[str]:
    messages = row.get("messages")
    yield from _messages(messages, arguments=str)
    messages = messages or []
    weights = [message.get("weight") for message in messages if message.get("role") == "assistant"]
    if not messages or messages[-1].get("role") != "assistant":
        yield "the last message is not the assistant's"
    if any(weight not in (0, 1) for weight in weights):
        yield "a weight that is not 0 or 1"
    if 1 not in weights:
        yield "no assistant message of weight 1"
    for message in messages:
        if message.get("role") != "assistant" and "weight" in message:
            yield "a weight on a message that is not the assistant's"
        if (
            message.get("role") == "assistant"
            and not message.get("content")
            and not message.get("tool_calls")
        ):
            yield "an answer that says nothing"
        if not message.keys() <= _OPENAI_KEYS:
            yield f"keys {', '.join(sorted(message.keys() - _OPENAI_KEYS))}"
        if isinstance(message.get("content"), list) and message.get("role") != "user":
            yield "an image in a message that is not the user's"
    yield from _tools(row)


def _tools(row: Row) -> Iterator[str]:
    for tool in row.get("tools") or ():
        function = tool.get("function") or {}
        if tool.get("type") != "function" or not _NAME.fullmatch(str(function.get("name"))):
            yield "a tool that is no function with a name of letters, digits, - and _"
        elif not isinstance(function.get("parameters"), dict):
            yield "a tool without a schema of its parameters"


def _hf(row: Row) -> Iterator[str]:
    if "messages" in row:
        yield from _messages(row["messages"], arguments=dict)
        if row["messages"] and row["messages"][-1].get("role") != "assistant":
            yield "the last message is not the assistant's"
    elif "completion" in row and not isinstance(row["completion"], list):
        if not isinstance(row.get("prompt"), str) or not isinstance(row["completion"], str):
            yield "a prompt or completion that is no text"
    else:
        yield from _prompted(row, "completion")
    yield from _tools(row)


def _prompted(row: Row, *sides: str) -> Iterator[str]:
    if not row.get("prompt"):
        yield "no prompt"
        return
    if row["prompt"][-1].get("role") == "system":
        yield "a prompt that ends with the system's message"
    if row["prompt"][-1].get("role") == "assistant":
        yield "a prompt that ends with the assistant's message: TRL takes it for the beginning of the answer"
    for side in sides:
        answers = row.get(side)
        if not isinstance(answers, list) or not answers or answers[0].get("role") != "assistant":
            yield f"the {side} does not begin with the assistant"
            continue
        yield from _messages([*row["prompt"], *answers], arguments=dict)


def _axolotl(row: Row) -> Iterator[str]:
    yield from _messages(row.get("messages"), arguments=str)
    messages = row.get("messages") or []
    if not any(message.get("train") is True for message in messages):
        yield "nothing to train"
    for message in messages:
        if not isinstance(message.get("train"), bool):
            yield "a message that does not say whether it trains"
        if not isinstance(message.get("content"), str):
            yield "content that is no text"
        for call in message.get("tool_calls", ()):
            if not _is_json(call["function"]["arguments"]):
                yield "arguments that are no JSON"
    yield from _tools(row)


def _sharegpt(row: Row) -> Iterator[str]:
    turns = row.get("conversations") or []
    if len(turns) < 2:
        yield "fewer than two turns"
    for place, turn in enumerate(turns):
        if turn.get("from") not in (_MODEL if place % 2 else _HUMAN):
            yield "turns of people and tools do not alternate with the model's"
            break
    if turns and turns[-1].get("from") not in _MODEL:
        yield "the last turn is not the model's"
    if any(not isinstance(turn.get("value"), str) for turn in turns):
        yield "a value that is no text"
    elif not all(map(_has_objects, turns)):
        yield "arguments that are no JSON object"


def _has_objects(turn: Row) -> bool:
    """Whether the arguments of a turn's calls, if it has any, are objects."""
    if turn.get("from") != "function_call":
        return True
    made = orjson.loads(turn["value"]) if _is_json(turn["value"]) else None
    calls = made if isinstance(made, list) else [made]
    return all(isinstance(call, dict) and isinstance(call.get("arguments"), dict) for call in calls)


def _dpo(row: Row) -> Iterator[str]:
    yield from _prompted(row, "chosen", "rejected")
    if row.get("chosen") == row.get("rejected"):
        yield "chosen and rejected are the same"


def _dpo_openai(row: Row) -> Iterator[str]:
    prompt = (row.get("input") or {}).get("messages")
    for side in ("preferred_output", "non_preferred_output"):
        output = row.get(side) or []
        if [message.get("role") for message in output] != ["assistant"]:
            yield f"the {side} is not one assistant message"
        elif not isinstance(output[0].get("content"), str):
            yield f"the {side} has no text"
    yield from _messages(prompt, arguments=str)
    if prompt and prompt[-1].get("role") == "assistant":
        yield "a prompt that ends with the assistant's message"
    for message in prompt or ():
        if isinstance(message.get("content"), list):
            yield "an image: text alone can be preferred"
    yield from _tools(row.get("input") or {})


def _kto(row: Row) -> Iterator[str]:
    yield from _prompted(row, "completion")
    if not isinstance(row.get("label"), bool):
        yield "a label that is neither true nor false"


def _calls(row: Row) -> Iterator[str]:
    if len(row["messages"]) != len(row["loss_mask"]):
        yield "the mask is not as long as the messages"
    if "token_ids" in row and len(row["token_ids"]) != len(row["token_mask"]):
        yield "the mask is not as long as the tokens"


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except ValueError:
        return False
    return True


CHECKS: dict[str, Callable[[Row], Iterator[str]]] = {
    "calls": _calls,
    "openai": _openai,
    "hf": _hf,
    "axolotl": _axolotl,
    "sharegpt": _sharegpt,
    "dpo": _dpo,
    "dpo-openai": _dpo_openai,
    "kto": _kto,
}
