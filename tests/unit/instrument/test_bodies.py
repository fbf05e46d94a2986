"""Bodies: cut out what the messages hold, and rebuild the exact bytes."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.instrument.bodies import (
    rebuild_body,
    rebuild_chunks,
    store_body,
    store_chunk,
    store_chunks,
)
from lctl.instrument.encodings import decode_chunks

LONG = 'The quick brown fox, "quoted" <b>&amp;</b> ünïcödé \n\\ 語 ' * 4

WRITERS: list[Callable[[Any], bytes]] = [
    orjson.dumps,
    lambda value: json.dumps(value).encode(),
    lambda value: json.dumps(value, ensure_ascii=False, indent=2).encode(),
    lambda value: json.dumps(value, separators=(",", ":")).encode(),
    lambda value: (
        orjson.dumps(value).replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")
    ),
]


def logged(value: Any) -> Any:
    """As it would be read back from the log."""
    return orjson.loads(orjson.dumps(value))


@pytest.mark.parametrize("write", WRITERS)
def test_text_is_stored_once(write: Callable[[Any], bytes]) -> None:
    """However the server writes JSON, the answer's text is not in the stored body."""
    body = write(
        {"id": "x", "choices": [{"message": {"role": "assistant", "content": LONG}}], "usage": {"n": 1}}
    )
    message = {"message_id": "m2", "role": "assistant", "content": LONG}
    stored = store_body(body, {"m2": message})
    assert isinstance(stored, list)
    assert "quick brown" not in json.dumps(stored)
    assert rebuild_body({"body": logged(stored)}, {"m2": logged(message)}) == body


@pytest.mark.parametrize("write", WRITERS)
def test_tool_arguments_blocks_and_siblings(write: Callable[[Any], bytes]) -> None:
    """Arguments (text or object), content blocks and several messages are all referred to."""
    arguments = {"city": "Rome", "why": LONG}
    one = {
        "message_id": "m1",
        "content": [{"type": "text", "text": LONG}, {"type": "tool_use", "input": arguments}],
    }
    two = {
        "message_id": "m2",
        "content": None,
        "tool_calls": [{"function": {"arguments": json.dumps(arguments)}}],
    }
    body = write({"a": one["content"], "b": two["tool_calls"]})
    stored = store_body(body, {"m1": one, "m2": two})
    assert rebuild_body({"body": logged(stored)}, {"m1": one, "m2": two}) == body
    if write is not WRITERS[2]:  # objects written with line breaks are left as they are
        assert len(json.dumps(stored)) < len(body) / 2


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), min_size=60, max_size=400),
    around=JSON,
    arguments=st.dictionaries(st.text(max_size=8), JSON, max_size=3),
    write=st.sampled_from(WRITERS),
    repeat=st.integers(0, 3),
)
def test_any_body_is_rebuilt(
    text: str, around: Any, arguments: Any, write: Callable[[Any], bytes], repeat: int
) -> None:
    """rebuild_body(store_body(body)) is the body, byte for byte, whatever is in it."""
    message = {"message_id": "m7", "content": text, "tool_calls": [{"input": arguments, "name": text}]}
    body = write({"x": around, "message": message, "again": [text] * repeat, "last": around})
    stored = store_body(body, {"m7": message})
    assert rebuild_body({"body": logged(stored)}, {"m7": logged(message)}) == body


@given(st.binary(max_size=300))
def test_any_bytes_are_rebuilt(body: bytes) -> None:
    """Bodies that are no text are kept in base64."""
    assert rebuild_body({"body": logged(store_body(body, {}))}, {}) == body
    assert rebuild_chunks({"chunks": [[1.0, logged(store_chunk(body))]]}) == [(1.0, body)]


def test_stream_bodies() -> None:
    """A stream's chunks rebuild with their times, and joined."""
    exchange = {"chunks": [[0.5, "data: a\n\n"], [1.5, {"base64": "w6Q="}]]}
    assert rebuild_chunks(exchange) == [(0.5, b"data: a\n\n"), (1.5, "ä".encode())]
    assert rebuild_body(exchange, {}) == "data: a\n\nä".encode()


