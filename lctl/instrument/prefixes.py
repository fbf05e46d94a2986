"""Requests that begin with the bytes of an earlier one: only what is new in them is parsed.

A conversation sends its whole history with every call, so a body mostly starts with the very bytes of
the body before. Comparing bytes costs 5 us for 120 kB where parsing and hashing cost 500. What is
read this way equals what reading it whole gives (a test holds that on random conversations); where
anything is unusual, the whole is read.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import orjson

from lctl.instrument.codecs.model import Codec, ModelRequest
from lctl.instrument.forest import Place

#: Bodies below this many bytes are read whole: that is faster.
SMALL = 2048
_MOST_PREFIXES = 24
_MOST_BYTES = 24_000_000
_PARTIAL_TRIES = 4


class Prefix:
    """What one request's body says about the next.

    Attributes:
        raw: the body up to the end of the last whole message.
        start: where the conversation array's first element begins in it.
        ends: `raw[:ends[i]]` ends with a whole message; `places[i]` is where that message is.
        tail: the body from the array's closing bracket on.
        document: the body parsed, the array emptied.
    """

    __slots__ = ("codec", "document", "ends", "key", "places", "raw", "start", "tail")

    def __init__(self, reading: Reading, ends: list[int], places: list[Place]) -> None:
        self.codec = reading.codec
        self.key = reading.key
        self.start = reading.start
        self.document = reading.document
        self.tail = reading.body[reading.end :]
        self.ends = ends
        self.places = places
        self.raw = reading.body[: ends[-1]]

    def common(self, body: bytes) -> int:
        """How many whole messages `body` has in common with this one."""
        if body.startswith(self.raw):
            return len(self.ends)
        if not body.startswith(self.raw[: self.ends[0]]):
            return 0
        return bisect_right(self.ends, 0, key=lambda end: 0 if body.startswith(self.raw[:end]) else 1)


class Reading:
    """Where the messages of one request stand in its body.

    Attributes:
        end: offset of the array's closing bracket.
        ends: (offset, n): the body up to offset holds the first n of the request's new messages.
        base: the prefix it was read after, and how many of that one's messages.
    """

    __slots__ = ("adds_nothing", "base", "body", "codec", "common", "document", "end", "ends", "key", "start")

    def __init__(self, codec: Codec, key: str, body: bytes, document: dict[str, Any], start: int) -> None:
        self.codec = codec
        self.key = key
        self.body = body
        self.document = document
        self.start = start
        self.end = 0
        self.ends: list[tuple[int, int]] = []
        self.base: Prefix | None = None
        self.common = 0
        self.adds_nothing = False  # the base says all that this one would say

    def locate(self, at: int, items: list[Any], request: ModelRequest) -> bool:
        """Find where each message ends, from offset `at` on. False where the text is not in the form
        that SDKs write (compact, not escaped): nothing can be said about the next body then."""
        body = self.body
        spans = request.spans
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
                if spans is None or roles[count - 1] != "assistant":  # a later item may join such a run
                    self.ends.append((at, count))
        self.end = at
        return body[at : at + 1] == b"]"


class Prefixes:
    """The last few distinct conversations of a chain, newest first (agents take turns)."""

    def __init__(self) -> None:
        self._kept: list[Prefix] = []

    def read(self, codec: Codec, operation: str, url: str, body: bytes) -> ModelRequest | None:
        """The request, with only the messages after a known prefix; None where there is none."""
        if not self._kept:
            return None
        key = codec.conversation_key(operation)
        base, common = self._find(codec, key, body)
        if base is None or key is None:
            return None
        at = base.ends[common - 1]
        try:
            document = _rest(base, common, body, at)
        except orjson.JSONDecodeError:
            return None
        if document is None:
            return None
        items = document[key]
        request = codec.read_document(operation, url, document)
        if request.continues is not None:
            return None
        request.known = base.places[common - 1]
        same = document is base.document
        reading = Reading(codec, key, body, document if same else {**document, key: []}, base.start)
        reading.base, reading.common = base, common
        reading.adds_nothing = same and common == len(base.ends)
        request.read_from = reading
        reading.end = at
        if items and not reading.locate(at + 1, items, request):
            request.read_from = None
        if request.instructions:
            request.lead, request.messages = request.messages[0], request.messages[1:]
        return request

    def _find(self, codec: Codec, key: str | None, body: bytes) -> tuple[Prefix | None, int]:
        found: Prefix | None = None
        most = size = 0
        for prefix in self._kept:
            if (
                len(prefix.raw) > size
                and body.startswith(prefix.raw)
                and prefix.codec is codec
                and prefix.key == key
            ):
                found, most, size = prefix, len(prefix.ends), len(prefix.raw)
        if found is not None:
            return found, most
        kept = [prefix for prefix in self._kept if prefix.codec is codec and prefix.key == key]
        for prefix in kept[:_PARTIAL_TRIES]:
            common = prefix.common(body)
            if common and prefix.ends[common - 1] > size:
                found, most, size = prefix, common, prefix.ends[common - 1]
        return found, most

    def use(self, reading: Reading) -> None:
        """The prefix that a request was read after goes to the front; the last ones are forgotten first."""
        base, kept = reading.base, self._kept
        if base is not None and kept[0] is not base:
            self._kept = [base, *(prefix for prefix in kept if prefix is not base)]

    def keep(self, reading: Reading, places: list[Place]) -> None:
        """Remember a request whose new messages are at `places`."""
        ends: list[int] = []
        known: list[Place] = []
        base = reading.base
        if base is not None:
            ends += base.ends[: reading.common]
            known += base.places[: reading.common]
        for end, count in reading.ends:
            ends.append(end)
            known.append(places[count - 1])
        if not ends:
            return
        kept = [prefix for prefix in self._kept if prefix is not base]
        if base is not None and reading.common < len(base.ends):
            kept.insert(0, base)  # a branch: the other one may go on as well
        kept.insert(0, Prefix(reading, ends, known))
        total = 0
        for n, prefix in enumerate(kept):
            total += len(prefix.raw)
            if n >= _MOST_PREFIXES or (n and total > _MOST_BYTES):
                del kept[n:]
                break
        self._kept = kept


def _rest(base: Prefix, common: int, body: bytes, at: int) -> dict[str, Any] | None:
    """The document of `body` with only the elements after offset `at` in its array."""
    tail = len(body) - len(base.tail)
    if tail >= at and body.endswith(base.tail):
        if tail == at:
            return base.document
        if body[at : at + 1] == b",":
            return {**base.document, base.key: orjson.loads(b"[" + body[at + 1 : tail] + b"]")}
    after = body[at : at + 1]
    if after not in (b",", b"]"):
        return None
    document = orjson.loads(body[: base.start] + body[at + (after == b",") :])
    # What stands beside the array must be the same where it is a message too.
    for field in ("system", "instructions"):
        if document.get(field) != base.document.get(field):
            return None
    return document if isinstance(document.get(base.key), list) else None


def locate(
    codec: Codec, operation: str, body: bytes, document: dict[str, Any], request: ModelRequest
) -> None:
    """Note in a request that was read whole where its messages stand, where that can be told."""
    key = codec.conversation_key(operation)
    items = document.get(key) if key is not None else None
    if key is None or not isinstance(items, list) or not items:
        return
    mark = b'"' + key.encode() + b'":['
    start = body.find(mark) + len(mark)
    if start < len(mark) or request.continues is not None:
        return
    reading = Reading(codec, key, body, {**document, key: []}, start)
    if not reading.locate(start, items, request):
        return
    # The mark may have been found inside something else; the array emptied, the rest must be the same.
    try:
        if orjson.loads(body[:start] + body[reading.end :]) == reading.document:
            request.read_from = reading
    except orjson.JSONDecodeError:
        pass
