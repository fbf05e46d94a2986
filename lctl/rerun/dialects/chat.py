"""OpenAI chat completions, and the completions before them."""

from __future__ import annotations

from typing import Any

from lctl.instrument.codecs import chat
from lctl.patch import Unaddressed
from lctl.rerun.dialects.dialect import Answer, Dialect, Whole, dumped, loaded, reason_in, rewritten
from lctl.rerun.dialects.streaming import chat_stream, text_stream


def _made(model: str, tag: str) -> Whole:
    message = {"role": "assistant", "content": None, "refusal": None}
    return {
        "id": f"chatcmpl-{tag}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _choice(whole: Whole) -> dict[str, Any]:
    choices = whole.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0].get("message"), dict):
        raise Unaddressed("the recorded response holds no answer")
    return dict(choices[0])


def _read(whole: Whole) -> Answer:
    choice = _choice(whole)
    message = choice["message"]
    calls = [
        {
            "id": call.get("id"),
            "name": call["function"].get("name"),
            "input": loaded(call["function"].get("arguments")),
        }
        for call in message.get("tool_calls") or []
        if isinstance(call.get("function"), dict)
    ]
    return {
        "content": message.get("content"),
        "tool_calls": calls,
        "finish_reason": choice.get("finish_reason"),
        "model": whole.get("model"),
    }


def _write(whole: Whole, old: Answer, new: Answer, tag: str) -> Whole:
    choice = _choice(whole)
    message = dict(choice["message"])
    message["content"] = new.get("content")
    if "refusal" in new:
        message["refusal"] = new["refusal"]

    def make(call: Answer, n: int, before: Any) -> Any:
        function = {"name": call["name"], "arguments": dumped(call.get("input") or {})}
        given = {"id": call.get("id") or (before or {}).get("id") or f"call_{tag}_{n}", "type": "function"}
        return {**(before or {}), **given, "function": function}

    calls = rewritten(old["tool_calls"], new.get("tool_calls"), message.get("tool_calls") or [], make)
    message.pop("tool_calls", None)
    if calls:
        message["tool_calls"] = calls
    choice = {
        **choice,
        "message": message,
        "finish_reason": reason_in("chat", new.get("finish_reason") or "stop"),
    }
    return {**whole, "model": new.get("model"), "choices": [choice, *whole["choices"][1:]]}


def _gather(events: list[dict[str, Any]]) -> Whole:
    answer = chat.read_events(events, True)
    head = next((event for event in events if event.get("id")), {})
    kept = {key: value for key, value in head.items() if key not in ("choices", "usage", "obfuscation")}
    choices = [
        {"index": n, "message": message, "logprobs": None, "finish_reason": reason}
        for n, (message, reason) in enumerate(zip(answer.messages, answer.finish_reasons, strict=False))
    ]
    usage = {} if answer.usage is None else {"usage": answer.usage}
    return {**kept, "object": "chat.completion", "choices": choices, **usage}


# -- completions ---------------------------------------------------------------------------------


def _text_made(model: str, tag: str) -> Whole:
    return {
        **_made(model, tag),
        "object": "text_completion",
        "choices": [{"index": 0, "text": "", "logprobs": None, "finish_reason": "stop"}],
    }


def _text_read(whole: Whole) -> Answer:
    [choice, *_] = whole.get("choices") or [{}]
    return {
        "content": choice.get("text"),
        "finish_reason": choice.get("finish_reason"),
        "model": whole.get("model"),
    }


def _text_write(whole: Whole, old: Answer, new: Answer, tag: str) -> Whole:
    first, *others = whole.get("choices") or [{"index": 0}]
    choice = {
        **first,
        "text": new.get("content") or "",
        "finish_reason": reason_in("chat", new.get("finish_reason")),
    }
    return {**whole, "model": new.get("model"), "choices": [choice, *others]}


def _text_gather(events: list[dict[str, Any]]) -> Whole:
    head = next((event for event in events if event.get("id")), {})
    parts = [part for event in events for part in event.get("choices") or () if not part.get("index")]
    reason = next((part["finish_reason"] for part in reversed(parts) if part.get("finish_reason")), None)
    text = "".join(str(part.get("text") or "") for part in parts)
    return {**head, "choices": [{"index": 0, "text": text, "logprobs": None, "finish_reason": reason}]}


DIALECT = Dialect(_made, _read, _write, _gather, chat_stream)
TEXT = Dialect(_text_made, _text_read, _text_write, _text_gather, text_stream)