@given(
    st.lists(st.text(max_size=12), min_size=0, max_size=20),
    st.sampled_from(["content", "text", "password"]),
    st.lists(st.binary(max_size=40), max_size=3),
)
def test_streams_of_like_chunks_are_rebuilt(texts: list[str], key: str, others: list[bytes]) -> None:
    """What stands around every delta is stored once, and each chunk comes back to the byte."""
    chunks = [b"data: " + json.dumps({"id": "r", "d": {key: t}, "n": "x"}).encode() + b"\n\n" for t in texts]
    chunks += others
    times = [float(n) for n in range(len(chunks))]
    stored = logged(store_chunks(times, chunks))
    assert rebuild_chunks(stored) == list(zip(times, chunks, strict=True))
    assert rebuild_body(stored, {}) == b"".join(chunks)


def test_a_delta_is_not_cut_from_the_name_of_a_secret() -> None:
    """Redaction sees names and values only where they stand in one text."""
    chunk = b'data: {"password": "hunter%d", "id": "r"}\n\n'
    assert "around" not in store_chunks([1.0] * 9, [chunk % n for n in range(9)])
    chunk = b'data: {"id": "r", "content": "word%d"}\n\n'
    stored = store_chunks([1.0] * 9, [chunk % n for n in range(9)])
    assert stored["around"] == ['data: {"id": "r", "content": "', '"}\n\n']
    assert stored["chunks"][3] == [1.0, ["word3"]]


class TestEncodings:
    @pytest.mark.parametrize("name", ["gzip", "deflate", "raw deflate", "br", "zstd"])
    def test_decoded_as_far_as_each_chunk_allows(self, name: str) -> None:
        """Chunks are decoded one by one; joined they are the body."""
        plain = json.dumps({"text": LONG}).encode()
        packed = pack(name, plain)
        chunks = [packed[n : n + 20] for n in range(0, len(packed), 20)]
        decoded = decode_chunks(chunks, name.split()[-1])
        assert decoded is not None
        assert len(decoded) == len(chunks)
        assert b"".join(decoded) == plain

    def test_stacked(self) -> None:
        """Two encodings are undone in reverse order."""
        packed = gzip.compress(zlib.compress(b"body"))
        assert decode_chunks([packed], "deflate, gzip") == [b"body"]

    @pytest.mark.parametrize("name", ["gzip", "zstd"])
    @pytest.mark.parametrize("size", [1, 20, 1 << 20])
    def test_several_one_behind_the_other(self, name: str, size: int) -> None:
        """As servers send that compress piece by piece; clients read them all, and pass over what is none."""
        plain = json.dumps({"text": LONG}).encode()
        packed = b"".join(pack(name, piece) for piece in (plain[:90], plain[90:200], plain[200:]))
        for body in (packed, packed + b"\0\0\0\0\0"):
            decoded = decode_chunks([body[n : n + size] for n in range(0, len(body), size)], name)
            assert decoded is not None
            assert b"".join(decoded) == plain

    def test_zstd_by_the_library_that_clients_bring(self, monkeypatch: pytest.MonkeyPatch) -> None:
        zstd = pytest.importorskip("backports.zstd")
        monkeypatch.setitem(sys.modules, "zstandard", None)
        packed = zstd.compress(b"one ") + zstd.compress(b"two")
        assert decode_chunks([packed[:9], packed[9:]], "zstd") == [b"", b"one two"]

    def test_cut_and_damaged(self) -> None:
        """What came before the damage is kept."""
        packed = gzip.compress(LONG.encode() * 50)
        part = decode_chunks([packed[:200]], "gzip")
        assert part and part[0].startswith(b"The quick")
        assert decode_chunks([b"not gzip at all"], "gzip") == []

    def test_unknown(self) -> None:
        """An encoding nobody here can undo is said to be so."""
        assert decode_chunks([b"x"], "snappy") is None


def pack(name: str, body: bytes) -> bytes:
    if name == "gzip":
        return gzip.compress(body)
    if name == "deflate":
        return zlib.compress(body)
    if name == "raw deflate":
        return zlib.compress(body)[2:-4]
    if name == "br":
        return pytest.importorskip("brotli").compress(body)  # type: ignore[no-any-return]
    return pytest.importorskip("zstandard").compress(body)  # type: ignore[no-any-return]
