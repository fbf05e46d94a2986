"""Where the messages of one request stand in its body, and what that says about the next one's."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import orjson

from lctl.instrument.codecs.model import Codec, ModelRequest
from lctl.instrument.forest import Place

_JOINED = ("assistant", "model")
# Where each element of the array is a message as it stands, so that new ones need no codec.
_BY_ITEM = frozenset({"chat.completions", "messages"})


class Prefix:
    """What one request's body says about the next.

    Attributes:
        body: the body itself; `view` shows it up to the end of the last whole message, `size` bytes.
        start: where the conversation array's first element begins in it.
        ends: `body[:ends[i]]` ends with a whole message; `places[i]` is where that message is. Only the first
            `count` are this one's: who goes on from it appends to the same lists.
        tail: the body from the array's closing bracket on.
        document: the body parsed, the array emptied.
        request: what was read from it without the array: it holds of the next one, too.
        again: what is read from the same body once more.
        digest: SHA-256 of `view`, unfinished; None where it was not taken.
    """

    __slots__ = (
        "again",
        "body",
        "codec",
        "count",
        "digest",
        "document",
        "ends",
        "key",
        "places",
        "request",
        "size",
        "start",
        "tail",
        "url",
        "view",
    )

    def __init__(self, reading: Reading, request: ModelRequest, ends: list[int], places: list[Place]) -> None:
        self.codec = reading.codec
        self.url = reading.url
        self.key = reading.key
        self.start = reading.start
        self.document = reading.document
        self.body = body = reading.body
        self.tail = body[reading.end :]
        self.ends = ends
        self.places = places
        self.count = len(ends)
        self.size = size = ends[-1]
        self.view = memoryview(body)[:size]
        base = reading.base
        self.request: ModelRequest
        if (
            base is not None
            and base.document is reading.document
            and base.speaks(request.operation, base.url)
        ):
            self.request = base.request
        else:
            self.request = _apart(request)
        self.digest = reading.digest if reading.digest_size == size else None
        self.again: ModelRequest | None = None

    def speaks(self, operation: str, url: str) -> bool:
        """Whether what was read from the one body holds of such a request with the same bytes."""
        return self.request.operation == operation and self.url == url

    def common(self, body: bytes) -> int:
        """How many whole messages `body` has in common with this one."""
        if body.startswith(self.view):
            return self.count
        if not body.startswith(self.view[: self.ends[0]]):
            return 0
        return bisect_right(
            self.ends, 0, 0, self.count, key=lambda end: 0 if body.startswith(self.view[:end]) else 1
        )

    def extended(self, items: list[Any]) -> ModelRequest | None:
        """The request of a body that is this one's with other elements after the common ones; None where
        only its codec can say."""
        own = self.request
        if own.operation not in _BY_ITEM:
            return None
        for item in items:
            if type(item) is not dict or type(item.get("role")) is not str:
                return None
        made = ModelRequest(
            own.provider, own.operation, own.kind, own.model, items, own.tools, own.params, own.stream
        )
        made.instructions, made.lead = own.instructions, own.lead
        return made


def _apart(request: ModelRequest) -> ModelRequest:
    """The request without its messages, but for that which no array holds."""
    made = ModelRequest(
        request.provider,
        request.operation,
        request.kind,
        request.model,
        tools=request.tools,
        params=request.params,
        stream=request.stream,
    )
    made.instructions = request.instructions
    made.lead = request.messages[0] if request.instructions and request.known is None else request.lead
    return made


class Reading:
    """Where the messages of one request stand in its body.

    Attributes:
        end: offset of the array's closing bracket.
        ends: (offset, n): the body up to offset holds the first n of the request's new messages.
        base: the prefix it was read after, and how many of that one's messages.
        digest: SHA-256 of the body's first `digest_size` bytes, unfinished, for the next body.
    """

    __slots__ = (
        "adds_nothing",
        "base",
        "body",
        "codec",
        "common",
        "digest",
        "digest_size",
        "document",
        "end",
        "ends",
        "key",
        "start",
        "url",
    )

    def __init__(
        self, codec: Codec, url: str, key: str, body: bytes, document: dict[str, Any], start: int
    ) -> None:
        self.codec = codec
        self.url = url
        self.key = key
        self.body = body
        self.document = document
        self.start = start
        self.end = 0
        self.ends: list[tuple[int, int]] = []
        self.base: Prefix | None = None
        self.common = 0
        self.adds_nothing = False  # the base says all that this one would say
        self.digest: Any = None
        self.digest_size = 0

    def locate(self, at: int, items: list[Any], request: ModelRequest) -> bool:
        """Find where each message ends, from offset `at` on. False where the text is not in the form
        that SDKs write (compact, not escaped): nothing can be said about the next body then."""
        body = self.body
        spans = request.spans
        roles: list[Any] = []
        if spans is not None:
            roles = [message.get("role") for message in request.messages[int(request.instructions) :]]
        count = left = 0
        for n, item in enumerate(items):
            if n:
                if body[at : at + 1] != b",":
                    return False
                at += 1
            try:
                text = orjson.dumps(item)
            except TypeError:
                return False
            if not body.startswith(text, at):
                return False
            at += len(text)
            left = left - 1 if left else (spans[count] - 1 if spans is not None else 0)
            if left == 0:
                count += 1
                if spans is None or roles[count - 1] not in _JOINED:  # a later item may join such a run
                    self.ends.append((at, count))
        self.end = at
        return body[at : at + 1] == b"]"
