"""Requests that begin with the bytes of an earlier one: only what is new in them is parsed.

A conversation sends its whole history with every call, so a body mostly starts with the very bytes of
the body before. Comparing bytes costs 5 us for 120 kB where parsing and hashing cost 500. What is
read this way equals what reading it whole gives (a test holds that on random conversations); where
anything is unusual, the whole is read.
"""

from __future__ import annotations

from typing import Any

import orjson

from lctl.instrument.codecs.model import Codec, ModelRequest
from lctl.instrument.forest import Node, Place
from lctl.instrument.prefix import Prefix, Reading

#: Bodies below this many bytes are read whole: that is faster.
SMALL = 1024
_MOST_PREFIXES = 24
_MOST_BYTES = 24_000_000
_PARTIAL_TRIES = 4


class Prefixes:
    """The last few distinct conversations of a chain, newest first (agents take turns)."""

    def __init__(self) -> None:
        self._kept: list[Prefix] = []

    def read(self, codec: Codec, operation: str, url: str, body: bytes) -> ModelRequest | None:
        """The request, with only the messages after a known prefix; None where there is none."""
        kept = self._kept
        if not kept:
            return None
        newest = kept[0]
        if len(kept) == 1 and newest.speaks(operation, url) and body.startswith(newest.view):
            base: Prefix | None = newest
            key, common = newest.key, newest.count
        else:
            found = codec.conversation_key(operation)
            base, common = self._find(codec, found, body)
            if found is None:
                return None
            key = found
        if base is None:
            return None
        at = base.ends[common - 1]
        try:
            document, items = _rest(base, common, body, at)
        except orjson.JSONDecodeError:
            return None
        if document is None:
            return None
        same = document is base.document
        nothing = same and not items and common == base.count
        request, led = None, False
        if same and base.request.operation == operation and base.url == url:
            if nothing and base.again is not None:
                return base.again
            request = base.extended(items)
        if request is None:
            request = codec.read_document(operation, url, {**document, key: items})
            if request.continues is not None:
                return None
            led = request.instructions
        request.known = base.places[common - 1]
        reading = Reading(codec, url, key, body, document if same else {**document, key: []}, base.start)
        reading.base, reading.common = base, common
        reading.adds_nothing = nothing
        request.read_from = reading
        reading.end = at
        if items and not reading.locate(at + 1, items, request):
            request.read_from = None
        if led:
            request.lead, request.messages = request.messages[0], request.messages[1:]
        if nothing and base.speaks(operation, url):
            base.again = request
        return request

    def _find(self, codec: Codec, key: str | None, body: bytes) -> tuple[Prefix | None, int]:
        found: Prefix | None = None
        most = size = 0
        for prefix in self._kept:
            if (
                prefix.size > size
                and prefix.codec is codec
                and prefix.key == key
                and body.startswith(prefix.view)
            ):
                found, most, size = prefix, prefix.count, prefix.size
        if found is not None:
            return found, most
        kept = [prefix for prefix in self._kept if prefix.codec is codec and prefix.key == key]
        for prefix in kept[:_PARTIAL_TRIES]:
            common = prefix.common(body)
            if common and prefix.ends[common - 1] > size:
                found, most, size = prefix, common, prefix.ends[common - 1]
        return found, most

    def remember(self, request: ModelRequest, leaf: Node) -> None:
        """A request was written that ends with `leaf`; read by `read`, or located."""
        reading = request.read_from
        if not isinstance(reading, Reading):
            return
        if reading.adds_nothing:
            self._use(reading)
            return
        places = []
        at = leaf.place
        for _ in range(len(request.messages) - (request.instructions and request.known is None)):
            places.append(at)
            at = at.parent or at
        places.reverse()
        self._keep(reading, request, places)

    def _use(self, reading: Reading) -> None:
        """The prefix that a request was read after goes to the front; the last ones are forgotten first."""
        base, kept = reading.base, self._kept
        if base is not None and kept[0] is not base:
            self._kept = [base, *(prefix for prefix in kept if prefix is not base)]

    def _keep(self, reading: Reading, request: ModelRequest, places: list[Place]) -> None:
        """Remember a request whose new messages are at `places`."""
        ends: list[int] = []
        known: list[Place] = []
        base, common = reading.base, reading.common
        if base is not None:
            if common == base.count == len(base.ends):  # gone on with: nobody else has
                ends, known = base.ends, base.places
            else:
                ends, known = base.ends[:common], base.places[:common]
        for end, count in reading.ends:
            ends.append(end)
            known.append(places[count - 1])
        if not ends:
            return
        kept = [prefix for prefix in self._kept if prefix is not base]
        if base is not None and common < base.count:
            kept.insert(0, base)  # a branch: the other one may go on as well
        kept.insert(0, Prefix(reading, request, ends, known))
        total = 0
        for n, prefix in enumerate(kept):
            total += prefix.size
            if n >= _MOST_PREFIXES or (n and total > _MOST_BYTES):
                del kept[n:]
                break
        self._kept = kept


def _rest(base: Prefix, common: int, body: bytes, at: int) -> tuple[dict[str, Any] | None, list[Any]]:
    """The document of `body`, its array emptied, and the elements of that after offset `at`."""
    tail = len(body) - len(base.tail)
    if tail >= at and body.endswith(base.tail):
        if tail == at:
            return base.document, []
        if body[at : at + 1] == b",":
            return base.document, orjson.loads(b"[" + body[at + 1 : tail] + b"]")
    after = body[at : at + 1]
    if after not in (b",", b"]"):
        return None, []
    document = orjson.loads(body[: base.start] + body[at + (after == b",") :])
    # What stands beside the array must be the same where it is a message too.
    for field in ("system", "instructions"):
        if document.get(field) != base.document.get(field):
            return None, []
    items = document.get(base.key)
    return (document, items) if isinstance(items, list) else (None, [])


def locate(
    codec: Codec, operation: str, url: str, body: bytes, document: dict[str, Any], request: ModelRequest
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
    reading = Reading(codec, url, key, body, {**document, key: []}, start)
    if not reading.locate(start, items, request):
        return
    # The mark may have been found inside something else; the array emptied, the rest must be the same.
    try:
        if orjson.loads(body[:start] + body[reading.end :]) == reading.document:
            request.read_from = reading
    except orjson.JSONDecodeError:
        pass
