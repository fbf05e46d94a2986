"""What a client says over a WebSocket, of the frames in which it comes; and secrets in messages of bytes."""

from __future__ import annotations

import os
import zlib

import pytest

from lctl.session.concurrency.frames import BINARY, CLOSE, PING, TEXT, Frames, Heard, Said, Unreadable, framed
from lctl.session.redaction.redact import Redactor

LARGEST = 1 << 20


def _masked(first: int, data: bytes) -> bytes:
    mask, size = os.urandom(4), len(data)
    length = bytes((0x80 | size,)) if size < 126 else b"\xfe" + size.to_bytes(2)
    return bytes((first,)) + length + mask + bytes(b ^ mask[n % 4] for n, b in enumerate(data))


def test_messages_in_pieces_and_in_parts_with_a_ping_between() -> None:
    sent = _masked(0x01, b"hel") + _masked(0x89, b"p") + _masked(0x00, b"l") + _masked(0x80, b"o")
    sent += _masked(0x82, bytes(range(256))) + _masked(0x88, b"\x03\xe8bye")
    said = [
        Said(PING, b"p"),
        Said(TEXT, b"hello"),
        Said(BINARY, bytes(range(256))),
        Said(CLOSE, b"\x03\xe8bye"),
    ]
    for size in (1, 3, len(sent)):
        frames = Frames(LARGEST)
        pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
        assert [one for piece in pieces for one in frames.feed(piece)] == said


def test_compressed_messages_with_and_without_what_came_before() -> None:
    for takes_over in (True, False):
        frames, deflater = Frames(LARGEST), zlib.compressobj(wbits=-zlib.MAX_WBITS)
        for text in (b"hello hello hello", b"hello hello hello", b""):
            if not takes_over:
                deflater = zlib.compressobj(wbits=-zlib.MAX_WBITS)
            data = (deflater.compress(text) + deflater.flush(zlib.Z_SYNC_FLUSH)).removesuffix(b"\0\0\xff\xff")
            assert list(frames.feed(_masked(0xC1, data))) == [Said(TEXT, text)]


def test_what_is_too_large_or_no_frame_is_not_read() -> None:
    bomb = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    squeezed = bomb.compress(bytes(LARGEST + 1)) + bomb.flush(zlib.Z_SYNC_FLUSH)
    assert list(Frames(LARGEST).feed(framed(BINARY, bytes(LARGEST)))) == [Said(BINARY, bytes(LARGEST))]
    for sent in (
        framed(BINARY, bytes(LARGEST + 1)),
        _masked(0xC2, squeezed),
        b"\x81\x05hello",
        b"\x83\x80abcd",
    ):
        with pytest.raises(Unreadable):
            list(Frames(LARGEST).feed(sent))


def test_of_what_a_server_says_pings_are_heard() -> None:
    sent = b"\x82\x7e\x01\x00" + bytes(256) + b"\x89\x02ab" + b"\x81\x01x" + b"\x88\x02\x03\xe8"
    for size in (1, 7, len(sent)):
        heard = Heard()
        pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
        said = [one for piece in pieces for one in heard.feed(piece)]
        assert said == [Said(BINARY, b""), Said(PING, b"ab"), Said(TEXT, b""), Said(CLOSE, b"\x03\xe8")]


def test_secrets_in_messages_of_bytes_leave_them_as_long_as_they_were() -> None:
    for secret in (b"sk-proj-" + b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJ1234567", b"sk-" + b"aB3" * 16):
        for mark in (bytes((len(secret),)), b"\xff\x01"):  # as protobuf has it: its length may be a letter
            sent = b"\x0a\x10\xff\x12" + mark + secret + b"\x1a\x03abc\x00"
            clean = Redactor().message(sent)
            assert secret not in clean
            assert len(clean) == len(sent)
            assert clean.startswith(sent[: 4 + len(mark)])
            assert clean.endswith(b"\x1a\x03abc\x00")
    assert Redactor().message(b"\xff\x00nothing secret here") == b"\xff\x00nothing secret here"
