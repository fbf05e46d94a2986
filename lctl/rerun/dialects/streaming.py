"""A whole response as the stream of events its API would send: what an SDK's stream reader takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lctl.rerun.dialects.dialect import Whole, cut, dumped, sse

Event = tuple[str, dict[str, Any]]


def chat_stream(whole: Whole, counted: bool) -> Iterator[bytes]:
    """Chat completions tell the usage where their requests say so (`counted`), as completions do."""
    yield from map(sse, _chat(whole, counted))
    yield b"data: [DONE]\n\n"


def text_stream(whole: Whole, counted: bool) -> Iterator[bytes]:
    yield from map(sse, _text(whole, counted))
    yield b"data: [DONE]\n\n"


def messages_stream(whole: Whole, counted: bool) -> Iterator[bytes]:
    for name, data in _messages(whole):
        yield sse({"type": name, **data}, name)


def responses_stream(whole: Whole, counted: bool) -> Iterator[bytes]:
    for n, (name, data) in enumerate(_responses(whole)):
        yield sse({"type": name, "sequence_number": n, **data}, name)


# -- chat completions, completions ---------------------------------------------------------------


def _chat(whole: Whole, counted: bool) -> Iterator[dict[str, Any]]:
    head = {key: value for key, value in whole.items() if key not in ("choices", "usage")}
    head["object"] = "chat.completion.chunk"
    extra = {"usage": None} if counted else {}
    for choice in whole["choices"]:
        index = choice.get("index", 0)
        for delta in _deltas(choice["message"]):
            yield {**head, "choices": [_choice(index, delta, None)], **extra}
        yield {**head, "choices": [_choice(index, {}, choice.get("finish_reason"))], **extra}
    if counted:
        yield {**head, "choices": [], "usage": whole.get("usage")}


def _choice(index: int, delta: dict[str, Any], reason: Any) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}


def _deltas(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    content = message.get("content")
    yield {"role": "assistant", "content": None if content is None else ""}
    for key, value in message.items():
        if key in ("reasoning_content", "reasoning", "refusal") and isinstance(value, str):
            for piece in cut(value):
                yield {key: piece}
    if isinstance(content, list):
        yield {"content": content}
    for piece in cut(content):
        yield {"content": piece}
    for n, call in enumerate(message.get("tool_calls") or []):
        function = call.get("function") or {}
        yield {"tool_calls": [{**call, "index": n, "function": {**function, "arguments": ""}}]}
        yield {"tool_calls": [{"index": n, "function": {"arguments": function.get("arguments", "")}}]}


def _text(whole: Whole, counted: bool) -> Iterator[dict[str, Any]]:
    head = {key: value for key, value in whole.items() if key not in ("choices", "usage")}
    for choice in whole["choices"]:
        for piece in cut(choice.get("text")):
            yield {**head, "choices": [{**choice, "text": piece, "finish_reason": None}]}
        yield {**head, "choices": [{**choice, "text": ""}]}
    if counted:
        yield {**head, "choices": [], "usage": whole.get("usage")}


# -- Anthropic messages --------------------------------------------------------------------------


def _messages(whole: Whole) -> Iterator[Event]:
    usage = whole.get("usage") or {}
    begun = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield "message_start", {"message": begun}
    for index, block in enumerate(whole["content"]):
        yield "content_block_start", {"index": index, "content_block": _begun(block)}
        for delta in _block_deltas(block):
            yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    delta = {"stop_reason": whole.get("stop_reason"), "stop_sequence": whole.get("stop_sequence")}
    counts = {key: value for key, value in usage.items() if isinstance(value, int)}
    yield "message_delta", {"delta": delta, "usage": counts}
    yield "message_stop", {}


_EMPTY: dict[str, dict[str, Any]] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
}


def _begun(block: dict[str, Any]) -> dict[str, Any]:
    return {**block, **_EMPTY.get(str(block.get("type")), {})}


def _block_deltas(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    match block.get("type"):
        case "text":
            for piece in cut(block.get("text")):
                yield {"type": "text_delta", "text": piece}
        case "thinking":
            for piece in cut(block.get("thinking")):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": block.get("signature") or ""}
        case "tool_use":
            text = dumped(block.get("input") or {})
            yield {"type": "input_json_delta", "partial_json": text}


# -- responses -----------------------------------------------------------------------------------


def _responses(whole: Whole) -> Iterator[Event]:
    begun = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    for index, item in enumerate(whole["output"]):
        kind = str(item.get("type"))
        yield (
            "response.output_item.added",
            {"output_index": index, "item": {**item, **_STARTED.get(kind, {})}},
        )
        within = {"item_id": item.get("id"), "output_index": index}
        yield from _INSIDE.get(kind, _nothing)(item, within)
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield f"response.{whole.get('status') or 'completed'}", {"response": whole}


_STARTED: dict[str, dict[str, Any]] = {
    "message": {"status": "in_progress", "content": []},
    "function_call": {"status": "in_progress", "arguments": ""},
    "reasoning": {"summary": []},
}


def _nothing(item: dict[str, Any], within: dict[str, Any]) -> Iterator[Event]:
    return iter(())


def _message_events(item: dict[str, Any], within: dict[str, Any]) -> Iterator[Event]:
    for n, part in enumerate(item.get("content") or []):
        place = {**within, "content_index": n}
        key = "refusal" if part.get("type") == "refusal" else "text"
        name = "response.refusal" if key == "refusal" else "response.output_text"
        more: dict[str, Any] = {} if key == "refusal" else {"logprobs": []}
        yield "response.content_part.added", {**place, "part": {**part, key: ""}}
        for piece in cut(part.get(key)):
            yield f"{name}.delta", {**place, "delta": piece, **more}
        yield f"{name}.done", {**place, key: part.get(key), **more}
        yield "response.content_part.done", {**place, "part": part}


def _call_events(item: dict[str, Any], within: dict[str, Any]) -> Iterator[Event]:
    name, arguments = "response.function_call_arguments", item.get("arguments") or ""
    yield f"{name}.delta", {**within, "delta": arguments}
    yield f"{name}.done", {**within, "name": item.get("name"), "arguments": arguments}


def _reasoning_events(item: dict[str, Any], within: dict[str, Any]) -> Iterator[Event]:
    for n, part in enumerate(item.get("summary") or []):
        place = {**within, "summary_index": n}
        yield "response.reasoning_summary_part.added", {**place, "part": {**part, "text": ""}}
        for piece in cut(part.get("text")):
            yield "response.reasoning_summary_text.delta", {**place, "delta": piece}
        yield "response.reasoning_summary_text.done", {**place, "text": part.get("text")}
        yield "response.reasoning_summary_part.done", {**place, "part": part}


_INSIDE: dict[str, Callable[[dict[str, Any], dict[str, Any]], Iterator[Event]]] = {
    "message": _message_events,
    "function_call": _call_events,
    "reasoning": _reasoning_events,
}
