"""What every store of chains promises, whatever keeps them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from lctl.errors import ChainConflict, LogNotFound, RecordingError
from lctl.stores.contract import ChainStore, lineage


def event(seq: int, *, minute: int = 0, type: str = "fact_added", **data: Any) -> bytes:
    return orjson.dumps(
        {
            "seq": seq,
            "type": type,
            "timestamp": f"2026-01-15T10:{minute:02}:00.{seq:06}Z",
            "agent": "main",
            "data": data or {"id": f"F{seq}", "text": f"fact number {seq}", "confidence": 0.5},
        }
    )


def events(first: int, last: int, **given: Any) -> list[bytes]:
    return [event(seq, **given) for seq in range(first, last + 1)]


def test_what_is_appended_is_read_in_order(store: ChainStore) -> None:
    """Any number of lines at a time; they come back byte for byte."""
    assert store.begin({"id": "run"}) == 0
    assert store.append("run", 1, events(1, 1)) == 1
    assert store.append("run", 2, events(2, 700)) == 700
    assert list(store.read("run")) == events(1, 700)


def test_a_range_is_read(store: ChainStore) -> None:
    """`start` is in the range, `stop` is not; bounds beyond the ends are harmless; also across chunks."""
    store.begin({"id": "run"})
    for first in range(1, 900, 30):
        store.append("run", first, events(first, first + 29))
    for start, stop in [(1, 2), (250, 260), (256, 258), (511, 514), (1, 900), (890, 9999), (300, 300)]:
        assert list(store.read("run", start, stop)) == events(start, min(stop, 901) - 1)
    assert list(store.read("run", 901)) == []


def test_redelivery_changes_nothing(store: ChainStore) -> None:
    """Lines that are there already are not stored again, whether all of them are or some."""
    store.begin({"id": "run"})
    store.append("run", 1, events(1, 300))
    assert store.append("run", 1, events(1, 300)) == 300
    assert store.append("run", 290, events(290, 305)) == 305
    assert store.begin({"id": "run", "name": "another"}) == 305
    assert list(store.read("run")) == events(1, 305)
    assert store.entry("run").chain == {"id": "run"}


def test_two_writers_of_one_chain_conflict(store: ChainStore) -> None:
    """The second is refused and told where they part; under another id its branch is stored as well."""
    store.begin({"id": "run"})
    store.append("run", 1, events(1, 10))
    mine, theirs = events(11, 12, minute=1), events(11, 13, minute=2)
    store.append("run", 11, mine)
    with pytest.raises(
        ChainConflict, match="another writer has gone on with chain run from event 11"
    ) as caught:
        store.append("run", 11, theirs)
    assert (caught.value.chain_id, caught.value.seq) == ("run", 11)
    store.begin({"id": "run~2", "parent": {"id": "run", "seq": 10}})
    store.append("run~2", 1, events(1, 10) + theirs)
    assert list(store.read("run", 10)) == [event(10), *mine]
    assert list(store.read("run~2", 10)) == [event(10), *theirs]


def test_a_refused_append_stores_nothing(store: ChainStore) -> None:
    """Not even the lines that would have fitted."""
    store.begin({"id": "run"})
    store.append("run", 1, events(1, 3))
    with pytest.raises(ChainConflict):
        store.append("run", 3, [event(3, minute=9), *events(4, 9)])
    with pytest.raises(RecordingError, match="ends with event 3; event 5 cannot follow"):
        store.append("run", 5, events(5, 6))
    assert list(store.read("run")) == events(1, 3)


def test_an_unknown_chain(store: ChainStore) -> None:
    """It is named in the error, wherever it is asked for."""
    calls: list[Callable[[], object]] = [
        lambda: store.append("nowhere", 1, events(1, 1)),
        lambda: store.entry("nowhere"),
        lambda: list(store.read("nowhere")),
        lambda: store.finish("nowhere", {}),
    ]
    for call in calls:
        with pytest.raises(LogNotFound, match="nowhere"):
            call()
    assert store.delete("nowhere") is False


def test_a_chain_that_begins_later(store: ChainStore) -> None:
    """A fork that refers to its parent's prefix begins after it."""
    store.begin({"id": "fork", "parent": {"id": "run", "seq": 56, "fork": True}})
    store.append("fork", 57, events(57, 60))
    store.append("fork", 61, events(61, 400))
    assert list(store.read("fork")) == events(57, 400)
    found = store.entry("fork")
    assert (found.first_seq, found.last_seq, found.events) == (57, 400, 344)


