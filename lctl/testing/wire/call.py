"""One answered call: what every wire format needs to write it."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from lctl.testing.replies import Reply
from lctl.testing.request import Request, Turn

_IMAGE_TOKENS = 765  # what a 1024 x 1024 picture costs at OpenAI
_CACHE_FROM, _CACHE_UNIT = 1024, 128  # OpenAI caches prefixes from 1024 tokens on, in steps of 128


class Ids:
    """Ids in the providers' shapes, from one digest: `make("chatcmpl-", 29)`. Each is another."""

    def __init__(self, digest: bytes) -> None:
        self._digest = digest
        self._count = 0

    def make(self, prefix: str, length: int, *, hex: bool = False) -> str:
        self._count += 1
        stream = hashlib.shake_256(self._digest + self._count.to_bytes(4, "big")).digest(length)
        letters = _HEX if hex else _BASE62
        return prefix + "".join(letters[b % len(letters)] for b in stream)

    def copy(self) -> Ids:
        """Ids that begin again with the first."""
        return Ids(self._digest)


_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_HEX = "0123456789abcdef"


#: Counts that are none but where a reply says so.
_RARE = ("cache_write_1h", "input_audio", "output_audio", "web_searches")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token counts in lctl's sense: `input` includes the cached ones, `output` the reasoning."""

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    cache_write_1h: int = 0
    input_audio: int = 0
    output_audio: int = 0
    web_searches: int = 0


@dataclass(slots=True)
class Call:
    """A request with its answer; `replies` has one per choice."""

    request: Request
    replies: Sequence[Reply]
    ids: Ids
    created: int  # seconds since 1970

    def copy(self) -> Call:
        """The same call, whose ids begin again: for writing one answer twice."""
        return Call(self.request, self.replies, self.ids.copy(), self.created)

    @property
    def reply(self) -> Reply:
        return self.replies[0]

    @property
    def model(self) -> str:
        return self.reply.model or self.request.model

    @property
    def tokens(self) -> Tokens:
        """Counted from the lengths of the texts, then what the reply says otherwise."""
        usage = self.reply.usage
        body = self.request.body
        reasoning = sum(count_tokens(r.reasoning) for r in self.replies if r.reasoning)
        output = reasoning + sum(_answer_tokens(r) for r in self.replies)
        read, write = cached_tokens(self.request)
        return Tokens(
            input=usage.get("input", prompt_tokens(self.request.turns, body)),
            output=usage.get("output", max(1, output)),
            cache_read=usage.get("cache_read", read),
            cache_write=usage.get("cache_write", write),
            reasoning=usage.get("reasoning", reasoning),
            **{name: usage[name] for name in _RARE if name in usage},
        )


def count_tokens(text: str) -> int:
    """About four bytes a token, as in English with the usual tokenisers."""
    return math.ceil(len(text.encode()) / 4)


def prompt_tokens(turns: Sequence[Turn], body: dict[str, Any]) -> int:
    """Tokens of a prompt: its texts, calls and results, four for each message, and its tools."""
    total = 3
    for turn in turns:
        total += 4 + count_tokens(turn.text) + turn.images * _IMAGE_TOKENS
        total += sum(
            count_tokens(name) + count_tokens(orjson.dumps(args).decode()) for _, name, args in turn.calls
        )
        total += sum(count_tokens(text) for _, text in turn.results)
    tools = body.get("tools")
    return total + (count_tokens(orjson.dumps(tools).decode()) if tools else 0)


def cached_tokens(request: Request) -> tuple[int, int]:
    """(read, written) tokens of the prompt cache.

    A pure function of the prompt: what stood in it before the last answer was sent before. OpenAI
    caches by itself; Anthropic where the body says `cache_control`.
    """
    turns = request.turns
    answered = [n for n, turn in enumerate(turns) if turn.role == "assistant"]
    before = prompt_tokens(turns[: answered[-1]], request.body) if answered else 0
    if request.provider == "openai":
        return (before // _CACHE_UNIT * _CACHE_UNIT if before >= _CACHE_FROM else 0), 0
    if b'"cache_control"' not in request.raw:
        return 0, 0
    return before, max(0, prompt_tokens(turns, request.body) - before - 3)


def pieces(reply: Reply) -> list[str]:
    """The text as it comes in a stream: words with the space before them."""
    return list(reply.chunks) if reply.chunks is not None else cut(reply.content)


def cut(text: str) -> list[str]:
    """A text in pieces of one word each."""
    return re.findall(r"\s*\S+|\s+$", text)


def cut_json(text: str, size: int = 12) -> list[str]:
    """Tool arguments in pieces of `size` characters, cut wherever that falls."""
    return [text[n : n + size] for n in range(0, len(text), size)]


def sse(data: Any, event: str | None = None) -> bytes:
    """One server-sent event. `data` is an object, or bytes sent as they are."""
    body = data if isinstance(data, bytes) else orjson.dumps(data)
    head = b"event: " + event.encode() + b"\n" if event else b""
    return head + b"data: " + body + b"\n\n"


def _answer_tokens(reply: Reply) -> int:
    total = count_tokens(reply.refusal or reply.content)
    return total + sum(8 + count_tokens(c.name) + count_tokens(c.json) for c in reply.calls)
