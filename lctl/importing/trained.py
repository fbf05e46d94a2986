"""What a row of training data says of its answers: which train, with which tools, what they are worth.

Such an answer is `sampled`, so that `lctl export` gives the row again. Lists of messages that mark none of
theirs do not say who made them, and train nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.codec.lines import decode
from lctl.conversation.calls import tools_hash
from lctl.importing.draft import Draft, Said
from lctl.importing.values import dicts, items, text

#: Keys of a row that say what its answer is worth, that which decides last.
JUDGED = ("reward", "score", "rating", "label")


def mark(draft: Draft, said: Said, tools: list[Any] | None = None, model: str = "") -> None:
    """The answer of a model that had these tools, whose definitions are in the log once."""
    said.place["sampled"] = True
    call: dict[str, Any] = {"model": model} if model else {}
    if tools:
        name = tools_hash(tools)
        call["tools"] = name
        if name not in draft.tools:
            draft.tools.add(name)
            call["tool_definitions"] = tools
    if call:
        said.place["call"] = call


def tools_of(row: Mapping[str, Any]) -> list[Any] | None:
    """The tools of a row: a list, or its JSON (ShareGPT, data sets of Hugging Face)."""
    given = row.get("tools")
    if isinstance(given, str):
        try:
            given = decode(given.encode())
        except ValueError:
            return None
    return dicts(given) or None


def trains(messages: list[dict[str, Any]], around: Mapping[str, Any], every: bool) -> list[bool]:
    """Of each message whether it is an answer that trains: by `weight` (OpenAI; 1 where it is left out),
    `train` (Axolotl) or the row's `loss_mask` (lctl); where none marks any, `every` answer or none."""
    answers = [text(message.get("role")) == "assistant" for message in messages]
    mask = items(around.get("loss_mask"))
    if len(mask) == len(messages):
        return [is_answer and marked == 1 for is_answer, marked in zip(answers, mask, strict=True)]
    for key, otherwise in (("weight", 1), ("train", False)):
        if any(is_answer and key in one for is_answer, one in zip(answers, messages, strict=True)):
            marks = [bool(message.get(key, otherwise)) for message in messages]
            return [is_answer and marked for is_answer, marked in zip(answers, marks, strict=True)]
    return [is_answer and every for is_answer in answers]


def judge(draft: Draft, id: str, row: Mapping[str, Any], suffix: str = "") -> None:
    """What a row says of an answer, as facts about it; `suffix`: of one of several (`score_chosen`)."""
    for key in JUDGED:
        value = row.get(key + suffix)
        if isinstance(value, bool | int | float) or (isinstance(value, str) and value):
            draft.fact(f"{key}:{id}", f"{key} {value}", id, value=value)
