"""Events in chunks: up to 128 lines in one row, joined by line feeds, perhaps compressed.

A row for each event costs three to five times as much, in and out.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from lctl.codec.lines import SEQ
from lctl.errors import MissingExtra, RecordingError, StoreError

#: Events of a full chunk, and the bytes beyond which it holds fewer.
EVENTS = 128
BYTES = 1 << 20
#: Events of the widest chunk that any version of lctl wrote.
WIDEST = 256

PLAIN, ZSTD = 0, 1


class Chunk(NamedTuple):
    """Lines `first` to `last`; `form` says how `body` holds them."""

    first: int
    last: int
    form: int
    body: bytes


class Packing:
    """How a store writes chunks. `compress`: none or zstd."""

    _zstd: Any

    def __init__(self, compress: str = "none") -> None:
        if compress not in ("", "none", "zstd"):
            raise StoreError(f"compress={compress!r}: it is zstd or none")
        self._zstd = _zstandard() if compress == "zstd" else None
        self._own = threading.local()  # a compressor is for one thread

    def cut(self, first: int, lines: Sequence[bytes]) -> Iterator[Chunk]:
        """Chunks of these lines, the first of which is numbered `first`.

        Raises:
            RecordingError: they are not numbered so.
        """
        for n in range(0, len(lines), EVENTS):
            yield from self._chunks(first + n, lines[n : n + EVENTS])

    def _chunks(self, first: int, lines: Sequence[bytes]) -> Iterator[Chunk]:
        body = b"\n".join(lines)
        if len(body) > BYTES and len(lines) > 1:
            half = len(lines) // 2
            yield from self._chunks(first, lines[:half])
            yield from self._chunks(first + half, lines[half:])
            return
        last = first + len(lines) - 1
        if _seq(lines[0]) != first or _seq(lines[-1]) != last:
            raise RecordingError(
                f"these events are numbered {_seq(lines[0])} to {_seq(lines[-1])}, not {first} to {last}"
            )
        if self._zstd is None:
            yield Chunk(first, last, PLAIN, body)
        else:
            yield Chunk(first, last, ZSTD, self._compressor().compress(body))

    def _compressor(self) -> Any:
        made = getattr(self._own, "compressor", None)
        if made is None:
            made = self._own.compressor = self._zstd.ZstdCompressor(level=3)
        return made


def part(chunk: Chunk, start: int, stop: int) -> bytes:
    """The lines of a chunk with start <= seq < stop, joined by line feeds; b"" where it has none.

    Raises:
        MissingExtra: it is compressed, and `zstandard` is not installed.
        StoreError: it does not hold what it says.
    """
    first, last = max(start, chunk.first), min(stop - 1, chunk.last)
    if first > last:
        return b""
    text = _text(chunk)
    # Lines are not cut apart to find one among them: that costs as much as half of the decompression.
    begin = 0 if first == chunk.first else text.find(b'\n{"seq":%d,' % first) + 1
    end = len(text) if last == chunk.last else text.find(b'\n{"seq":%d,' % (last + 1))
    if end < 0 or (first > chunk.first and not begin):
        return _counted(chunk, text, first, last)
    found = text[begin:end]
    if found.count(b"\n") != last - first or _seq(found) != first:
        raise _damaged(chunk)
    return found


def _counted(chunk: Chunk, text: bytes, first: int, last: int) -> bytes:
    """As `part`, of lines that do not all begin with their seq."""
    lines = text.split(b"\n")
    if len(lines) != chunk.last - chunk.first + 1:
        raise _damaged(chunk)
    return b"\n".join(lines[first - chunk.first : last + 1 - chunk.first])


def _text(chunk: Chunk) -> bytes:
    if chunk.form == PLAIN:
        return chunk.body
    if chunk.form != ZSTD:
        raise StoreError(f"events {chunk.first} to {chunk.last} are in form {chunk.form}; upgrade lctl")
    zstandard = _zstandard()
    try:
        text: bytes = _decompressor().decompress(chunk.body)
    except zstandard.ZstdError:
        raise _damaged(chunk) from None
    return text


def _damaged(chunk: Chunk) -> StoreError:
    return StoreError(f"events {chunk.first} to {chunk.last} are damaged in the store")


def _seq(line: bytes) -> int:
    found = SEQ.match(line)
    return int(found[1]) if found else 0


_own = threading.local()


def _decompressor() -> Any:
    """One for each thread: making one costs as much as using it."""
    made = getattr(_own, "decompressor", None)
    if made is None:
        made = _own.decompressor = _zstandard().ZstdDecompressor()
    return made


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("a store with zstd", "zstd") from None
    return zstandard