def test_entries_are_summaries(store: ChainStore) -> None:
    """Newest first, from what was kept at the end, without reading events."""
    for n, name in enumerate(["a", "b", "c"]):
        store.begin({"id": name, "name": name})
        store.append(name, 1, events(1, n + 1, minute=n))
    store.finish("b", {"summary": {"events": 2, "llm_calls": 7}, "state": {"facts": {}}})
    found = list(store.entries())
    assert [(one.id, one.events, one.open) for one in found] == [
        ("c", 3, True),
        ("b", 2, False),
        ("a", 1, True),
    ]
    assert found[1].summary == {"events": 2, "llm_calls": 7}
    assert (found[0].started, found[0].updated) == (
        "2026-01-15T10:02:00.000001Z",
        "2026-01-15T10:02:00.000003Z",
    )
    assert [one.id for one in store.entries(limit=2)] == ["c", "b"]


def test_a_closed_chain_goes_on(store: ChainStore) -> None:
    """Appending opens it again; its tail is gone until it is closed again."""
    store.begin({"id": "run"})
    store.append("run", 1, events(1, 2))
    store.finish("run", {"summary": {"events": 2}})
    tail = store.tail("run")
    assert tail is not None
    assert tail["summary"] == {"events": 2}
    store.append("run", 3, events(3, 3))
    assert store.tail("run") is None
    assert store.entry("run").open
    assert list(store.read("run")) == events(1, 3)


def test_lineage(store: ChainStore) -> None:
    """From any chain of it, the whole tree: the oldest ancestor first, under each what came of it."""
    store.begin({"id": "root"})
    store.append("root", 1, events(1, 5))
    came: list[tuple[str, dict[str, Any]]] = [
        ("child", {"parent": {"id": "root", "seq": 2}}),
        ("fork", {"parent": {"id": "root", "seq": 3}, "fork": {"edits": []}}),
        ("grandchild", {"parent": {"id": "child", "seq": 1}}),
        ("rerun", {"rerun": {"of": "root"}}),
    ]
    for minute, (name, header) in enumerate(came, 1):
        store.begin({"id": name, **header})
        store.append(name, 1, events(1, 2, minute=minute))
    for name in ("root", "grandchild", "rerun"):
        assert [(entry.id, depth) for entry, depth in lineage(store, name)] == [
            ("root", 0),
            ("child", 1),
            ("grandchild", 2),
            ("fork", 1),
            ("rerun", 1),
        ]


def test_waiting_for_events(store: ChainStore) -> None:
    """Whoever waits is woken by the next append, and by the end; a wait may also be in vain."""
    store.begin({"id": "run"})
    store.append("run", 1, events(1, 1))
    assert store.wait("run", 0, 5) == 1
    assert store.wait("run", 1, 0.1) == 1

    def write() -> None:
        time.sleep(0.2)
        store.append("run", 2, events(2, 2))
        time.sleep(0.2)
        store.finish("run", {})

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert store.wait("run", 1, 20) == 2
        store.wait("run", 2, 20)
        assert not store.entry("run").open
    finally:
        writer.join()


def test_words_are_found(store: ChainStore) -> None:
    """In messages of any shape and in facts, also in what came after the last search."""
    store.begin({"id": "run"})
    parts = [{"type": "text", "text": "the invoice is overdue"}]
    store.append("run", 1, [event(1, type="message", role="user", content=parts)])
    store.append("run", 2, [event(2, id="F1", text="Invoice 17 was paid", confidence=1.0)])
    assert {(one.seq, one.kind) for one in store.search("invoice")} == {(1, "message"), (2, "fact")}
    assert [one.seq for one in store.search("invoice paid")] == [2]
    store.append("run", 3, [event(3, type="message", role="assistant", content='say "overdue" again')])
    assert {one.seq for one in store.search("overdue")} == {1, 3}
    parts = [{"text": "Es ist warm."}]  # as Google has it
    store.append("run", 4, [event(4, type="message", role="model", content=None, parts=parts)])
    assert [one.seq for one in store.search("warm")] == [4]
    cited = [{"citationsContent": {"content": [{"text": "Bleu"}], "citations": []}}]  # as Bedrock has it
    store.append("run", 5, [event(5, type="message", role="assistant", content=cited)])
    assert [one.seq for one in store.search("bleu")] == [5]
    assert store.search('unbalanced " quote') == []
    assert "overdue" in store.search("overdue")[0].text


