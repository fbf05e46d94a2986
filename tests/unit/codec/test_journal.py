"""Where things are in a journal, and the hash of its events."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.codec.hashing import RollingHash
from lctl.codec.journal import JournalEnd
from lctl.codec.journal import scan_end as scan_open
from lctl.errors import NotALog
from lctl.record.journal import JournalStore
from tests.unit.codec.samples import CHAIN, SPEC_EVENTS, closed, document, event, head, jsonl, lines, opened


def scan_end(path: Path) -> JournalEnd:
    with path.open("rb") as file:
        return scan_open(file.fileno(), str(path))


def test_the_ends_of_a_closed_and_of_an_open_journal(tmp_path: Path) -> None:
    """Where the events end is where the next one goes; the tail begins there in a closed one."""
    path = tmp_path / "run.lctl.json"
    path.write_bytes(closed(SPEC_EVENTS))
    end = scan_end(path)
    assert (end.chain, end.last_seq, end.torn) == (CHAIN, 6, False)
    assert end.tail_at == end.events_end == len(opened(SPEC_EVENTS))
    for written in (b"", b",\n", b","):
        path.write_bytes(opened(SPEC_EVENTS) + written)
        assert scan_end(path) == (CHAIN, len(head()) + 1, 1, 6, len(opened(SPEC_EVENTS)), False, None)


def test_a_journal_without_events(tmp_path: Path) -> None:
    """The first event's line end goes right after the header's bracket."""
    path = tmp_path / "run.lctl.json"
    for rest in (b"", b"\n", b"\n]}\n", b'\n],"hash":{}}\n', b'\n{"se', b'\n{"seq":1,"typ'):
        path.write_bytes(head() + rest)
        end = scan_end(path)
        assert (end.last_seq, end.events_end) == (0, len(head()))
        assert end.torn == rest.startswith(b"\n{")
    path.write_bytes(head()[:20])
    assert scan_end(path) == ({}, 0, 0, 0, 0, True, None)


def test_a_tail_longer_than_one_read(tmp_path: Path) -> None:
    """Its length does not matter, with our seal or without, whole or cut."""
    path = tmp_path / "run.lctl.json"
    state = {"facts": {f"F{n}": {"text": "x" * 90} for n in range(3000)}}
    raw = closed(SPEC_EVENTS, {"state": state})
    path.write_bytes(raw)
    assert scan_end(path).tail_at == len(opened(SPEC_EVENTS))
    unsealed = raw[: raw.rindex(b',"hash"')] + b"}\n"
    path.write_bytes(unsealed)
    assert scan_end(path).tail_at == len(opened(SPEC_EVENTS))
    path.write_bytes(raw[:-200_000])
    end = scan_end(path)
    assert (end.tail_at, end.torn, end.events_end) == (None, True, len(opened(SPEC_EVENTS)))


def test_a_long_header_and_a_long_last_line(tmp_path: Path) -> None:
    """Neither is bounded by what one read takes."""
    path = tmp_path / "run.lctl.json"
    chain = {"id": "x", "note": "y" * 300_000}
    path.write_bytes(opened([event(1), event(2, "z" * 300_000)], chain=chain))
    end = scan_end(path)
    assert (end.chain, end.last_seq, end.torn) == (chain, 2, False)


@pytest.mark.parametrize(
    "raw",
    [
        document(SPEC_EVENTS),
        document(SPEC_EVENTS, 2),
        jsonl(SPEC_EVENTS),
        b"",
        b"x",
        opened(SPEC_EVENTS).replace(b"\n", b"\r\n"),
        opened(SPEC_EVENTS).replace(b"[\n", b"[\n\n", 1),
    ],
)
def test_what_is_no_journal_cannot_be_appended_to(raw: bytes, tmp_path: Path) -> None:
    """The message gives the command that makes one of it."""
    path = tmp_path / "x.json"
    path.write_bytes(raw)
    with pytest.raises(NotALog, match=r"lctl convert .*x\.json --to json"):
        scan_end(path)


def test_the_hash_of_a_journal_is_that_of_its_lines(tmp_path: Path) -> None:
    """By line, by block and from the file: one definition."""
    events = [event(n, "x" * (n % 50)) for n in range(1, 9000)]
    rows = lines(events)
    by_line = RollingHash()
    for row in rows:
        by_line.update(row)
    assert by_line.hexdigest() == hashlib.sha256(b"".join(r + b"\n" for r in rows)).hexdigest()
    for make in (opened, closed):
        path = tmp_path / f"{make.__name__}.lctl.json"
        path.write_bytes(make(events))
        store = JournalStore(path)
        assert store.events_hash() == by_line.hexdigest()
        store.close({})


@given(st.lists(st.integers(0, 30), max_size=20), st.lists(st.integers(0, 500), max_size=9))
def test_lines_may_come_in_pieces_cut_anywhere(sizes: list[int], cuts: list[int]) -> None:
    """In the middle of a line, of a comma and its line feed, or nowhere."""
    text = b",\n".join(lines([event(n, "x" * size) for n, size in enumerate(sizes, 1)]))
    whole, pieced = RollingHash(), RollingHash()
    whole.update_block(text)
    at = [0, *sorted(cuts), len(text)]
    pieced.update_pieces(text[a:b] for a, b in pairwise(at))
    assert (pieced.hexdigest(), pieced.count) == (whole.hexdigest(), len(sizes))


@given(st.lists(st.integers(0, 30), max_size=20), st.integers(0, 20))
def test_a_hash_goes_on_and_a_copy_goes_its_own_way(sizes: list[int], cut: int) -> None:
    """update and update_block mix; a copy does not feel what follows."""
    rows = lines([event(n, "x" * size) for n, size in enumerate(sizes, 1)])
    whole = RollingHash()
    whole.update_block(b",\n".join(rows))
    parts = RollingHash()
    parts.update_block(b",\n".join(rows[:cut]))
    before = parts.hexdigest()
    twin = parts.copy()
    for row in rows[cut:]:
        parts.update(row)
    assert (parts.hexdigest(), parts.count) == (whole.hexdigest(), len(rows))
    assert twin.hexdigest() == before


def test_what_a_writer_needs_loads_little() -> None:
    """Recording imports the journal's ends and the hash; msgspec and YAML stay out."""
    code = (
        "import sys, lctl.codec.journal, lctl.codec.hashing, lctl.codec\n"
        "heavy = ('msgspec', 'yaml', 'rich', 'click', 'asyncio', 'lctl.events')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"
