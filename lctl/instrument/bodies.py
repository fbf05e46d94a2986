"""Response bodies as an `exchange` event holds them, and back to the bytes an SDK would read.

The text of an answer stands in its `message` event. Storing it again inside the exchange would double
the log, so the stretches of the body that are a value of the message are cut out and referred to:

    "body": ["{\\"id\\":\\"x\\",\\"message\\":{\\"content\\":", {"$content": "m12"}, "}}"]

A cut is made only where the value, in one of the known JSON encodings, is found byte for byte in the
body; so `rebuild_body` gives the exact bytes back or the body is stored as it is. Bodies are kept with
their content-encoding undone.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from lctl.instrument.codecs.sse import DELTA

#: What `body` may be: text, `{"base64": ...}`, or a list of texts and `{"$content": id, ...}`.
Body = str | dict[str, str] | list[Any]

# A reference costs about 50 bytes of log; cutting less than this saves nothing.
_SHORTEST = 96
_DEEPEST = 6
_NEVER_CUT = frozenset({"message_id", "parent_id", "role", "status"})


# -- references to message content ---------------------------------------------------------


def _ascii(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _html(value: Any) -> bytes:
    text = orjson.dumps(value)
    return text.replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")


def _spaced(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _spaced_ascii(value: Any) -> bytes:
    return json.dumps(value).encode()


#: How servers write JSON: plain UTF-8 (most), ASCII (Python), HTML-safe (Go); objects also with spaces.
_TEXT_FORMS: dict[str, Callable[[Any], bytes]] = {"utf8": orjson.dumps, "ascii": _ascii, "html": _html}
_FORMS = _TEXT_FORMS | {"spaced": _spaced, "spaced_ascii": _spaced_ascii}


def store_body(body: bytes, messages: Mapping[str, Mapping[str, Any]]) -> Body:
    """`body` with every long value of `messages` ({message_id: data}) that it holds cut out."""
    if not body:
        return ""
    if len(messages) == 1:
        # Nearly every answer: one message, whose content is one text, as most servers write it.
        [(message_id, data)] = messages.items()
        plain = _cut_plain(body, message_id, data)
        if plain is not None:
            return plain
    pieces: list[Any] = [body]
    for message_id, data in messages.items():
        for path, value in _long_values(data, ()):
            pieces = _cut(pieces, message_id, path, value)
    try:
        texts = [piece.decode() if isinstance(piece, bytes) else piece for piece in pieces]
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}
    return texts[0] if len(texts) == 1 and isinstance(texts[0], str) else texts


def _cut_plain(body: bytes, message_id: str, data: Mapping[str, Any]) -> Body | None:
    content = data.get("content")
    if not isinstance(content, str) or len(content) + 2 < _SHORTEST:
        return None
    for value in data.values():
        kind = type(value)
        if (kind is list or kind is dict) and value:
            return None  # tool calls and the like may be cut, too
    try:
        before, found, after = body.partition(orjson.dumps(content))
        if not found:
            return None
        return [before.decode(), {"$content": message_id}, after.decode()]
    except (TypeError, ValueError):
        return None


def _cut(pieces: list[Any], message_id: str, path: tuple[Any, ...], value: Any) -> list[Any]:
    forms = _TEXT_FORMS if isinstance(value, str) else _FORMS
    for form, encode in forms.items():
        try:
            wanted = encode(value)
        except (TypeError, ValueError, UnicodeError):
            continue
        if len(wanted) < _SHORTEST or not any(isinstance(p, bytes) and wanted in p for p in pieces):
            continue
        reference: dict[str, Any] = {"$content": message_id}
        if path != ("content",):
            reference["at"] = list(path)
        if form != "utf8":
            reference["as"] = form
        return list(_replaced(pieces, wanted, reference))
    return pieces


def _replaced(pieces: list[Any], wanted: bytes, reference: dict[str, Any]) -> Iterator[Any]:
    for piece in pieces:
        if not isinstance(piece, bytes):
            yield piece
            continue
        for n, part in enumerate(piece.split(wanted)):
            if n:
                yield reference
            if part:
                yield part


def _long_values(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """(path, value) of each long string, and of each object that has no long string inside."""
    if isinstance(value, str):
        if len(value) + 2 >= _SHORTEST:
            yield path, value
    elif len(path) < _DEEPEST and isinstance(value, dict):
        if path and path[-1] in ("input", "arguments"):
            yield path, value  # a tool call's arguments, which Anthropic sends as an object
        else:
            for key, inner in value.items():
                if key not in _NEVER_CUT:
                    yield from _long_values(inner, (*path, key))
    elif len(path) < _DEEPEST and isinstance(value, list):
        for n, inner in enumerate(value):
            yield from _long_values(inner, (*path, n))


def rebuild_body(
    exchange: Mapping[str, Any],
    messages: Mapping[str, Mapping[str, Any]],
    blobs: Mapping[str, Mapping[str, Any]] | None = None,
) -> bytes:
    """The bytes of the response body that `exchange` (its `data`) recorded, content-encoding undone.

    Args:
        exchange: data of an `exchange` event.
        messages: data of the `message` events its body refers to, by message id.
        blobs: data of the `blob` events, by hash.

    Raises:
        KeyError: a message or blob referred to is missing.
    """
    if "chunks" in exchange:
        return b"".join(chunk for _, chunk in rebuild_chunks(exchange))
    body = exchange.get("body", "")
    if isinstance(body, dict) and "blob" in body:
        blob = (blobs or {})[body["blob"]]
        content = str(blob["content"])
        return base64.b64decode(content) if blob.get("encoding") == "base64" else content.encode()
    return _bytes_of(body, messages)


def rebuild_chunks(exchange: Mapping[str, Any]) -> list[tuple[float, bytes]]:
    """(milliseconds since the request, bytes) of each chunk of a recorded stream."""
    before, after = exchange.get("around") or ("", "")
    return [
        (ms, _bytes_of(before + text[0] + after if isinstance(text, list) else text, {}))
        for ms, text in exchange.get("chunks", ())
    ]


def _bytes_of(body: Any, messages: Mapping[str, Mapping[str, Any]]) -> bytes:
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, dict):
        return base64.b64decode(body["base64"])
    return b"".join(
        [piece.encode() if isinstance(piece, str) else _referred(piece, messages) for piece in body or ()]
    )


def _referred(reference: Mapping[str, Any], messages: Mapping[str, Mapping[str, Any]]) -> bytes:
    value: Any = messages[reference["$content"]]
    for key in reference.get("at", ("content",)):
        value = value[key]
    return _FORMS[reference.get("as", "utf8")](value)


def store_chunks(times: Sequence[float], chunks: Sequence[bytes]) -> dict[str, Any]:
    """The fields of an `exchange` that hold a stream, as `rebuild_chunks` takes them.

    `chunks` is `[ms, text]` of each chunk; `[ms, [text]]` where what is in `around` stands before and after.
    Only at a delta's text is a chunk cut: between a secret's name and its value redaction must see both.
    """
    try:
        before, after = _around(chunks)
        if not before:
            return {"chunks": [[ms, chunk.decode()] for ms, chunk in zip(times, chunks, strict=False)]}
        stored: list[list[Any]] = []
        start, least, end = len(before), len(before) + len(after), -len(after)
        for ms, chunk in zip(times, chunks, strict=False):
            if chunk.startswith(before) and chunk.endswith(after) and len(chunk) >= least:
                stored.append([ms, [chunk[start:end].decode()]])
            else:
                stored.append([ms, chunk.decode()])
        return {"around": [before.decode(), after.decode()], "chunks": stored}
    except UnicodeDecodeError:
        return {"chunks": [[ms, store_chunk(chunk)] for ms, chunk in zip(times, chunks, strict=False)]}


def _around(chunks: Sequence[bytes]) -> tuple[bytes, bytes]:
    """What most chunks begin and end with, by the look of one of them; empty if that would save little."""
    if len(chunks) < 6:
        return b"", b""
    sample = chunks[len(chunks) // 2]
    found = DELTA.search(sample)
    if found is None:
        return b"", b""
    return sample[: found.end()], sample[sample.index(b'"', found.end()) :]


def store_chunk(chunk: bytes) -> str | dict[str, str]:
    """One chunk of a stream: text, or base64 where the network cut a character in two."""
    try:
        return chunk.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(chunk).decode()}


__all__ = [
    "Body",
    "rebuild_body",
    "rebuild_chunks",
    "store_body",
    "store_chunk",
    "store_chunks",
]
