"""Any seq is found without an index, and windows are exactly what a full read gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.codec import eventfile, open_log
from lctl.codec.bytesource import MemoryBytes
from lctl.codec.seeking import Disorder, find
from tests.seeds import tries
from tests.unit.codec.samples import closed, document, event, jsonl, lines, opened


def test_the_lines_in_one_piece(large: tuple[Path, list[bytes]]) -> None:
    """A reader of millions cuts them itself; logs that are not in order offer none."""
    path, rows = large
    for log in (open_log(path), open_log(path.read_bytes())):
        lent = log.buffer()
        assert lent is not None
        assert lent.data[lent.begin : lent.end].split(b",\n") == rows
    swapped = [event(1), event(3), event(2)]
    for raw in (closed(swapped), opened([]), document(swapped), closed([event(1)]).replace(b"\n", b"\r\n")):
        assert open_log(raw).buffer() is None


class Counting(MemoryBytes):
    """Memory that counts what is read of it."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.reads = 0
        self.bytes = 0

    def read(self, offset: int, size: int) -> bytes:
        part = super().read(offset, size)
        self.reads += 1
        self.bytes += len(part)
        return part


def starts(raw: bytes, seqs: list[int]) -> dict[int, int]:
    found, at = {}, 0
    for seq in seqs:
        at = raw.index(b'{"seq":%d,' % seq, at)
        found[seq] = at
    return found


SIZES = st.lists(st.sampled_from([0, 1, 30, 300, 3000, 9000, 30_000]), min_size=1, max_size=60)


@settings(max_examples=tries(150), deadline=None)
@given(SIZES, st.integers(1, 100_000), st.lists(st.integers(1, 50), min_size=60, max_size=60))
def test_find_is_a_search_of_the_list(sizes: list[int], first: int, steps: list[int]) -> None:
    """Whatever the lengths of lines and the gaps between numbers: the first line at or after a seq."""
    seqs = [first + sum(steps[:n]) for n in range(len(sizes))]
    raw = b",\n".join(lines([event(s, "x" * n) for s, n in zip(seqs, sizes, strict=True)]))
    at = starts(raw, seqs)
    data = MemoryBytes(raw)
    for seq in {*seqs, *(s + 1 for s in seqs), *(s - 1 for s in seqs), 0, seqs[-1] + 100}:
        expected = next((at[s] for s in seqs if s >= seq), len(raw))
        assert find(data, 0, len(raw), seqs[0], seqs[-1], seq) == expected


def test_one_of_many_takes_a_few_probes() -> None:
    """Logarithmic at worst, and nearly constant where lines differ as they do."""
    random = Random(7)
    count = 30_000
    raw = b",\n".join(lines([event(n, "x" * random.randrange(20, 600)) for n in range(1, count + 1)]))
    probes = []
    for _ in range(200):
        seq = random.randrange(1, count + 1)
        data = Counting(raw)
        at = find(data, 0, len(raw), 1, count, seq)
        assert raw[at:].startswith(b'{"seq":%d,' % seq)
        probes.append(data.reads)
    assert sorted(probes)[100] <= 4
    assert max(probes) <= 12


def test_lines_of_very_different_length_stay_logarithmic() -> None:
    """One line as long as a thousand others cannot make the search walk."""
    events = [event(n, "x" * (2_000_000 if n == 500 else 10)) for n in range(1, 20_001)]
    raw = b",\n".join(lines(events))
    for seq in (2, 499, 500, 501, 10_000, 19_999):
        data = Counting(raw)
        at = find(data, 0, len(raw), 1, 20_000, seq)
        assert raw[at : at + 20].startswith(b'{"seq":%d,' % seq)
        assert data.reads < 40


def test_a_line_start_inside_a_text_is_not_one() -> None:
    """A line feed inside a value is escaped, so what looks like an event in a text is never met."""
    events = [event(n, '\n{"seq":9,"type":"x"}' * 400) for n in range(1, 30)]
    log = open_log(closed(events))
    assert [log.event(n).seq for n in range(1, 30)] == list(range(1, 30))


def test_disorder_met_by_a_probe_is_said() -> None:
    """A number that cannot be where it is ends the search."""
    events = [event(n, "x" * 300) for n in [*range(1, 100), 5000, *range(101, 200)]]
    raw = b",\n".join(lines(events))
    with pytest.raises(Disorder):
        for seq in range(2, 199):
            find(MemoryBytes(raw), 0, len(raw), 1, 199, seq)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[bytes]]]:
    """A closed journal of 5,000 events on disk, and its lines."""
    random = Random(3)
    events = [event(n, "é" * random.randrange(400)) for n in range(1, 5001)]
    path = tmp_path_factory.mktemp("large") / "run.lctl.json"
    path.write_bytes(closed(events))
    yield path, lines(events)


@settings(max_examples=tries(100), deadline=None)
@given(start=st.integers(0, 5200), size=st.integers(0, 300))
def test_a_window_is_a_slice(large: tuple[Path, list[bytes]], start: int, size: int) -> None:
    """lines(a, b) is the slice of all lines, events(a, b) decodes it."""
    path, rows = large
    log = open_log(path)
    expected = rows[max(start, 1) - 1 : max(start + size - 1, 0)]
    assert list(log.lines(start, start + size)) == expected
    assert [e.to_dict() for e in log.events(start, start + size)] == [orjson.loads(r) for r in expected]


def test_every_form_by_lines_is_read_by_search(large: tuple[Path, list[bytes]]) -> None:
    """JSON Lines and open journals too, with and without carriage returns."""
    _, rows = large
    events = [orjson.loads(r) for r in rows]
    for raw in (opened(events), jsonl(events), jsonl(events, header=False)):
        for text in (raw, raw.replace(b"\n", b"\r\n")):
            log = open_log(text)
            assert list(log.lines(4000, 4003)) == rows[3999:4002]
            assert list(log.lines()) == rows
            assert log.line_of(10) == (10 if text.startswith(b'{"seq"') else 11)


def test_opening_a_closed_log_and_a_window_read_little() -> None:
    """The two ends, a few probes and the window; never the rest."""
    data = closed([event(n, "x" * 200) for n in range(1, 20_001)])
    from lctl.codec import forms

    counting = Counting(data)
    log = forms.read(counting, path=None, name="log")
    assert [e.seq for e in log.events(10_000, 10_100)] == list(range(10_000, 10_100))
    assert counting.bytes < 300_000


def test_a_log_that_is_cut_by_its_writer_while_it_is_read(tmp_path: Path) -> None:
    """Reopening a log takes its closing away under a reader: it gets what is there, and never crashes."""
    path = tmp_path / "run.lctl.json"
    raw = closed([event(n, "x" * 500) for n in range(1, 3000)])
    path.write_bytes(raw)
    log = open_log(path)
    rows = log.lines(1)
    assert orjson.loads(next(iter(rows)))["seq"] == 1
    with path.open("r+b") as file:
        file.truncate(len(raw) // 2)
    read = [e.seq for e in log.events()]
    assert read == list(range(1, len(read) + 1))
    assert 0 < len(read) < 2999
    assert log.tail is None


@given(st.lists(st.sampled_from([b'{"a":1}', b'{"b":",\\n"}', b""]), max_size=8), st.sampled_from(range(3)))
def test_blocks_are_split_into_bare_lines(rows: list[bytes], style: int) -> None:
    """Commas, line ends of both kinds and blank lines go; nothing else does."""
    sep = [b",\n", b"\n", b",\r\n"][style]
    assert eventfile.split(sep.join(rows)) == [row for row in rows if row]
