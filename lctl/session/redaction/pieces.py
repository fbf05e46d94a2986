"""Bytes as JSON has them: what is text in them as text, so that redaction sees it; the rest in base64."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any, TypeAlias

#: A text (written in UTF-8), `{"base64": ...}`, or `{"utf-16-le": text}`.
Piece: TypeAlias = str | dict[str, str]

# Text becomes `a`, so that it is found as one run. Of bytes that mean something else, one in three thousand
# begins a run of eight; a name with its secret is longer.
_RUNS = bytes(97 if 32 <= n < 127 or n in b"\t\n\r" else 32 for n in range(256))
_RUN = b"a" * 8
_SPACE = re.compile(rb"\s")
#: Bytes of the shortest secret that is known by itself, and of one text that are looked through for such.
_WORD, _LOOKED_AT = 16, 4096
_WIDE = ("utf-16-le", "utf-16-be")


def pieces_of(value: bytes) -> list[Piece]:
    """`value` in pieces: one, if it is text; `bytes_of` gives it back."""
    try:
        return [value.decode()] if value else []
    except UnicodeDecodeError:
        return _wide(value) or _mixed(value)


def bytes_of(pieces: list[Any]) -> bytes:
    return b"".join(map(_bytes_of, pieces))


def fitted(clean: bytes, whole: bytes) -> bytes:
    """`clean` in as many bytes as `whole`, which it was before its secrets were taken out of it; that itself
    if there were none."""
    if clean == whole:
        return whole
    begin = _alike(clean, whole)
    end = _alike(clean[begin:][::-1], whole[begin:][::-1])
    room = len(whole) - begin - end
    return whole[:begin] + clean[begin : len(clean) - end][:room].ljust(room, b"*") + whole[begin + room :]


def _alike(one: bytes, other: bytes) -> int:
    """With how many bytes both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def delimited(text: bytes) -> Iterator[tuple[int, int]]:
    """Where words may be of which a byte before them says the length (protobuf), as if it were text."""
    for begin, size in enumerate(text[:_LOOKED_AT], 1):
        end = begin + size
        if end <= len(text) and size >= _WORD and not _SPACE.search(text, begin, end):
            yield begin, end


def _wide(value: bytes) -> list[Piece]:
    """UTF-16, which begins with its mark."""
    for form, mark in zip(_WIDE, (b"\xff\xfe", b"\xfe\xff"), strict=True):
        if value.startswith(mark):
            try:
                return [{form: value.decode(form)}]
            except UnicodeDecodeError:
                return []
    return []


def _mixed(value: bytes) -> list[Piece]:
    pieces: list[Piece] = []
    runs = value.translate(_RUNS)
    done, start = 0, runs.find(_RUN)
    while start >= 0:
        if done < start:
            pieces.append(_base64(value[done:start]))
        done = runs.find(b" ", start)
        if done < 0:
            done = len(value)
        pieces.append(value[start:done].decode())
        start = runs.find(_RUN, done)
    if done < len(value):
        pieces.append(_base64(value[done:]))
    return pieces


def _base64(value: bytes) -> dict[str, str]:
    return {"base64": b64encode(value).decode()}


def _bytes_of(piece: Any) -> bytes:
    if isinstance(piece, str):
        return piece.encode()
    [(form, said)] = piece.items()
    text: str = said
    return b64decode(text, validate=True) if form == "base64" else text.encode(form)
