"""A log cut anywhere opens and holds every event that was whole."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random

import orjson
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from lctl.codec import open_log
from lctl.codec.journal import scan_end
from lctl.errors import LctlError, NotALog
from tests.unit.codec.samples import SPEC_EVENTS, closed, document, event, head, jsonl, lines, opened


def ends_of_lines(raw: bytes, events: list[dict[str, object]]) -> list[int]:
    """Offset after the last byte of each event, wherever it stands in `raw`."""
    ends, at = [], 0
    for row in lines(events):
        at = raw.index(row, at) + len(row)
        ends.append(at)
    return ends


TRICKY = [
    *SPEC_EVENTS,
    {**event(7, '],"state":{}} {"seq":99,"type":"x"},\n\u2028 " \\ {[')},
    {**event(8, "é" * 50), "zone": [{"a": "]}"}, {}]},
    {**event(9), "data": {}},
]


@pytest.mark.parametrize("make", [closed, opened], ids=["closed", "open"])
def test_a_journal_cut_at_every_byte_opens_with_every_whole_event(make: Callable[..., bytes]) -> None:
    """From the first byte on; what is missing is said, and nothing that was whole is."""
    raw = make(TRICKY)
    ends = ends_of_lines(raw, TRICKY)
    for cut in range(1, len(raw)):
        log = open_log(raw[:cut])
        whole = sum(1 for end in ends if end <= cut)
        assert [e.to_dict() for e in log.events()] == TRICKY[:whole], cut
        assert len(log) == whole
        closes = len(raw) - 1  # the last line end means nothing
        if cut < closes:
            assert log.recovered is not None, cut
            assert log.recovered.events == whole
            assert log.open
        assert log.problems == [], cut


def test_json_lines_cut_at_every_byte() -> None:
    """The same of JSON Lines: what stands whole on its line is read."""
    raw = jsonl(TRICKY)
    ends = ends_of_lines(raw, TRICKY)
    first = raw.index(b"\n")
    for cut in range(first, len(raw)):
        log = open_log(raw[:cut])
        assert [e.to_dict() for e in log.events()] == TRICKY[: sum(1 for end in ends if end <= cut)], cut


@pytest.mark.parametrize("indent", [None, 2], ids=["one line", "pretty"])
def test_a_json_document_cut_at_every_byte(indent: int | None) -> None:
    """A document that does not parse any more gives its whole events one by one."""
    raw = document(TRICKY, indent)
    complete = 0
    for cut in range(raw.index(b'"events"'), len(raw)):
        log = open_log(raw[:cut])
        assert [e.to_dict() for e in log.events()] == TRICKY[: len(log)], cut
        assert len(log) >= complete, "an event that was read is not lost by reading further"
        complete = len(log)
        assert log.recovered is not None
    assert complete == len(TRICKY)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_compressed_log_cut_anywhere_gives_a_beginning(pack: Callable[[bytes], bytes]) -> None:
    """Whatever came out of the stream is read as any cut log; else one clear error."""
    noise = Random(1)
    packed = pack(closed([event(n, noise.randbytes(500).hex()) for n in range(1, 600)]))
    longest = 0
    for cut in range(1, len(packed), 4999):
        try:
            log = open_log(packed[:cut])
        except LctlError as error:
            assert "\n" not in str(error)
            continue
        assert [e.seq for e in log.events()] == list(range(1, len(log) + 1))
        assert log.recovered is not None
        longest = max(longest, len(log))
    assert longest > 0


def _flipped(packed: bytes, at: int) -> bytes:
    return packed[:at] + bytes([packed[at] ^ 1]) + packed[at + 1 :]


CHECKSUM = "the checksum of the compressed stream does not match: something in it may be damaged"


@pytest.mark.parametrize(
    ("packed", "at"),
    [
        (gzip.compress, -6),
        (gzip.compress, -2),
        (zstandard.ZstdCompressor(write_checksum=True).compress, -2),
    ],
    ids=["gzip", "gzip length", "zstd"],
)
def test_a_wrong_checksum_costs_nothing(packed: Callable[[bytes], bytes], at: int) -> None:
    """All that was unpacked is read, and so is what follows in the file."""
    first, second = opened(TRICKY)[:300], opened(TRICKY)[300:]
    log = open_log(_flipped(packed(first), at + len(packed(first))) + packed(second))
    assert [e.to_dict() for e in log.events()] == TRICKY
    assert str(log.recovered) == f"recovered: {len(TRICKY)} events, {CHECKSUM}"


def test_damage_in_a_compressed_log_costs_what_follows_it() -> None:
    """However large the block is in which the damage is found."""
    noise = Random(1)
    whole = closed([event(n, noise.randbytes(50).hex()) for n in range(1, 200)])
    stream = zlib.compressobj(wbits=31)
    begun = stream.compress(whole[:-2000]) + stream.flush(zlib.Z_FULL_FLUSH)
    broken = b"\x00\x05\x00\x00\x00"  # bytes as they are, whose two lengths do not go together
    log = open_log(begun + broken + gzip.compress(whole))
    assert len(log) > 180
    assert [e.seq for e in log.events()] == list(range(1, len(log) + 1))
    assert str(log.recovered).endswith("the compressed stream is damaged, what follows the damage is lost")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_compressed_log_cut_before_its_content_is_not_called_empty(pack: Callable[[bytes], bytes]) -> None:
    """Something was recorded, and is lost."""
    with pytest.raises(NotALog, match="ends before its content begins; the file is damaged"):
        open_log(pack(closed(TRICKY))[:14])


@pytest.mark.parametrize("between", [b", ", b",\n", b",\n  "])
@pytest.mark.parametrize("compact", [False, True])
def test_a_bare_list_cut_anywhere_gives_every_whole_event(between: bytes, compact: bool) -> None:
    """However it is laid out; whole it is read whole."""
    rows = [orjson.dumps(e) if compact else json.dumps(e).encode() for e in TRICKY]
    raw = b"[" + between.join(rows) + b"\n]"
    assert [e.to_dict() for e in open_log(raw).events()] == TRICKY
    for cut in range(len(raw) - 3, len(rows[0]), -7):
        log = open_log(raw[:cut])
        assert [e.to_dict() for e in log.events()] == TRICKY[: len(log)]
        assert str(log.recovered).endswith("the rest cannot be read")
        assert len(log) == sum(raw.index(row) + len(row) <= cut for row in rows)


@given(st.integers(1, 4000), st.integers(0, 40))
def test_nuls_at_the_end_are_passed_over(nuls: int, cut: int) -> None:
    """A crash of the machine may leave blocks of NULs behind the last write."""
    raw = closed(TRICKY)
    log = open_log(raw + b"\0" * nuls)
    assert len(log) == len(TRICKY)
    assert str(log.recovered) == "recovered: 9 events, NUL bytes at its end"
    torn = opened(TRICKY)
    short = open_log(torn[: len(torn) - cut] + b"\0" * nuls)
    assert [e.to_dict() for e in short.events()] == TRICKY[: len(short)]
    assert len(short) == (9 if cut == 0 else 8)


def test_nuls_in_the_middle_cost_only_their_line() -> None:
    """A lost block inside the file takes its line, and the next lines are read."""
    raw = opened([event(n) for n in range(1, 6)])
    at = raw.index(b'"seq":3') + 9
    log = open_log(raw[:at] + b"\0" * 20 + raw[at + 20 :])
    assert [e.seq for e in log.events()] == [1, 2, 4, 5]
    assert [str(p) for p in log.problems] == [
        "line 4: not JSON; left out",
        "line 5, event 4: event 3 is missing before it",
    ]


def test_a_cut_yaml_log_gives_the_events_before_the_cut() -> None:
    """The last event of a YAML log that ends in the middle of one is left out."""
    yaml = pytest.importorskip("yaml")
    raw = yaml.safe_dump({"lctl": "4.0", "chain": {"id": "x"}, "events": SPEC_EVENTS}, sort_keys=False)
    log = open_log(raw[: raw.index("grep") + 30].encode())
    assert [e.to_dict() for e in log.events(1, 3)] == SPEC_EVENTS[:2]
    flow = b'lctl: "4.0"\nchain: {id: x}\nevents:\n- {seq: 1, type: x, data: {a: 1}}\n- {seq: 2, type: x, da'
    log = open_log(flow)
    assert [e.seq for e in log.events()] == [1]
    assert str(log.recovered) == "recovered: 1 event, last event incomplete"


def test_the_writer_finds_where_to_go_on_after_every_cut(tmp_path: Path) -> None:
    """Cut at `events_end` and appended to, the journal is whole again, wherever it was cut."""
    path = tmp_path / "run.lctl.json"
    raw = closed(TRICKY)
    ends = ends_of_lines(raw, TRICKY)
    path.write_bytes(raw)
    for cut in range(len(raw), 0, -1):
        with path.open("r+b") as file:
            file.truncate(cut)
            end = scan_end(file.fileno(), str(path))
        whole = sum(1 for e in ends if e <= cut)
        assert end.last_seq == whole, cut
        assert (end.tail_at is not None) == (cut >= len(raw) - 1)
        if end.events_end == 0:
            assert cut < len(head())
            continue
        new = event(whole + 1, "after")
        appended = raw[: end.events_end] + (b",\n" if whole else b"\n") + orjson.dumps(new)
        log = open_log(appended)
        assert [e.to_dict() for e in log.events()] == [*TRICKY[:whole], new]
        assert log.problems == []