def test_words_are_the_same_in_every_store(store: ChainStore) -> None:
    """Letters and digits in a row, whatever stands between; case and accents do not matter."""
    store.begin({"id": "run"})
    said = "Write Bob@Example.com, see https://x.org/path/to/file.py:42 for $12.50 at the CAFÉ in Straße 7_b"
    store.append("run", 1, [event(1, type="message", role="user", content=said + "!" * 300)])
    found = [
        "bob",
        "example.com",
        "https",
        "py",
        "42",
        "12",
        "cafe",
        "café",
        "strasse",
        "b",
        "bob\x00example",
        "path file",
        "BOB, (see)",
        "1²",
    ]
    for words in found:
        assert [one.seq for one in store.search(words)] == [1], words
        assert len(store.search(words)[0].text) < 130
    for words in ("pat", "bobexample", "", "\0", "?!", '"', "bob alice"):
        assert store.search(words) == [], words


def test_a_deleted_chain_is_gone(store: ChainStore) -> None:
    """With its words; another of its id begins anew."""
    for name in ("a", "b"):
        store.begin({"id": name})
        store.append(name, 1, events(1, 300))
    assert store.search("number 17")
    assert store.delete("a") is True
    assert [one.id for one in store.entries()] == ["b"]
    assert {one.chain_id for one in store.search("number")} == {"b"}
    assert store.begin({"id": "a"}) == 0
    store.append("a", 1, events(1, 2, minute=5))
    assert list(store.read("a")) == events(1, 2, minute=5)


def test_many_chains_are_removed_at_once(store: ChainStore) -> None:
    """Those that are there, in the order in which they were asked for; the others stay, with their words."""
    names = [f"run-{n}" for n in range(450)]
    for name in names:
        store.begin({"id": name})
    store.append("run-1", 1, events(1, 3))
    store.append("run-7", 1, events(1, 3))
    assert store.search("number")
    asked = [*names[:0:-2], "nowhere", "run-3"]
    assert store.remove(asked) == names[:0:-2]
    assert {one.id for one in store.entries()} == set(names[::2])
    assert store.search("number") == []
    assert store.remove([]) == []


def test_ids_that_are_alike_one_after_the_other(store: ChainStore) -> None:
    """What was known of one that was removed is not taken for the next, whose file may be the same."""
    for _ in range(3):
        for name in ("a/b", "a-b", "a:b"):
            store.begin({"id": name})
            store.append(name, 1, events(1, 2))
            assert [one.id for one in store.entries()] == [name]
            assert store.delete(name) is True


def test_retention(store: ChainStore) -> None:
    """Chains whose last event is older are removed; empty and newer ones stay."""
    for n, name in enumerate(["old", "older", "new"]):
        store.begin({"id": name})
        store.append(name, 1, events(1, 2, minute=(10, 5, 30)[n]))
    store.begin({"id": "empty"})
    assert store.expire("2026-01-15T10:20:00.000000Z") == ["older", "old"]
    assert {one.id for one in store.entries()} == {"new", "empty"}


def test_what_one_writes_another_reads(store: ChainStore, another: Callable[[], ChainStore]) -> None:
    """Opened again, everything is there."""
    store.begin({"id": "run"})
    store.append("run", 1, events(1, 300))
    store.finish("run", {"summary": {"events": 300}})
    again = another()
    assert list(again.read("run", 255, 258)) == events(255, 257)
    assert again.entry("run").summary == {"events": 300}


def test_writers_in_threads(store: ChainStore) -> None:
    """Chains written at once do not mix, and readers see whole prefixes meanwhile."""
    failures: list[BaseException] = []

    def write(name: str) -> None:
        try:
            store.begin({"id": name})
            for first in range(1, 400, 20):
                store.append(name, first, events(first, first + 19))
                there = list(store.read(name))
                assert there == events(1, len(there))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(f"run{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert all(list(store.read(f"run{n}")) == events(1, 400) for n in range(4))
