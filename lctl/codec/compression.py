"""gzip and zstd, undone in memory up to a limit; a cut stream gives what it holds."""

from __future__ import annotations

import zlib

from lctl.codec.bytesource import Bytes
from lctl.errors import LogError, MissingExtra, NotALog

#: Most bytes a compressed log or a pipe may come to. Past it the reader is told to unpack it to disk.
LIMIT = 1 << 30

_GZIP = b"\x1f\x8b\x08"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BLOCK = 1 << 20


def is_compressed(head: bytes) -> bool:
    return head.startswith((_GZIP, _ZSTD))


def unpack(data: Bytes, name: str) -> tuple[bytes, bool]:
    """The bytes inside, and whether the compressed stream was whole.

    Raises:
        NotALog: the stream is damaged before its first byte of content.
        LogError: it comes to more than LIMIT.
        MissingExtra: zstd, and `zstandard` is not installed.
    """
    head = data.read(0, 4)
    return _gunzip(data, name) if head.startswith(_GZIP) else _unzstd(data, name)


def _gunzip(data: Bytes, name: str) -> tuple[bytes, bool]:
    out = bytearray()
    stream = zlib.decompressobj(wbits=31)
    offset = 0
    while block := data.read(offset, _BLOCK):
        offset += len(block)
        while block:
            try:
                out += stream.decompress(block, LIMIT + 1 - len(out))
            except zlib.error:
                return _partly(out, name, "gzip")
            _check(len(out), name, "gzip -dk")
            block = stream.unconsumed_tail
            if stream.eof:  # another member may follow, or padding
                block = stream.unused_data.lstrip(b"\0")
                if block:
                    stream = zlib.decompressobj(wbits=31)
    return bytes(out), stream.eof


def _unzstd(data: Bytes, name: str) -> tuple[bytes, bool]:
    try:
        import zstandard
    except ImportError:
        raise MissingExtra(f"{name}: reading zstd", "zstd") from None
    out = bytearray()
    stream = zstandard.ZstdDecompressor().decompressobj(read_across_frames=False)
    offset = 0
    while block := data.read(offset, _BLOCK >> 3):
        offset += len(block)
        while block:
            try:
                out += stream.decompress(block)
            except zstandard.ZstdError:
                return _partly(out, name, "zstd")
            _check(len(out), name, "zstd -dk")
            block = b""
            if stream.eof:
                block = stream.unused_data
                if block:
                    stream = zstandard.ZstdDecompressor().decompressobj(read_across_frames=False)
    return bytes(out), stream.eof


def _partly(out: bytearray, name: str, kind: str) -> tuple[bytes, bool]:
    if not out:
        raise NotALog(f"{name}: begins like {kind} but cannot be unpacked; the file is damaged")
    return bytes(out), False


def _check(size: int, name: str, command: str) -> None:
    if size > LIMIT:
        raise LogError(
            f"{name}: comes to more than {LIMIT >> 30} GiB unpacked; unpack it to a file first "
            f"({command} {name}), logs on disk are read at any size"
        )
