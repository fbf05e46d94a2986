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


def lines_of(chunk: Chunk) -> list[bytes]:
    """The lines of a chunk.

    Raises:
        MissingExtra: it is compressed, and `zstandard` is not installed.
        StoreError: it does not hold what it says.
    """
    lines = _text(chunk).split(b"\n")
    if len(lines) != chunk.last - chunk.first + 1:
        raise _damaged(chunk)
    return lines


def within(chunk: Chunk, start: int, stop: int) -> list[bytes]:
    """Lines of a chunk with start <= seq < stop. Raises as `lines_of`."""
    if stop <= chunk.first or start > chunk.last:
        return []
    text, count = _text(chunk), chunk.last - chunk.first + 1
    before, after = max(start - chunk.first, 0), max(chunk.last + 1 - stop, 0)
    if before and not after:  # lines that are not wanted are not cut apart: that is half of the work
        lines = text.rsplit(b"\n", count - before)[1:]
    else:
        lines = text.split(b"\n", count - after)[before : count - after]
    # Their own numbers tell as much as counting all would, in a fifth of a decompression less.
    first, last = chunk.first + before, chunk.last - after
    if len(lines) != last - first + 1 or _seq(lines[0]) != first or _seq(lines[-1]) != last:
        raise _damaged(chunk)
    return lines


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
