"""The recorded provider traffic beside the checkout, and what is true of each recorded call.

Used by the tests of this folder and by `plugin.py`. The field readers take messages of any dialect, as
codecs give them and as logs hold them.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("LCTL_SHARED") or ROOT.parent / "shared")


class RecordedCall(NamedTuple):
    """One call: its row of the truth file, and both sides of the wire."""

    row: dict[str, Any]
    method: str
    url: str
    request_headers: dict[str, str]
    request_body: bytes
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def truth(self) -> dict[str, Any]:
        truth: dict[str, Any] = self.row["truth"]
        return truth


def available() -> bool:
    return (SHARED / "corpus" / "truth.jsonl.gz").exists() and (SHARED / "tools" / "cassettes.py").exists()


def rows() -> Iterator[dict[str, Any]]:
    with gzip.open(SHARED / "corpus" / "truth.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def calls() -> list[RecordedCall]:
    tools = str(SHARED / "tools")
    if tools not in sys.path:
        sys.path.insert(0, tools)
    from cassettes import Library  # type: ignore[import-not-found, unused-ignore]

    library = Library([SHARED / "corpus" / "cassettes"])
    found = []
    for row in rows():
        id, _, index = row["call"].rpartition("#")
        at = next(i for i in library.get(id).interactions if i.index == int(index))
        found.append(
            RecordedCall(
                row=row,
                method=at.method,
                url=at.url,
                request_headers=at.request_headers,
                request_body=at.request_body or b"",
                status=at.status,
                headers=dict(at.response_headers),
                body=at.response_body,
            )
        )
    return found


# -- fields of a message, whatever its dialect ----------------------------------------------


def text_of(message: dict[str, Any]) -> str | None:
    content = message.get("content")
    if not isinstance(content, list):
        return content
    texts: list[str] = []
    for part in content:
        if part.get("type") in ("text", "output_text"):
            texts.append(part.get("text") or "")
        elif part.get("type", "message") == "message":
            texts.append(text_of(part) or "")
    return "".join(texts)


def reasoning_of(message: dict[str, Any]) -> str | None:
    own = message.get("reasoning_content") or message.get("reasoning")
    texts: list[str] = []
    for part in _parts(message):
        if part.get("type") == "thinking" and isinstance(part.get("thinking"), str):
            texts.append(part["thinking"])
        elif part.get("type") == "reasoning":
            texts += [piece.get("text", "") for piece in part.get("summary") or []]
    return own or "".join(texts) or None


def tool_calls_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for call in message.get("tool_calls") or []:
        inner = call.get("function") or call.get("custom") or {}
        found.append(_call(call.get("id"), inner.get("name"), inner.get("arguments", inner.get("input"))))
    legacy = message.get("function_call")
    if legacy:
        found.append(_call(None, legacy.get("name"), legacy.get("arguments")))
    for part in _parts(message):
        kind = str(part.get("type"))
        if kind in ("function_call", "custom_tool_call"):
            found.append(
                _call(part.get("call_id"), part.get("name"), part.get("arguments", part.get("input")))
            )
        elif kind.endswith("tool_use"):
            found.append(_call(part.get("id"), part.get("name"), part.get("input")))
    return found


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _call(id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            pass
    return {"id": id, "name": name, "arguments": arguments}


def usage_of(usage: Any) -> dict[str, int | None] | None:
    """The provider's own numbers under the truth file's names."""
    if not isinstance(usage, dict):
        return None

    def first(*keys: str) -> int | None:
        for key in keys:
            outer, _, inner = key.partition(".")
            value = usage.get(outer)
            value = value.get(inner) if inner and isinstance(value, dict) else None if inner else value
            if value is not None:
                return int(value)
        return None

    return {
        "input": first("prompt_tokens", "input_tokens"),
        "output": first("completion_tokens", "output_tokens"),
        "total": first("total_tokens"),
        "cached_input": first(
            "prompt_tokens_details.cached_tokens",
            "input_tokens_details.cached_tokens",
            "cache_read_input_tokens",
        ),
        "cache_creation": first("cache_creation_input_tokens"),
        "reasoning": first(
            "completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens"
        ),
    }


def expected_tokens(truth: dict[str, Any]) -> dict[str, int]:
    """What a log's `tokens` must say of the truth's usage: Anthropic's input leaves cached tokens out."""
    usage = truth["usage"] or {}
    names = {"input": "input", "output": "output", "total": "total", "reasoning": "reasoning"}
    names |= {"cached_input": "cache_read", "cache_creation": "cache_write"}
    tokens = {ours: usage[theirs] for theirs, ours in names.items() if usage.get(theirs) is not None}
    if truth["endpoint"] == "messages" and "input" in tokens:
        tokens["input"] += tokens.get("cache_read", 0) + tokens.get("cache_write", 0)
    return tokens
