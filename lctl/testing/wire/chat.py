"""OpenAI chat completions: `POST /v1/chat/completions`. Mistral's and Groq's clients get them as their own
providers stream them: counts unasked, and of Mistral each tool call whole."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from lctl.testing.replies import Reply, ToolCall
from lctl.testing.wire.call import Call, cut, cut_json, pieces, sse

_REASONS = {
    "max_tokens": "length",
    "max_output_tokens": "length",
    "tool_use": "tool_calls",
    "end_turn": "stop",
    "completed": "stop",
    "refusal": "content_filter",
}


def complete(call: Call) -> dict[str, Any]:
    """The whole answer."""
    head = _head(call, "chat.completion")
    choices = [
        {
            "index": n,
            "message": _message(call, reply),
            "logprobs": None,
            "finish_reason": finish_reason(reply),
        }
        for n, reply in enumerate(call.replies)
    ]
    return {**head, "choices": choices, "usage": usage(call), "service_tier": "default"} | _fingerprint(call)


def stream(call: Call) -> Iterator[bytes]:
    """The answer as server-sent events; the choices of n > 1 take turns."""
    head = _head(call, "chat.completion.chunk") | {"service_tier": "default"} | _fingerprint(call)
    options = call.request.body.get("stream_options")
    counted = isinstance(options, dict) and options.get("include_usage") is True
    extra = {"usage": None} if counted else {}
    client = _client(call)
    each = [_deltas(call, reply, whole_calls=client == "mistral") for reply in call.replies]
    for deltas in zip_longest(*each):
        for index, found in enumerate(deltas):
            if found is not None:
                delta, reason = found
                choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}
                told = _unasked(call, client) if reason else {}
                yield sse({**head, "choices": [choice], **extra, **told})
    if counted and client != "mistral":
        yield sse({**head, "choices": [], "usage": usage(call)})
    yield sse(b"[DONE]")


def _client(call: Call) -> str:
    agent = call.request.headers.get("user-agent", "")
    return "mistral" if agent.startswith("mistral-client") else "groq" if "Groq/Python" in agent else ""


def _unasked(call: Call, client: str) -> dict[str, Any]:
    """Counts in the last piece of a stream, where it does not take `stream_options` to have them."""
    if client == "mistral":
        return {"usage": usage(call)}
    return {"x_groq": {"id": call.ids.copy().make("req_", 26), "usage": usage(call)}} if client else {}


def usage(call: Call) -> dict[str, Any]:
    """Token counts as chat completions (and completions) report them."""
    tokens = call.tokens
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read, "audio_tokens": tokens.input_audio},
        "completion_tokens_details": {
            "reasoning_tokens": tokens.reasoning,
            "audio_tokens": tokens.output_audio,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def finish_reason(reply: Reply) -> str:
    if reply.finish_reason is not None:
        return _REASONS.get(reply.finish_reason, reply.finish_reason)
    return "tool_calls" if reply.tool_calls else "stop"


def _head(call: Call, kind: str) -> dict[str, Any]:
    return {
        "id": call.ids.make("chatcmpl-", 29),
        "object": kind,
        "created": call.created,
        "model": call.model,
    }


def _fingerprint(call: Call) -> dict[str, Any]:
    return {"system_fingerprint": call.ids.make("fp_", 10, hex=True)}


def _tool_call(call: Call, tool: ToolCall) -> dict[str, Any]:
    return {
        "id": tool.id or call.ids.make("call_", 24),
        "type": "function",
        "function": {"name": tool.name, "arguments": tool.json},
    }


def _shows_reasoning(call: Call) -> bool:
    """OpenAI's own models keep their thinking; the servers that speak its format mostly send it."""
    return not call.model.startswith(("gpt-", "o1", "o3", "o4", "chatgpt-"))


def _message(call: Call, reply: Reply) -> dict[str, Any]:
    content = _content(call, reply)
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": reply.refusal}
    if reply.reasoning and _shows_reasoning(call):
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [_tool_call(call, tool) for tool in reply.calls]
    return message | {"annotations": []}


def _content(call: Call, reply: Reply) -> str | None:
    """Beside tool calls alone Mistral says an empty text where OpenAI says null."""
    if reply.content:
        return None if reply.refusal is not None else reply.content
    silent = reply.refusal is not None or (reply.tool_calls and _client(call) != "mistral")
    return None if silent else ""


def _deltas(call: Call, reply: Reply, *, whole_calls: bool) -> Iterator[tuple[dict[str, Any], str | None]]:
    opening = {"role": "assistant", "content": None if _content(call, reply) is None else "", "refusal": None}
    if reply.refusal is not None:
        opening["refusal"] = ""
    yield opening, None
    if reply.reasoning and _shows_reasoning(call):
        for piece in cut(reply.reasoning):
            yield {"reasoning_content": piece}, None
    for piece in cut(reply.refusal) if reply.refusal is not None else pieces(reply):
        yield {"refusal" if reply.refusal is not None else "content": piece}, None
    if whole_calls and reply.calls:
        calls = [{**_tool_call(call, tool), "index": n} for n, tool in enumerate(reply.calls)]
        yield {"content": "", "tool_calls": calls}, None
    for index, tool in enumerate(() if whole_calls else reply.calls):
        whole = _tool_call(call, tool)
        start = {**whole, "index": index, "function": {"name": tool.name, "arguments": ""}}
        yield {"tool_calls": [start]}, None
        for piece in cut_json(tool.json):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, None
    yield {}, finish_reason(reply)
