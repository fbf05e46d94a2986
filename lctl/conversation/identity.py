"""Is this the message that was sent, or sampled, before? (CONVERSATIONS D9)

Two messages are one when what the model sees of them is equal: role, content, name, tool calls, tool
call id, reasoning. What SDKs add on the way back (nulls, empty lists, item ids, parsed copies) and
what only steers caching does not count.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from typing import Any

import orjson

_SORTED = orjson.OPT_SORT_KEYS
_DIGEST = 16
_TEXTS = frozenset({"text", "input_text", "output_text"})
# Of any content part or item: caching marks, annotations and parsed copies made by providers and SDKs.
_UNSEEN = frozenset(
    {
        "cache_control",
        "annotations",
        "logprobs",
        "parsed",
        "parsed_arguments",
        "parsed_output",
        "encrypted_content",
    }
)
# Of output items of the Responses API, besides.
_CALL_HANDLED = _UNSEEN | {"id", "status", "arguments", "input"}
# An assistant's message may come back with or without anything else.
_ASSISTANT_KEYS = frozenset({"content", "name", "refusal"})
_HANDLED = frozenset(
    {"role", "content", "tool_calls", "function_call", "audio", "cache_control", "type", "id"}
)


def identity(message: dict[str, Any]) -> bytes:
    """16 bytes, equal for messages that are the same to the model."""
    content = message.get("content")
    role = message.get("role")
    if type(content) is str and type(role) is str and (len(message) == 2 or _only_text(message)):
        return blake2b(f"{role}\0{content}".encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()
    try:
        known = canonical(message)
        content = known.get("content")
        if type(content) is str and len(known) == 2:
            return _digest(f"{role}\0{content}".encode("utf-8", "surrogatepass"))
        return _digest(orjson.dumps(known, option=_SORTED))
    except (TypeError, RecursionError):  # nested deeper than we compare: equal to nothing
        return os.urandom(16)


def marks(message: dict[str, Any]) -> frozenset[bytes] | None:
    """What a provider has put beside the words, where it tells one answer from another with the same words:
    annotations and the ids of items. None: there is nothing."""
    found: set[bytes] = set()
    parts = message.get("content")
    for part in (message, *(parts if type(parts) is list else ())):
        if type(part) is dict:
            inner = part.get("content")
            of_text = [one for one in inner if type(one) is dict] if type(inner) is list else ()
            for one in (part, *of_text):
                if one.get("annotations"):
                    found.add(_digest(orjson.dumps(_clean(one["annotations"]), option=_SORTED, default=str)))
            if part is not message and type(part.get("id")) is str:
                found.add(part["id"].encode("utf-8", "replace"))
    return frozenset(found) or None


def references(message: dict[str, Any]) -> frozenset[bytes]:
    """Ids of the items that a message of items consists of, where some are named by their id alone
    (`item_reference` of the Responses API); of any other message none."""
    parts = message.get("content")
    items = [part for part in parts if type(part) is dict] if type(parts) is list else []
    if not any(item.get("type") == "item_reference" for item in items):
        return frozenset()
    return frozenset(item["id"].encode("utf-8", "replace") for item in items if type(item.get("id")) is str)


def item_ids(marks: frozenset[bytes]) -> frozenset[bytes]:
    """Those of the `marks` of a message that are ids of its items; annotations are there as digests."""
    return frozenset(mark for mark in marks if len(mark) != _DIGEST)


def _only_text(message: dict[str, Any]) -> bool:
    """Whether everything beside role and content counts as absent: the usual answer of an SDK."""
    for key, value in message.items():
        if value is not None and value != [] and value != {} and key != "role" and key != "content":
            return False
    return True


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST).digest()


def canonical(message: dict[str, Any]) -> dict[str, Any]:
    """What the model sees of a message, the same of all that `identity` holds equal."""
    role = message.get("role")
    known: dict[str, Any] = {"role": role}
    content = _content(message.get("content"))
    calls = [_call(call) for call in message.get("tool_calls") or () if isinstance(call, dict)]
    if calls:
        known["tool_calls"] = calls
    function = message.get("function_call")
    if isinstance(function, dict):
        known["function_call"] = _function(function, "arguments")
    if content is not None and not (content == "" and (calls or function)):
        known["content"] = content
    audio = message.get("audio")
    if isinstance(audio, dict) and audio.get("id"):
        known["audio"] = audio["id"]
    if role == "assistant":
        rest = {key: message.get(key) for key in _ASSISTANT_KEYS if key != "content"}
        rest["reasoning"] = message.get("reasoning_content") or message.get("reasoning")
    else:
        rest = {key: value for key, value in message.items() if key not in _HANDLED}
    for key, value in rest.items():
        if key not in known:
            seen = _clean(value)
            if seen is not None:
                known[key] = seen
    return known


def _call(call: dict[str, Any]) -> dict[str, Any]:
    known: dict[str, Any] = {"id": call.get("id")}
    for kind, text in (("function", "arguments"), ("custom", "input")):
        inner = call.get(kind)
        if isinstance(inner, dict):
            known.update(_function(inner, text))
    return known


def _function(function: dict[str, Any], text: str) -> dict[str, Any]:
    return {"name": function.get("name"), "arguments": _arguments(function.get(text))}


def _arguments(value: Any) -> Any:
    """Argument text by its JSON value, so that spaces and key order do not count."""
    if isinstance(value, str):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value


def _content(value: Any) -> Any:
    """Content by what the model sees: one bare text part is its text, nothing is None."""
    if isinstance(value, list):
        parts = [_part(part) for part in value]
        parts = [part for part in parts if part is not None]
        if len(parts) == 1 and isinstance(parts[0], dict) and set(parts[0]) == {"text"}:
            return parts[0]["text"]
        return parts or None
    return _clean(value)


def _part(part: Any) -> Any:
    if not isinstance(part, dict):
        return {"text": part} if isinstance(part, str) else _clean(part)
    kind = part.get("type")
    if kind in _TEXTS:
        known = _clean({key: value for key, value in part.items() if key not in ("type", "text")}) or {}
        return {**known, "text": part.get("text")}
    if kind in ("message", "model_output") or (kind is None and "content" in part and "role" in part):
        inner = _content(part.get("content"))
        if isinstance(inner, str):
            return {"text": inner}
        return {"message": inner, "role": part.get("role")}
    if isinstance(kind, str):
        if kind.endswith("_call") or kind == "reasoning":
            known = _clean({key: value for key, value in part.items() if key not in _CALL_HANDLED})
            if kind == "function_call" and "call_id" not in part:  # Google's call ids are ids
                known = {**(known or {}), "id": part.get("id")}
            arguments = part.get("arguments", part.get("input"))
            return {**(known or {}), "arguments": _arguments(arguments)}
        if kind.endswith("tool_use"):
            known = {key: value for key, value in part.items() if key != "input"}
            return {**(_clean(known) or {}), "input": part.get("input") or None}
        if kind.endswith("tool_result") and "content" in part:
            known = {key: value for key, value in part.items() if key != "content"}
            return {**(_clean(known) or {}), "content": _content(part["content"])}
    return _clean(part)


def _clean(value: Any) -> Any:
    """The value without what counts as absent: null, [], {} and the unseen keys; None if that is all."""
    if isinstance(value, dict):
        kept = {}
        for key, item in value.items():
            if key in _UNSEEN:
                continue
            seen = _clean(item)
            if seen is not None:
                kept[key] = seen
        return kept or None
    if isinstance(value, list):
        return [_clean(item) for item in value] or None
    return value
