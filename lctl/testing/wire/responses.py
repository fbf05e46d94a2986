"""OpenAI responses: `POST /v1/responses`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lctl.testing.replies import Reply, ToolCall
from lctl.testing.wire.call import Call, Tokens, cut, cut_json, pieces, sse

Item = dict[str, Any]


def complete(call: Call) -> dict[str, Any]:
    """The whole response object."""
    return _response(call, call.ids.make("resp_", 48, hex=True), list(_items(call)))


def stream(call: Call) -> Iterator[bytes]:
    """The response as its sequence of named, numbered events."""
    response_id = call.ids.make("resp_", 48, hex=True)
    items = list(_items(call))
    final = _response(call, response_id, items)
    begun = {**final, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    events = [("response.created", {"response": begun}), ("response.in_progress", {"response": begun})]
    for index, item in enumerate(items):
        events += _item_events(call.reply, index, item)
    events.append((f"response.{final['status']}", {"response": final}))
    for number, (name, data) in enumerate(events):
        yield sse({"type": name, "sequence_number": number, **data}, name)


def usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "input_tokens": tokens.input,
        "input_tokens_details": {
            "cached_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write,
        },
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.input + tokens.output,
    }


def _response(call: Call, response_id: str, output: list[Item]) -> dict[str, Any]:
    body = call.request.body
    cut_short = _incomplete(call.reply)
    text = body.get("text") or {}
    return {
        "id": response_id,
        "object": "response",
        "created_at": call.created,
        "status": "incomplete" if cut_short else "completed",
        "background": False,
        "error": None,
        "incomplete_details": {"reason": cut_short} if cut_short else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "model": call.model,
        "output": output,
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "reasoning": {"effort": None, "summary": None} | (body.get("reasoning") or {}),
        "service_tier": "default",
        "store": body.get("store", True),
        "temperature": body.get("temperature", 1.0),
        "text": {"format": {"type": "text"}} | text,
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": [{"strict": None, **tool} for tool in body.get("tools") or ()],
        "top_p": body.get("top_p", 1.0),
        "truncation": body.get("truncation", "disabled"),
        "usage": usage(call.tokens),
        "user": body.get("user"),
        "metadata": body.get("metadata") or {},
    }


def _incomplete(reply: Reply) -> str | None:
    if reply.finish_reason in ("length", "max_tokens", "max_output_tokens"):
        return "max_output_tokens"
    return "content_filter" if reply.finish_reason == "content_filter" else None


def _items(call: Call) -> Iterator[Item]:
    reply = call.reply
    if reply.reasoning:
        asked = call.request.body.get("reasoning") or {}
        summary = [{"type": "summary_text", "text": reply.reasoning}] if asked.get("summary") else []
        yield {"id": call.ids.make("rs_", 48, hex=True), "type": "reasoning", "summary": summary}
    if reply.refusal is not None:
        yield _message(call, {"type": "refusal", "refusal": reply.refusal})
    elif reply.content or not reply.tool_calls:
        yield _message(
            call, {"type": "output_text", "text": reply.content, "annotations": [], "logprobs": []}
        )
    for tool in reply.calls:
        yield _function_call(call, tool)


def _message(call: Call, part: Item) -> Item:
    status = "incomplete" if _incomplete(call.reply) else "completed"
    return {
        "id": call.ids.make("msg_", 48, hex=True),
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": [part],
    }


def _function_call(call: Call, tool: ToolCall) -> Item:
    return {
        "id": call.ids.make("fc_", 48, hex=True),
        "type": "function_call",
        "status": "completed",
        "call_id": tool.id or call.ids.make("call_", 24),
        "name": tool.name,
        "arguments": tool.json,
    }


_BEGUN: dict[str, Item] = {
    "message": {"status": "in_progress", "content": []},
    "function_call": {"status": "in_progress", "arguments": ""},
    "reasoning": {"summary": []},
}


def _item_events(reply: Reply, index: int, item: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    at = {"output_index": index}
    yield "response.output_item.added", {**at, "item": {**item, **_BEGUN[item["type"]]}}
    within = {"item_id": item["id"], **at}
    if item["type"] == "message":
        yield from _text_events(reply, within, item["content"][0])
    elif item["type"] == "function_call":
        name = "response.function_call_arguments"
        for piece in cut_json(item["arguments"]):
            yield f"{name}.delta", {**within, "delta": piece}
        yield f"{name}.done", {**within, "name": item["name"], "arguments": item["arguments"]}
    else:
        yield from _summary_events(within, item["summary"])
    yield "response.output_item.done", {**at, "item": item}


def _text_events(reply: Reply, within: Item, part: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    key = "refusal" if part["type"] == "refusal" else "text"
    name = "response.refusal" if key == "refusal" else "response.output_text"
    more: Item = {} if key == "refusal" else {"logprobs": []}
    within = {**within, "content_index": 0}
    yield "response.content_part.added", {**within, "part": {**part, key: ""}}
    for piece in cut(part[key]) if key == "refusal" else pieces(reply):
        yield f"{name}.delta", {**within, "delta": piece, **more}
    yield f"{name}.done", {**within, key: part[key], **more}
    yield "response.content_part.done", {**within, "part": part}


def _summary_events(within: Item, summary: list[Item]) -> Iterator[tuple[str, dict[str, Any]]]:
    for index, part in enumerate(summary):
        place = {**within, "summary_index": index}
        yield "response.reasoning_summary_part.added", {**place, "part": {**part, "text": ""}}
        for piece in cut(part["text"]):
            yield "response.reasoning_summary_text.delta", {**place, "delta": piece}
        yield "response.reasoning_summary_text.done", {**place, "text": part["text"]}
        yield "response.reasoning_summary_part.done", {**place, "part": part}
