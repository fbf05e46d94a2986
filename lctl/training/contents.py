"""What a message says, as far as comparing goes: equal, equal but for its reasoning, redacted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import orjson

from lctl.conversation.identity import canonical
from lctl.conversation.node import LOG_KEYS
from lctl.values import text

Data = Mapping[str, Any]

_REASONING_KEYS = frozenset({"reasoning", "reasoning_content", "reasoning_details", "thinking"})
_REASONING_PARTS = frozenset({"reasoning", "thinking", "redacted_thinking", "reasoning_text"})
#: Of an answer, and not sent back with it.
_ANSWER_KEYS = frozenset({"refusal", "annotations", "audio", "function_call", "id", "usage", "stop_reason"})
#: What `lctl.session.redaction.redact` puts in place of a secret begins so.
_PLACEHOLDER = b"[redacted:"


def said(data: Data) -> dict[str, Any]:
    """The message without what the log adds to it, and without keys that say nothing."""
    return {
        key: value for key, value in data.items() if key not in LOG_KEYS and value not in (None, [], {}, "")
    }


def without_reasoning(message: Data) -> dict[str, Any]:
    """The message as it is sent back by who leaves its reasoning out."""
    kept = {key: value for key, value in said(message).items() if key not in _REASONING_KEYS}
    content = kept.get("content")
    if isinstance(content, list):
        parts = [part for part in content if not _is_reasoning(part)]
        alone = parts[0] if len(parts) == 1 and isinstance(parts[0], Mapping) else None
        if alone is not None and alone.get("type") == "text" and set(alone) <= {"type", "text", "citations"}:
            kept["content"] = alone.get("text")
        else:
            kept["content"] = parts
    return {key: value for key, value in kept.items() if value not in ([], "")}


def _is_reasoning(part: Any) -> bool:
    return isinstance(part, Mapping) and text(part.get("type")) in _REASONING_PARTS


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """Tool calls with their arguments decoded, and without what only an answer has."""
    kept = {key: value for key, value in message.items() if key not in _ANSWER_KEYS}
    calls = kept.get("tool_calls")
    if isinstance(calls, list):
        kept["tool_calls"] = [_call(call) for call in calls]
    return kept


def _call(call: Any) -> Any:
    inner = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(inner, Mapping):
        return call
    arguments = inner.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = orjson.loads(arguments)
        except ValueError:
            pass  # cut off, or no JSON: compared as text
    return [call.get("id"), inner.get("name"), arguments]


def identity(data: Data) -> bytes:
    """Equal for messages that say the same to a model (CONVERSATIONS D9)."""
    return _bytes(_plain(said(data)))


def bare_identity(data: Data) -> bytes:
    """Equal for messages that say the same to a model but for reasoning, however they are spelled: who leaves
    the reasoning of an answer out most often sends the text that is left."""
    bare = without_reasoning(data)
    try:
        return _bytes(canonical({key: value for key, value in bare.items() if key not in _ANSWER_KEYS}))
    except (TypeError, RecursionError):  # nothing that an API gave
        return _bytes(_plain(bare))


def has_reasoning(data: Data) -> bool:
    content = data.get("content")
    parts = content if isinstance(content, list) else ()
    return any(data.get(key) for key in _REASONING_KEYS) or any(map(_is_reasoning, parts))


def is_redacted(data: Data) -> bool:
    """Whether something of the message was taken out: by the redactor, or all of it (a tombstone)."""
    return data.get("redacted") is True or _PLACEHOLDER in _bytes(dict(data))


def prompt_hash(messages: list[dict[str, Any]]) -> str:
    """Hash of a prompt, as `call.prompt_hash` of a sampled message may hold it.

    Each message's hash covers the one before it, so that a log's prompts are all checked in one walk.
    """
    digest = b""
    for message in messages:
        digest = next_hash(digest, message)
    return "sha256:" + digest.hex()


def next_hash(digest: bytes, message: Data) -> bytes:
    return sha256(digest + _bytes(said(message))).digest()


def _bytes(value: Any) -> bytes:
    return packed(value, orjson.OPT_SORT_KEYS)


def packed(value: Any, option: int = 0) -> bytes:
    """The value as JSON. Half a surrogate pair, which is no text, is written as its escape."""
    try:
        return orjson.dumps(value, option=option | orjson.OPT_NON_STR_KEYS, default=str)
    except TypeError:
        sort = bool(option & orjson.OPT_SORT_KEYS)
        return json.dumps(value, sort_keys=sort, separators=(",", ":"), default=str).encode()
