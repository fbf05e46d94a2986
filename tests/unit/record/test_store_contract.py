"""What every store promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lctl.errors import RecordingError
from lctl.record.journal import JournalStore
from lctl.record.store import EventStore, MemoryStore

Make = Callable[[], EventStore]


def line(seq: int) -> bytes:
    return b'{"seq":%d,"type":"t","timestamp":"","agent":"a","data":{"text":"a,\\nb"}}' % seq


@pytest.fixture(params=["memory", "process", "buffered", "power"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    if request.param == "memory":
        return MemoryStore
    return lambda: JournalStore(tmp_path / "run.lctl.json", {"id": "c"}, durability=request.param)


def test_what_is_appended_is_read_in_order(make: Make) -> None:
    """Single lines and blocks of lines come back one by one."""
    store = make()
    store.append(line(1))
    store.append(b",\n".join([line(2), line(3)]), 2)
    assert list(store.read()) == [line(1), line(2), line(3)]
    assert store.last_seq == 3
    store.close()


def test_a_range_is_read(make: Make) -> None:
    """`start` is in the range, `stop` is not; bounds beyond the ends are harmless."""
    store = make()
    store.append(b",\n".join(line(n) for n in range(1, 8)), 7)
    assert list(store.read(3, 5)) == [line(3), line(4)]
    assert list(store.read(7)) == [line(7)]
    assert list(store.read(6, 99)) == [line(6), line(7)]
    assert list(store.read(8)) == []
    store.close()


def test_one_line_of_many_is_read(make: Make) -> None:
    """Wherever it is, and however long those around it are."""
    store = make()
    lines = [line(n).replace(b"a,", b"a" * (n % 7 * 1000) + b",") for n in range(1, 501)]
    for one in lines:
        store.append(one)
    for n in (1, 2, 65, 66, 67, 250, 499, 500):
        assert list(store.read(n, n + 1)) == [lines[n - 1]]
    assert list(store.read(400)) == lines[399:]
    assert list(store.read(501)) == []
    store.close()
    assert list(store.read(450, 452)) == lines[449:451]


def test_an_empty_store_reads_as_empty(make: Make) -> None:
    """Nothing appended: no lines, last_seq 0, also after closing."""
    store = make()
    assert store.last_seq == 0
    assert list(store.read()) == []
    store.close()
    assert list(store.read()) == []


def test_a_store_can_be_read_after_closing(make: Make) -> None:
    """Closing twice is harmless."""
    store = make()
    store.append(line(1))
    store.close({"summary": {"events": 1}})
    store.close()
    assert list(store.read()) == [line(1)]


@pytest.mark.parametrize("durability", ["process", "buffered", "power"])
def test_a_closed_journal_refuses(durability: str, tmp_path: Path) -> None:
    """Appending after close raises RecordingError."""
    store = JournalStore(tmp_path / "x.lctl.json", {"id": "c"}, durability=durability)  # type: ignore[arg-type]
    store.close()
    with pytest.raises(RecordingError, match="closed"):
        store.append(line(1))
