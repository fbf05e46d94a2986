"""The file, its repair, its lock, and a full disk."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lctl.errors import LogLocked, NotALog, UsageError
from lctl.record.journal import JournalStore
from lctl.record.recorder import Recorder
from lctl.testing import FixedClock


def record(path: Path, count: int, **options: object) -> JournalStore:
    """An open log at `path` with `count` more events."""
    store = JournalStore(path, {"id": "c"}, **options)  # type: ignore[arg-type]
    recorder = Recorder(store, clock=FixedClock())
    for n in range(count):
        recorder.record("fact_added", "a", {"id": f"F{n}", "text": "a,\nb"})
    return store


def seqs(path: Path) -> list[int]:
    return [event["seq"] for event in json.loads(path.read_text())["events"]]


def test_the_closed_file_is_one_json_document(tmp_path: Path) -> None:
    """Header line, one event a line with the comma before the line feed, tail with the hash of the lines."""
    path = tmp_path / "run.lctl.json"
    record(path, 3).close({"state": {}, "summary": {"events": 3}})
    lines = path.read_bytes().split(b"\n")
    assert lines[0] == b'{"lctl":"4.0","chain":{"id":"c"},"events":['
    assert lines[1].endswith(b"}},") and lines[3].endswith(b"}}")
    assert lines[-1] == b""
    events = [line.rstrip(b",") for line in lines[1:4]]
    digest = hashlib.sha256(b"".join(line + b"\n" for line in events)).hexdigest()
    document = json.loads(path.read_bytes())
    assert list(document) == ["lctl", "chain", "events", "state", "summary", "hash"]
    assert document["hash"] == {"algorithm": "sha256", "events": digest, "count": 3}


def test_reopening_goes_on_where_the_log_ended(tmp_path: Path) -> None:
    """The tail goes, seq continues, and the new tail covers all events."""
    path = tmp_path / "run.lctl.json"
    record(path, 2).close({"summary": {}})
    record(path, 2).close({"summary": {}})
    assert seqs(path) == [1, 2, 3, 4]
    assert json.loads(path.read_text())["hash"]["count"] == 4


@pytest.mark.parametrize("cut", range(1, 400, 7))
def test_a_file_cut_anywhere_keeps_every_whole_event(cut: int, tmp_path: Path) -> None:
    """Cut at any byte (as a kill in the middle of a write would), it reopens with what was whole."""
    whole = tmp_path / "whole.lctl.json"
    record(whole, 3).close({"state": {"facts": {}}, "summary": {"events": 3}})
    content = whole.read_bytes()
    size = max(len(content) - cut, 0)
    path = tmp_path / "run.lctl.json"
    path.write_bytes(content[:size])
    body = content[: content.index(b"\n],")]
    ends = [n for n in range(len(body) + 1) if body[n - 2 : n] == b"}}" and body[n : n + 1] in (b",", b"")]
    kept = sum(end <= size for end in ends)
    record(path, 1).close({})
    assert seqs(path) == list(range(1, kept + 2))


def test_another_chain_is_not_written_into(tmp_path: Path) -> None:
    """A log holds one chain; asking for another id is a mistake worth an error."""
    path = tmp_path / "run.lctl.json"
    record(path, 1).close({})
    with pytest.raises(UsageError, match="holds chain 'c', not 'd'"):
        JournalStore(path, {"id": "d"})
    adopted = JournalStore(path, {"id": "d"}, adopt=True)
    assert adopted.chain == {"id": "c"} and adopted.last_seq == 1
    adopted.close()


def test_a_file_that_is_no_journal_stays_as_it_is(tmp_path: Path) -> None:
    """Appending to notes, or to a pretty-printed log, is refused; nothing is changed."""
    for content in ("my notes\n", '{\n "lctl": "4.0",\n "events": []\n}', '{"lctl":"4.0","events":[]}'):
        path = tmp_path / "notes"
        path.write_text(content)
        with pytest.raises(NotALog):
            JournalStore(path, {"id": "c"})
        assert path.read_text() == content
        assert [p.name for p in tmp_path.iterdir()] == ["notes"]


def test_an_empty_file_becomes_a_log(tmp_path: Path) -> None:
    """`tempfile` and `touch` make such files."""
    path = tmp_path / "run.lctl.json"
    path.touch()
    record(path, 1).close({})
    assert seqs(path) == [1]


def test_a_second_writer_is_told_of_the_first(tmp_path: Path) -> None:
    """The error names process and time; after the first has closed, the second may write."""
    path = tmp_path / "run.lctl.json"
    first = record(path, 1)
    with pytest.raises(LogLocked, match=rf"process {os.getpid()} has been writing it since 20"):
        JournalStore(path, {"id": "c"})
    code = (
        "import sys; from lctl.record.journal import JournalStore\n"
        "from lctl.errors import LogLocked\n"
        "try: JournalStore(sys.argv[1], {'id': 'c'})\n"
        "except LogLocked as e: print(e)"
    )
    second = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert f"process {os.getpid()} has been writing it since" in second.stdout
    first.close({})
    JournalStore(path, {"id": "c"}).close({})
    assert [p.name for p in tmp_path.iterdir()] == ["run.lctl.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
@pytest.mark.parametrize("durability", ["process", "power"])
def test_a_full_disk_loses_only_what_does_not_fit(durability: str, tmp_path: Path) -> None:
    """No seq is used for what failed, smaller events still go in, and the file stays whole."""
    code = """
