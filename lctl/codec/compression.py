"""gzip and zstd, undone in memory up to a limit; a cut or damaged stream gives what can be had of it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from lctl.codec.bytesource import Bytes
from lctl.errors import LogError, MissingExtra, NotALog

#: Most bytes a compressed log or a pipe may come to. Past it the reader is told to unpack it to disk.
LIMIT = 1 << 30

_GZIP = b"\x1f\x8b\x08"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BLOCK = 1 << 16

_CUT = "the compressed stream ends early"
_DAMAGED = "the compressed stream is damaged, what follows the damage is lost"
_CHECKSUM = "the checksum of the compressed stream does not match: something in it may be damaged"

#: What is said of a wrong checksum, and how many bytes of the member follow it then: gzip's length is four.
_CHECKS = {"incorrect data check": 4, "incorrect length check": 0, "match checksum": 0}


class _Kind(NamedTuple):
    """A way to compress: its name, its command, what undoes it, and with what that breaks off."""

    name: str
    command: str
    begin: Callable[[], Any]
    broken: type[Exception]


def is_compressed(head: bytes) -> bool:
    return head.startswith((_GZIP, _ZSTD))


def unpack(data: Bytes, name: str) -> tuple[bytes, str]:
    """The bytes inside, and what is wrong with the compressed stream, "" when nothing is.

    Raises:
        NotALog: the stream is cut or damaged before its first byte of content.
        LogError: it comes to more than LIMIT.
        MissingExtra: zstd, and `zstandard` is not installed.
    """
    kind = _gzip() if data.read(0, 4).startswith(_GZIP) else _zstd(name)
    out = bytearray()
    at, damage = 0, ""
    while at < data.size:  # one member after another, perhaps with padding between them
        at, found = _member(data, at, out, kind, name)
        damage = damage or found
        if found not in ("", _CHECKSUM):
            break
    if damage and not out:
        how = "ends before its content begins" if damage == _CUT else "cannot be unpacked"
        raise NotALog(f"{name}: begins like {kind.name} but {how}; the file is damaged")
    return bytes(out), damage


def _gzip() -> _Kind:
    return _Kind("gzip", "gzip -dk", lambda: zlib.decompressobj(wbits=31), zlib.error)


def _zstd(name: str) -> _Kind:
    try:
        import zstandard
    except ImportError:
        raise MissingExtra(f"{name}: reading zstd", "zstd") from None

    def begin() -> Any:
        return zstandard.ZstdDecompressor().decompressobj(read_across_frames=False)

    return _Kind("zstd", "zstd -dk", begin, zstandard.ZstdError)


def _member(data: Bytes, begin: int, out: bytearray, kind: _Kind, name: str) -> tuple[int, str]:
    """Appends to `out` what is in the member at `begin`; where the next one begins, and what is wrong."""
    stream = kind.begin()
    mark = len(out)
    at = begin
    slow = data.size  # from here on byte by byte
    while block := data.read(at, _BLOCK if at < slow else 1):
        try:
            out += stream.decompress(block)
        except kind.broken as error:
            if len(block) > 1:  # what the block gave before it broke is lost with it: once more, to that byte
                stream, slow, at = kind.begin(), at, begin
                del out[mark:]
                continue
            rest = next((rest for text, rest in _CHECKS.items() if text in str(error)), None)
            return (at, _DAMAGED) if rest is None else (at + 1 + rest, _CHECKSUM)
        if len(out) > LIMIT:
            raise LogError(
                f"{name}: comes to more than {LIMIT >> 30} GiB unpacked; unpack it to a file first "
                f"({kind.command} {name}), logs on disk are read at any size"
            )
        at += len(block)
        if stream.eof:
            return _padded(data, at - len(stream.unused_data)), ""
    return at, _CUT


def _padded(data: Bytes, at: int) -> int:
    while (block := data.read(at, _BLOCK)) and not block.strip(b"\0"):
        at += len(block)
    return at + len(block) - len(block.lstrip(b"\0"))
