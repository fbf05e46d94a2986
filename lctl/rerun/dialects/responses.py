"""OpenAI responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lctl.patch import Unaddressed
from lctl.patch.changing import same
from lctl.rerun.dialects.dialect import Answer, Dialect, Whole, dumped, loaded, reason_in, rewritten
from lctl.rerun.dialects.streaming import responses_stream


def _made(model: str, tag: str) -> Whole:
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


def _read(whole: Whole) -> Answer:
    texts = [_said(item) for item in _items(whole, "message")]
    details = whole.get("incomplete_details")
    return {
        "content": "".join(texts) if texts else None,
        "tool_calls": [
            {"id": item.get("call_id"), "name": item.get("name"), "input": loaded(item.get("arguments"))}
            for item in _items(whole, "function_call")
        ],
        "finish_reason": details.get("reason") if isinstance(details, dict) else "stop",
        "model": whole.get("model"),
    }


def _write(whole: Whole, old: Answer, new: Answer, tag: str) -> Whole:
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
            "arguments": dumped(call.get("input") or {}),
        }

    raw = list(_items(whole, "function_call"))
    calls = rewritten(old["tool_calls"], new.get("tool_calls"), raw, make)
    others = [item for item in _items(whole) if item.get("type") not in ("message", "function_call")]
    reason = reason_in("responses", new.get("finish_reason"))
    cut = reason in ("max_output_tokens", "content_filter")
    return {
        **whole,
        "model": new.get("model"),
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": reason} if cut else None,
        "output": [*others, *messages, *calls],
    }


def _gather(events: list[dict[str, Any]]) -> Whole:
    wholes = [event["response"] for event in events if isinstance(event.get("response"), dict)]
    last: Whole = wholes[-1] if wholes else {}
    if not last.get("output"):
        from lctl.instrument.codecs.items import StreamedItems

        last = {**last, "output": StreamedItems(events).items()}
    return last


DIALECT = Dialect(_made, _read, _write, _gather, responses_stream)
