"""What chunks hold comes out of them, in any part; what is damaged is said to be."""

from __future__ import annotations

import pytest

from lctl.errors import StoreError
from lctl.stores.chunks import PLAIN, Chunk, Packing, part
from lctl.stores.contract import ChainStore
from lctl.stores.source import log_of

LINES = [b'{"seq":%d,"type":"t","data":{"text":"{\\"seq\\":%d,"}}' % (seq, seq + 1) for seq in range(11, 31)]


@pytest.mark.parametrize("compress", ["none", "zstd"])
def test_any_part_of_a_chunk(compress: str) -> None:
    """Bounds beyond its ends are harmless; text that looks like the next line is not taken for it."""
    (chunk,) = Packing(compress).cut(11, LINES)
    for start in range(9, 33):
        for stop in range(start, 33):
            assert part(chunk, start, stop) == b"\n".join(LINES[max(start - 11, 0) : max(stop - 11, 0)])


def test_lines_that_do_not_begin_with_their_seq() -> None:
    """Are found by their place among the others."""
    lines = [LINES[0], b'{"type":"t","seq":12}', b'{"type":"t","seq":13}', *LINES[3:]]
    (chunk,) = Packing().cut(11, lines)
    for start, stop in [(11, 31), (12, 13), (12, 20), (11, 13), (13, 31)]:
        assert part(chunk, start, stop).split(b"\n") == lines[start - 11 : stop - 11]


@pytest.mark.parametrize(
    "body",
    [b"", b"\n".join(LINES[1:]), b"\n".join(LINES[:-1]), b"\n".join([*LINES, LINES[0]]), b"nothing"],
)
def test_a_damaged_chunk_is_said_to_be(body: bytes) -> None:
    """Whole, or where it is asked for a part that is not there."""
    with pytest.raises(StoreError, match="events 11 to 30 are damaged"):
        part(Chunk(11, 30, PLAIN, body), 11, 31)
    with pytest.raises(StoreError, match="events 11 to 30 are damaged"):
        part(Chunk(11, 30, 1, body), 12, 20)


def test_events_of_a_long_chain(store: ChainStore) -> None:
    """More of them than are fetched at once, from within a chunk to within another."""
    store.begin({"id": "run"})
    lines = [b'{"seq":%d,"type":"t","timestamp":"","agent":"","data":{}}' % seq for seq in range(1, 9_001)]
    store.append("run", 1, lines)
    log = log_of(store, store.entry("run"))
    for start, stop in [(0, None), (77, 8_999), (130, 4_300), (4_097, 4_098), (8_990, 9_500)]:
        wanted = list(range(max(start, 1), min(stop or 9_001, 9_001)))
        assert [event.seq for event in log.events(start, stop)] == wanted
        assert list(log.lines(start, stop)) == [lines[seq - 1] for seq in wanted]
