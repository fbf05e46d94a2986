"""A model's answer in words no provider owns, read from a response and written back into one.

    {"content": "...", "tool_calls": [{"id", "name", "input"}], "finish_reason": "stop", "model": "..."}

Whatever else the response says (ids, usage, reasoning, signatures) stays as recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from lctl.instrument.codecs import chat, responses
from lctl.instrument.codecs import find as find_codec
from lctl.instrument.codecs.sse import read_stream
from lctl.patch import Unaddressed
from lctl.patch.changing import same

Answer = dict[str, Any]
Whole = dict[str, Any]

#: What ended an answer, in each dialect's word.
_REASONS = {
    "chat": {"max_tokens": "length", "max_output_tokens": "length", "tool_use": "tool_calls",
             "end_turn": "stop", "completed": "stop", "refusal": "content_filter"},
    "messages": {"length": "max_tokens", "max_output_tokens": "max_tokens", "tool_calls": "tool_use",
                 "stop": "end_turn", "completed": "end_turn", "content_filter": "refusal"},
    "responses": {"length": "max_output_tokens", "max_tokens": "max_output_tokens"},
}  # fmt: skip


class Dialect(NamedTuple):
    """How one API writes answers. `made` is the response that says nothing yet, for (model, tag)."""

    made: Callable[[str, str], Whole]
    read: Callable[[Whole], Answer]
    write: Callable[[Whole, Answer, Answer, str], Whole]
    gather: Callable[[list[dict[str, Any]]], Whole]


def dialect(operation: str) -> Dialect:
    """Raises Unaddressed for an operation whose answer is no text."""
    found = _DIALECTS.get(operation)
    if found is None:
        raise Unaddressed(f"the answer of {operation} has no content; answer.body.PATH is its JSON")
    return found


def gathered(operation: str, body: bytes) -> Whole:
    """The whole response that a stream of events says."""
    events, _ = read_stream(body)
    return dialect(operation).gather(events)


def written(operation: str, whole: Whole, new: Answer, tag: str) -> Whole:
    """`whole` saying `new`. `tag` makes the ids of calls that have none."""
    speaking = dialect(operation)
    old = speaking.read(whole)
    unknown = set(new) - {"content", "tool_calls", "finish_reason", "model", "refusal", "reasoning"}
    if unknown:
        raise Unaddressed(
            f"an answer has no {', '.join(sorted(unknown))}; it has content, tool_calls, finish_reason, model"
        )
    calls = new.get("tool_calls") or []
    if not isinstance(calls, list) or not all(isinstance(one, dict) and one.get("name") for one in calls):
        raise Unaddressed('tool_calls is a list of {"name": ..., "input": {...}}')
    if new.get("finish_reason") == old.get("finish_reason") and bool(calls) != bool(old.get("tool_calls")):
        new = {**new, "finish_reason": "tool_calls" if calls else "stop"}
    return speaking.write(whole, old, new, tag)


def operation_of(url: str) -> str:
    """The model operation of a POST to `url`, "" for none."""
    found = find_codec("POST", url, {"anthropic-version": "*"})
    return found[1] if found is not None else ""


def _reason(kind: str, reason: Any) -> Any:
    return _REASONS[kind].get(reason, reason) if isinstance(reason, str) else reason


def _loaded(arguments: Any) -> Any:
    try:
        return orjson.loads(arguments)
    except (orjson.JSONDecodeError, TypeError):
        return arguments


def _dumped(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _calls(old: list[Answer], new: Any, raw: list[Any], make: Callable[[Answer, int, Any], Any]) -> list[Any]:
    """Tool calls as written: those that are as before stay as they were to the letter."""
    found = []
    for n, call in enumerate(new or []):
        before = raw[n] if n < len(raw) else None
        found.append(before if n < len(old) and same(old[n], call) else make(call, n, before))
    return found


# -- chat completions ----------------------------------------------------------------------------


def _chat_made(model: str, tag: str) -> Whole:
    message = {"role": "assistant", "content": None, "refusal": None}
    return {
        "id": f"chatcmpl-{tag}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _chat_choice(whole: Whole) -> dict[str, Any]:
    choices = whole.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0].get("message"), dict):
        raise Unaddressed("the recorded response holds no answer")
    return dict(choices[0])


def _chat_read(whole: Whole) -> Answer:
    choice = _chat_choice(whole)
    message = choice["message"]
    calls = [
        {
            "id": call.get("id"),
            "name": call["function"].get("name"),
            "input": _loaded(call["function"].get("arguments")),
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


def _chat_write(whole: Whole, old: Answer, new: Answer, tag: str) -> Whole:
    choice = _chat_choice(whole)
    message = dict(choice["message"])
    message["content"] = new.get("content")
    if "refusal" in new:
        message["refusal"] = new["refusal"]

    def make(call: Answer, n: int, before: Any) -> Any:
        function = {"name": call["name"], "arguments": _dumped(call.get("input") or {})}
        given = {"id": call.get("id") or (before or {}).get("id") or f"call_{tag}_{n}", "type": "function"}
        return {**(before or {}), **given, "function": function}

    calls = _calls(old["tool_calls"], new.get("tool_calls"), message.get("tool_calls") or [], make)
    message.pop("tool_calls", None)
    if calls:
        message["tool_calls"] = calls
    choice = {
        **choice,
        "message": message,
        "finish_reason": _reason("chat", new.get("finish_reason") or "stop"),
    }
    return {**whole, "model": new.get("model"), "choices": [choice, *whole["choices"][1:]]}


def _chat_gather(events: list[dict[str, Any]]) -> Whole:
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
        **_chat_made(model, tag),
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
        "finish_reason": _reason("chat", new.get("finish_reason")),
    }
    return {**whole, "model": new.get("model"), "choices": [choice, *others]}


def _text_gather(events: list[dict[str, Any]]) -> Whole:
    head = next((event for event in events if event.get("id")), {})
    parts = [part for event in events for part in event.get("choices") or () if not part.get("index")]
    reason = next((part["finish_reason"] for part in reversed(parts) if part.get("finish_reason")), None)
    text = "".join(str(part.get("text") or "") for part in parts)
    return {**head, "choices": [{"index": 0, "text": text, "logprobs": None, "finish_reason": reason}]}


# -- Anthropic messages --------------------------------------------------------------------------


def _messages_made(model: str, tag: str) -> Whole:
    return {
        "id": f"msg_{tag}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def _blocks(whole: Whole) -> list[dict[str, Any]]:
    content = whole.get("content")
    if not isinstance(content, list):
        raise Unaddressed("the recorded response holds no answer")
    return [block for block in content if isinstance(block, dict)]


def _messages_read(whole: Whole) -> Answer:
    blocks = _blocks(whole)
    texts = [block.get("text") or "" for block in blocks if block.get("type") == "text"]
    return {
        "content": "".join(texts) if texts else None,
        "tool_calls": [
            {"id": block.get("id"), "name": block.get("name"), "input": block.get("input")}
            for block in blocks
            if block.get("type") == "tool_use"
        ],
        "finish_reason": whole.get("stop_reason"),
        "model": whole.get("model"),
    }


def _messages_write(whole: Whole, old: Answer, new: Answer, tag: str) -> Whole:
    blocks = _blocks(whole)
    raw = [block for block in blocks if block.get("type") == "tool_use"]
    texts = [block for block in blocks if block.get("type") == "text"]
    if not same(old["content"], new.get("content")):
        texts = [{"type": "text", "text": str(new["content"])}] if new.get("content") else []

    def make(call: Answer, n: int, before: Any) -> Any:
        id = call.get("id") or (before or {}).get("id") or f"toolu_{tag}_{n}"
        return {"type": "tool_use", "id": id, "name": call["name"], "input": call.get("input") or {}}

    calls = _calls(old["tool_calls"], new.get("tool_calls"), raw, make)
    others = [block for block in blocks if block.get("type") not in ("text", "tool_use")]
    reason = _reason("messages", new.get("finish_reason") or "end_turn")
    return {**whole, "model": new.get("model"), "content": [*others, *texts, *calls], "stop_reason": reason}


def _messages_gather(events: list[dict[str, Any]]) -> Whole:
    found = find_codec("POST", "/v1/messages", {})
    assert found is not None
    stream = b"".join(b"data: " + orjson.dumps(event) + b"\n\n" for event in events)
    answer = found[0].read_answer("messages", 200, {"content-type": "text/event-stream"}, [stream])
    start: Any = next((event.get("message") for event in events if event.get("type") == "message_start"), {})
    content = answer.messages[0]["content"] if answer.messages else []
    return {
        **_messages_made(str(answer.model), ""),
        **(start if isinstance(start, dict) else {}),
        "content": content,
        "stop_reason": answer.finish_reason,
        "usage": answer.usage or {},
    }


# -- responses -----------------------------------------------------------------------------------


def _responses_made(model: str, tag: str) -> Whole:
    return {
        "id": f"resp_{tag}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": model,
        "output": [],
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": {
            "input_tokens": 0,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 0,
        },
    }


def _items(whole: Whole, *kinds: str) -> Iterable[dict[str, Any]]:
    output = whole.get("output")
    if not isinstance(output, list):
        raise Unaddressed("the recorded response holds no answer")
    return (item for item in output if isinstance(item, dict) and (not kinds or item.get("type") in kinds))


def _said(item: Mapping[str, Any]) -> str:
    parts = [part for part in item.get("content") or [] if isinstance(part, dict)]
    return "".join(str(part.get("text") or "") for part in parts if part.get("type") == "output_text")


def _responses_read(whole: Whole) -> Answer:
    texts = [_said(item) for item in _items(whole, "message")]
    details = whole.get("incomplete_details")
    return {
        "content": "".join(texts) if texts else None,
        "tool_calls": [
            {"id": item.get("call_id"), "name": item.get("name"), "input": _loaded(item.get("arguments"))}
            for item in _items(whole, "function_call")
        ],
        "finish_reason": details.get("reason") if isinstance(details, dict) else "stop",
        "model": whole.get("model"),
    }


def _responses_write(whole: Whole, old: Answer, new: Answer, tag: str) -> Whole:
    messages = list(_items(whole, "message"))
    if not same(old["content"], new.get("content")):
        part: Any = {
            "type": "output_text",
            "text": new.get("content") or "",
            "annotations": [],
            "logprobs": [],
        }
        id = messages[0].get("id") if messages else f"msg_{tag}"
        item = {"id": id, "type": "message", "status": "completed", "role": "assistant", "content": [part]}
        messages = [item] if new.get("content") else []

    def make(call: Answer, n: int, before: Any) -> Any:
        return {
            "id": (before or {}).get("id") or f"fc_{tag}_{n}",
            "type": "function_call",
            "status": "completed",
            "call_id": call.get("id") or (before or {}).get("call_id") or f"call_{tag}_{n}",
            "name": call["name"],
            "arguments": _dumped(call.get("input") or {}),
        }

    raw = list(_items(whole, "function_call"))
    calls = _calls(old["tool_calls"], new.get("tool_calls"), raw, make)
    others = [item for item in _items(whole) if item.get("type") not in ("message", "function_call")]
    reason = _reason("responses", new.get("finish_reason"))
    cut = reason in ("max_output_tokens", "content_filter")
    return {
        **whole,
        "model": new.get("model"),
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": reason} if cut else None,
        "output": [*others, *messages, *calls],
    }


def _responses_gather(events: list[dict[str, Any]]) -> Whole:
    wholes = [event["response"] for event in events if isinstance(event.get("response"), dict)]
    last: Whole = wholes[-1] if wholes else {}
    if not last.get("output"):
        from lctl.instrument.codecs.items import StreamedItems

        last = {**last, "output": StreamedItems(events).items()}
    return last


_DIALECTS = {
    "chat.completions": Dialect(_chat_made, _chat_read, _chat_write, _chat_gather),
    "completions": Dialect(_text_made, _text_read, _text_write, _text_gather),
    "messages": Dialect(_messages_made, _messages_read, _messages_write, _messages_gather),
    "responses": Dialect(_responses_made, _responses_read, _responses_write, _responses_gather),
}

__all__ = ["Dialect", "dialect", "gathered", "operation_of", "responses", "written"]
