"""Content-encodings of response bodies, undone: gzip, deflate, br and zstd, as far as this process can."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, Protocol

from lctl.interrupts import let_through


def decode_chunks(chunks: Sequence[bytes], encoding: str) -> list[bytes] | None:
    """`chunks` with the content-encoding undone, each as far as it could be read when it came.

    None when this process cannot undo it (an encoding without its library; then the host could not
    either). A body cut short or damaged gives what came before the damage.
    """
    decoded: Iterable[bytes] = chunks
    for name in reversed([part.strip().lower() for part in encoding.split(",")]):
        if name in ("", "identity"):
            continue
        decompress = _decompressor(name)
        if decompress is None:
            return None
        decoded = _each(decompress, decoded)
    return list(decoded)


def decoder(encoding: str) -> Callable[[bytes], bytes]:
    """What undoes a content-encoding chunk by chunk; one nobody here can undo is left as it is."""
    names = [name for part in reversed(encoding.split(",")) if (name := part.strip().lower())]
    made = [_decompressor(name) for name in names if name != "identity"]
    if not made:
        return bytes

    def decode(chunk: bytes) -> bytes:
        for decompress in made:
            chunk = chunk if decompress is None else decompress(chunk)
        return chunk

    return decode


def damage(chunks: Iterable[bytes], encoding: str) -> Exception | None:
    """What whoever undoes the content-encoding is told of a damaged body."""
    decode = decoder(encoding)
    try:
        for chunk in chunks:
            decode(chunk)
    except Exception as error:
        let_through(error)
        return error
    return None


def _each(decompress: Callable[[bytes], bytes], chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        try:
            yield decompress(chunk)
        except Exception as error:  # each library has its own class of them; the host gets its own, too
            let_through(error)
            return


def _decompressor(name: str) -> Callable[[bytes], bytes] | None:
    if name in ("gzip", "x-gzip"):
        return _members(lambda: zlib.decompressobj(16 + zlib.MAX_WBITS))
    if name == "deflate":
        return _inflate()
    if name == "br":
        return _brotli()
    if name == "zstd":
        return _zstd()
    return None


def _inflate() -> Callable[[bytes], bytes]:
    """Servers send "deflate" with and without the zlib header."""
    state: dict[str, Any] = {}

    def decompress(chunk: bytes) -> bytes:
        if "stream" not in state:
            state["stream"] = zlib.decompressobj()
            try:
                return state["stream"].decompress(chunk)  # type: ignore[no-any-return]
            except zlib.error:
                state["stream"] = zlib.decompressobj(-zlib.MAX_WBITS)
        return state["stream"].decompress(chunk)  # type: ignore[no-any-return]

    return decompress


def _brotli() -> Callable[[bytes], bytes] | None:
    for module in ("brotli", "brotlicffi"):
        try:
            return __import__(module).Decompressor().process  # type: ignore[no-any-return]
        except ImportError:
            continue
    return None


def _zstd() -> Callable[[bytes], bytes] | None:
    try:
        import zstandard
    except ImportError:
        made = _standard_zstd()
        return None if made is None else _members(made)
    return _members(lambda: zstandard.ZstdDecompressor().decompressobj())


def _standard_zstd() -> Callable[[], _Decompressor] | None:
    """Python's own, from 3.14 on; httpx2, urllib3 and aiohttp ask for what brings it to older ones."""
    for module in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(module).ZstdDecompressor  # type: ignore[no-any-return]
        except ImportError:
            continue
    return None


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def _members(make: Callable[[], _Decompressor]) -> Callable[[bytes], bytes]:
    """A body may be several compressed ones, one behind the other (RFC 1952, 2.2; RFC 8878, 3.1): servers
    compress each piece that they send. What stands behind the last one and is no other is passed over."""
    current = make()
    is_over = begun = False

    def decompress(chunk: bytes) -> bytes:
        nonlocal current, is_over, begun
        made = b""
        while chunk and not is_over:
            if current.eof:
                current, begun = make(), True
            try:
                made += current.decompress(chunk)
            except Exception as error:
                let_through(error)
                if not begun:
                    raise
                is_over = True
                break
            chunk = current.unused_data if current.eof else b""
        return made

    return decompress


__all__ = ["damage", "decode_chunks", "decoder"]
