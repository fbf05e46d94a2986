"""OpenAI chat completions, as spoken by every server that calls itself compatible."""

from __future__ import annotations

from typing import Any

from lctl.instrument.codecs.bodies import objects, read_error
from lctl.instrument.codecs.choices import Choice
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.usage import read_tokens

_NOT_PARAMS = frozenset({"messages", "model", "tools", "functions", "stream"})


def read_request(document: dict[str, Any], provider: str) -> ModelRequest:
    messages = document.get("messages")
    if not isinstance(messages, list):
        raise ValueError("a chat completion has a list of 'messages'")
    model = document.get("model")
    return ModelRequest(
        provider=provider,
        operation="chat.completions",
        kind="llm",
        model=model if isinstance(model, str) else None,
        messages=[as_message(message) for message in messages],
        tools=document.get("tools") or document.get("functions") or None,
        params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
        stream=bool(document.get("stream")),
    )


def as_message(value: Any) -> dict[str, Any]:
    """The message itself; what a server would refuse is wrapped, so that the call is still recorded."""
    if isinstance(value, dict) and isinstance(value.get("role"), str):
        return value
    if isinstance(value, dict):
        return {**value, "role": "unknown"}
    return {"role": "unknown", "content": value}


def read_whole(whole: dict[str, Any]) -> ModelAnswer:
    """From a complete response object."""
    choices = whole.get("choices")
    if type(choices) is list and len(choices) == 1 and type(choices[0]) is dict:  # nearly every answer
        [choice] = choices
        message, reason = choice.get("message"), choice.get("finish_reason")
        if type(message) is dict and message.get("role") and type(reason) is str and "error" not in choice:
            id, model, usage = whole.get("id"), whole.get("model"), whole.get("usage")
            counted = type(usage) is dict
            return ModelAnswer(
                id if type(id) is str else None,
                model if type(model) is str else None,
                [message],
                reason,
                [reason],
                read_tokens(usage) if counted else None,
                usage if counted else None,
            )
    answer = read_head(whole)
    choices = objects(choices)
    answer.messages = [_sampled(choice.get("message")) for choice in choices]
    _set_finish(answer, [choice.get("finish_reason") for choice in choices])
    answer.error = next((failed for choice in choices if (failed := _failure(choice))), None)
    return answer


def _failure(choice: dict[str, Any]) -> dict[str, Any] | None:
    """What went wrong behind a gateway (OpenRouter), which says so in the choice."""
    return read_error(200, choice) if isinstance(choice.get("error"), dict) else None


def read_head(whole: dict[str, Any]) -> ModelAnswer:
    id, model, usage = whole.get("id"), whole.get("model"), whole.get("usage")
    answer = ModelAnswer(id if type(id) is str else None, model if type(model) is str else None)
    if type(usage) is dict:
        answer.usage = usage
        answer.tokens = read_tokens(usage)
    return answer


def _sampled(message: Any) -> dict[str, Any]:
    if not isinstance(message, dict):
        return {"role": "assistant", "content": None}  # a content filter took the message away
    return {**message, "role": message.get("role") or "assistant"}


def _set_finish(answer: ModelAnswer, reasons: list[Any]) -> None:
    answer.finish_reasons = [_text(reason) for reason in reasons]
    answer.finish_reason = answer.finish_reasons[0] if reasons else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def read_events(events: list[dict[str, Any]], done: bool) -> ModelAnswer:
    """From the chunks of a stream, as far as they came."""
    choices: dict[int, Choice] = {}
    head: dict[str, Any] = {}
    headed = False
    failure: dict[str, Any] | None = None
    for event in events:
        if not headed or event.get("usage") or "x_groq" in event:
            read_event_head(event, head)
            headed = bool(head.get("id") and head.get("model"))
        parts = event.get("choices")
        if not isinstance(parts, list):
            continue
        for part in parts:
            if not isinstance(part, dict):
                continue
            index = part.get("index")
            index = index if isinstance(index, int) else 0
            choice = choices.get(index)
            if choice is None:
                choice = choices[index] = Choice()
            reason = part.get("finish_reason")
            if reason:
                choice.finish = reason
                if "error" in part:
                    failure = failure or _failure(part)
                if part.get("usage"):  # Moonshot's
                    head["usage"] = part["usage"]
            delta = part.get("delta")
            if isinstance(delta, dict):
                text = delta.get("content")
                if len(delta) == 1 and type(text) is str and choice.parts is None:  # nearly every delta
                    choice.text.append(text)
                else:
                    choice.add(delta)
    answer = read_head(head)
    ordered = [choices[index] for index in sorted(choices)]
    answer.messages = [choice.message() for choice in ordered]
    _set_finish(answer, [choice.finish for choice in ordered])
    answer.events = len(events)
    answer.error = failure
    answer.complete = done or (bool(ordered) and all(choice.finish for choice in ordered))
    return answer


def read_event_head(event: dict[str, Any], head: dict[str, Any]) -> None:
    """Keep the first id and model, and the last usage; Groq puts it into a field of its own."""
    if not (head.get("id") and head.get("model")):
        for key in ("id", "model"):
            head[key] = head.get(key) or event.get(key)
    usage = event.get("usage")
    if not usage and "x_groq" in event:
        groq = event["x_groq"]
        usage = groq.get("usage") if isinstance(groq, dict) else None
    if usage:
        head["usage"] = usage