import resource, signal, sys
from lctl.errors import RecordingError
from lctl.record.journal import JournalStore
from lctl.record.recorder import Recorder
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
recorder = Recorder(JournalStore(sys.argv[1], {"id": "c"}, durability=sys.argv[2]))
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
kept = failed = 0
for size in [300] * 10 + [5] * 3:
    try:
        assert recorder.record("t", "a", {"text": "x" * size}) == kept + 1
        kept += 1
    except RecordingError as error:
        assert "File too large" in str(error), error
        failed += 1
print(kept, failed, recorder.seq)
try:
    recorder.store.close({"state": {"x": "y" * 2000}})
except RecordingError:
    print("no tail")
"""
    path = tmp_path / "run.lctl.json"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), durability], capture_output=True, text=True, check=True
    )
    kept, failed, seq = map(int, done.stdout.split("\n")[0].split())
    assert "no tail" in done.stdout
    assert kept > 4 and failed > 4 and seq == kept
    reopened = JournalStore(path, {"id": "c"})
    assert [json.loads(line)["seq"] for line in reopened.read()] == list(range(1, kept + 1))
    reopened.close({})


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_log_that_cannot_be_created_says_so(tmp_path: Path) -> None:
    """The message names the path and the reason."""
    from lctl.errors import RecordingError

    (tmp_path / "file").touch()
    with pytest.raises(RecordingError, match="cannot be written"):
        JournalStore(tmp_path / "file" / "run.lctl.json", {"id": "c"})


def test_buffered_events_reach_the_file_without_being_asked(tmp_path: Path) -> None:
    """The flusher writes them; the test waits until it has, however long that takes."""
    import time

    path = tmp_path / "run.lctl.json"
    store = record(path, 3, durability="buffered")
    for _ in range(1000):
        if path.read_bytes().count(b"\n") == 3:
            break
        time.sleep(0.01)
    assert path.read_bytes().count(b"\n") == 3
    store.close({})
    assert seqs(path) == [1, 2, 3]


def test_what_is_still_buffered_is_counted(tmp_path: Path) -> None:
    """By the summary of a long log, which says nothing but how many events there are."""
    store = record(tmp_path / "run.lctl.json", 3, durability="buffered")
    assert store.count() == 3
    store.close()


@pytest.mark.parametrize("durability", ["process", "buffered", "power"])
def test_os_exit_loses_nothing(durability: str, tmp_path: Path) -> None:
    """A process that leaves by `os._exit` has written all it recorded; the hook is gone with the log."""
    code = """
import os, sys
from lctl.record.journal import JournalStore
from lctl.record.recorder import Recorder
before = os._exit
other = Recorder(JournalStore(sys.argv[1] + "2", {"id": "c"}, durability=sys.argv[2]))
other.record("t", "a", {})
other.store.close({})
assert os._exit is before
recorder = Recorder(JournalStore(sys.argv[1], {"id": "c"}, durability=sys.argv[2]))
for _ in range(50):
    recorder.record("t", "a", {})
os._exit(7)
"""
    path = tmp_path / "run.lctl.json"
    done = subprocess.run([sys.executable, "-c", code, str(path), durability])
    assert done.returncode == 7
    store = JournalStore(path, {"id": "c"})
    assert store.last_seq == 50
    store.close({})


def test_the_hash_of_a_growing_log_equals_that_of_the_whole(tmp_path: Path) -> None:
    """Asked for at any time and any number of times, also across reopening."""
    path = tmp_path / "run.lctl.json"
    store = JournalStore(path, {"id": "c"})
    recorder = Recorder(store, clock=FixedClock())
    for n in range(6):
        if n in (0, 1, 3):
            store.events_hash()
        recorder.record("t", "a", {"n": n})
    expected = hashlib.sha256(b"".join(line + b"\n" for line in store.read())).hexdigest()
    assert store.events_hash() == expected
    store.close({})
    again = JournalStore(path, {"id": "c"})
    assert again.events_hash() == expected
    again.close({})


def test_a_log_is_read_to_its_end_though_it_is_closed_meanwhile(tmp_path: Path) -> None:
    """As a thread does that delivers it while the program ends."""
    store = JournalStore(tmp_path / "run.lctl.json", {"id": "c"})
    recorder = Recorder(store, clock=FixedClock())
    for n in range(30):
        recorder.record("fact_added", "a", {"id": f"F{n}", "text": "x" * 100_000})
    reading = store.read()
    found = [next(reading)]
    store.close()
    found += reading
    assert [json.loads(line)["seq"] for line in found] == list(range(1, 31))


@pytest.mark.parametrize("number", [0, 2])
def test_it_takes_no_number_of_a_standard_stream(number: int, tmp_path: Path) -> None:
    """Where one was closed, what is written to its number is not in the log."""
    path = tmp_path / "run.lctl.json"
    kept = os.dup(number)
    os.close(number)
    try:
        store = record(path, 2)
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.write(number, b"not ours")
        assert store.last_seq == 2
        store.close()
    finally:
        os.dup2(kept, number)
        os.close(kept)
    assert seqs(path) == [1, 2]
