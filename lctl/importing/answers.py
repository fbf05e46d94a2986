"""Answers of model APIs as they come over the wire: what was said, by which model, at what cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from lctl.importing.times import stamp
from lctl.importing.usages import counts_of
from lctl.importing.values import dicts, items, mapping, text
from lctl.spans import conventions as names
from lctl.spans.span import nanoseconds
from lctl.spans.turns import of_items

Messages = list[dict[str, Any]]


class Answer(NamedTuple):
    """What a model's API gave.

    Attributes:
        messages: alternatives, where there are several.
        reasons: why each ended.
        counts: of tokens, by the attributes of spans.
        provider: "" of a form that many speak.
        start_ns, end_ns: 0 where it does not say.
    """

    messages: Messages
    reasons: list[str]
    counts: dict[str, int]
    model: str
    id: str
    provider: str = ""
    start_ns: int = 0
    end_ns: int = 0


def answer_of(value: dict[str, Any]) -> Answer | None:
    """The answer that this is; None of anything else."""
    return next((read(value) for is_one, read in _FORMS if is_one(value)), None)


# -- OpenAI: chat completions, and completions of a text -------------------------------------------


def _is_completion(value: dict[str, Any]) -> bool:
    choices = dicts(value.get("choices"))
    return bool(choices) and all(
        isinstance(mapping(one.get("message")).get("role"), str) or isinstance(one.get("text"), str)
        for one in choices
    )


def _of_completion(value: dict[str, Any]) -> Answer:
    choices = dicts(value["choices"])
    return Answer(
        [_said(one) for one in choices],
        [text(one.get("finish_reason")) for one in choices],
        counts_of(mapping(value.get("usage"))),
        text(value.get("model")),
        text(value.get("id")),
        end_ns=_ns(value.get("created")),
    )


def _said(choice: dict[str, Any]) -> dict[str, Any]:
    """A choice's message without the fields that an SDK writes empty."""
    message = mapping(choice.get("message")) or {"role": "assistant", "content": choice.get("text")}
    return {key: one for key, one in message.items() if key == "content" or one not in (None, [])}


# -- Anthropic: messages ---------------------------------------------------------------------------


def _is_message(value: dict[str, Any]) -> bool:
    is_said = value.get("role") == "assistant" and isinstance(value.get("content"), list)
    return value.get("type") == "message" and is_said and ("stop_reason" in value or "usage" in value)


def _of_message(value: dict[str, Any]) -> Answer:
    return Answer(
        [{"role": "assistant", "content": value["content"]}],
        [text(value.get("stop_reason"))],
        counts_of(mapping(value.get("usage"))),
        text(value.get("model")),
        text(value.get("id")),
        "anthropic",
    )


# -- OpenAI: responses -----------------------------------------------------------------------------


def _is_response(value: dict[str, Any]) -> bool:
    return value.get("object") == "response" and isinstance(value.get("output"), list)


def _of_response(value: dict[str, Any]) -> Answer:
    reason = text(mapping(value.get("incomplete_details")).get("reason")) or text(value.get("status"))
    ended = _ns(value.get("completed_at"))
    begun = _ns(value.get("created_at"))
    return Answer(
        of_items(dicts(value["output"])),
        [reason],
        counts_of(mapping(value.get("usage"))),
        text(value.get("model")),
        text(value.get("id")),
        "openai",
        begun if ended else 0,
        ended or begun,
    )


# -- Google: generateContent -----------------------------------------------------------------------


def _is_content(value: dict[str, Any]) -> bool:
    candidates = dicts(value.get("candidates"))
    return bool(candidates) and all(isinstance(one.get("content"), dict) for one in candidates)


def _of_content(value: dict[str, Any]) -> Answer:
    candidates = dicts(value["candidates"])
    usage = mapping(_either(value, "usageMetadata"))
    counted = {
        names.INPUT_TOKENS: ("promptTokenCount", "toolUsePromptTokenCount"),
        names.OUTPUT_TOKENS: ("candidatesTokenCount", "thoughtsTokenCount"),
        names.CACHE_READ: ("cachedContentTokenCount",),
        names.REASONING: ("thoughtsTokenCount",),
    }
    counts = {}
    for name, keys in counted.items():
        found = [one for one in (_either(usage, key) for key in keys) if type(one) is int]
        if found:
            counts[name] = sum(found)
    return Answer(
        [{"role": "model", "parts": items(mapping(one["content"]).get("parts"))} for one in candidates],
        [text(_either(one, "finishReason")) for one in candidates],
        counts,
        text(_either(value, "modelVersion")),
        text(_either(value, "responseId")),
        "google",
        end_ns=_ns(_either(value, "createTime")),
    )


def _either(value: dict[str, Any], key: str) -> Any:
    """What Google's JSON has by this name, and its SDK for Python by the other spelling."""
    spelled = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)
    return value.get(key, value.get(spelled))


def _ns(value: object) -> int:
    return nanoseconds(stamp(value))


_FORMS: tuple[tuple[Callable[[dict[str, Any]], bool], Callable[[dict[str, Any]], Answer]], ...] = (
    (_is_completion, _of_completion),
    (_is_message, _of_message),
    (_is_response, _of_response),
    (_is_content, _of_content),
)
