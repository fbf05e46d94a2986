"""`lctl ls`: what the ends of the files say."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import orjson
import pytest

from lctl.cli.runs import is_live, read_run
from lctl.codec.hashing import RollingHash
from lctl.debugger.views.runs import status_of
from tests.golden import logs
from tests.unit.cli.conftest import Cli


def record(
    folder: Path, name: str, *, parent: str | None = None, closed: bool = True, **summary: Any
) -> Path:
    """A log whose events are of no matter and whose tail is as a writer leaves it."""
    folder.mkdir(exist_ok=True)
    chain: dict[str, Any] = {"id": name, "parent": {"id": parent, "seq": 2}} if parent else {"id": name}
    raw = orjson.dumps({"lctl": "4.0", "chain": chain})[:-1] + b',"events":[\n'
    lines = [orjson.dumps(event) for event in logs.unknown_only()]
    raw += b",\n".join(lines)
    if closed:
        rolling = RollingHash()
        for line in lines:
            rolling.update(line)
        count = summary.get("events", rolling.count)
        seal = {"algorithm": "sha256", "events": rolling.hexdigest(), "count": count}
        raw += (
            b"\n],"
            + orjson.dumps({"state": {}, "summary": {"events": 2, **summary}, "hash": seal})[1:]
            + b"\n"
        )
    path = folder / f"20260101-{len(list(folder.iterdir())):06d}-{name}.lctl.json"
    path.write_bytes(raw)
    return path


@pytest.fixture
def folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("time.time", lambda: 1_767_225_600.0 + 7200)  # 2026-01-01 02:00 UTC
    return place / ".lctl"


def test_rows(folder: Path, lctl: Cli) -> None:
    """Newest first; children under their parent; errors, open logs and unreadable files are marked."""
    tokens = {"input": 1_000_000, "output": 0}
    record(folder, "first", duration_ms=1200, llm_calls=2, errors=0)
    record(
        folder,
        "priced",
        duration_ms=90_000,
        errors=1,
        outcome="error",
        tokens=tokens,
        models={"gpt-4o": {"tokens": tokens}},
    )
    record(folder, "worker", parent="priced", duration_ms=10)
    record(folder, "cut", closed=False)
    (folder / "20260101-000009-junk.lctl.json").write_bytes(b"junk")
    got = lctl("ls")
    assert got.code == 0
    heads, junk, cut, priced, worker, first = got.out.splitlines()
    assert heads.split() == ["RUN", "STARTED", "DURATION", "EVENTS", "CALLS", "TOKENS", "COST"]
    assert "not a log" in junk
    assert "not closed by its program" in cut
    assert priced.split()[:2] == ["✗", "priced"]
    assert "$2.50" in priced
    assert "1 error" in priced
    assert "└ worker" in worker
    assert first.startswith("✓  first")
    assert "2 h ago" in first


def test_damaged_logs_are_marked(folder: Path, lctl: Cli) -> None:
    """Their ends count what is no longer there. Of one too long to be looked through it is found out when
    that is asked for, with exit code 1."""
    whole, gap, changed, long = (record(folder, name) for name in ("whole", "gap", "changed", "long"))
    lines = gap.read_bytes().splitlines(keepends=True)
    gap.write_bytes(b"".join([lines[0], *lines[2:]]))
    changed.write_bytes(changed.read_bytes().replace(b'"seq":2,', b'"seq":2, ', 1))
    long.write_bytes(long.read_bytes().replace(b'"seq":2,', b'"seq":2,' + b" " * (5 << 20), 1))
    got = lctl("ls")
    assert got.code == 0
    _, first, second, third, fourth = got.out.splitlines()
    assert (first[0], first.split()[1]) == ("✓", "long")
    assert (second[0], second.split()[1]) == ("!", "changed") and "damaged: something from event 1" in second
    assert third.startswith("!  gap") and "damaged: line 2, event 2: event 1 is missing before it" in third
    assert fourth.startswith("✓  whole")
    told = [json.loads(line)["damage"] for line in lctl("ls", "--json").out.splitlines()]
    assert (told[0], told[3]) == (None, "") and told[1] and told[2]
    asked = lctl("ls", "--verify")
    assert asked.code == 1 and asked.out.splitlines()[1].startswith("!  long")
    for path in (gap, changed, long):
        path.unlink()
    assert lctl("ls", "--verify").code == 0
    assert whole.exists()


def test_logs_of_a_version_to_come_and_with_other_ends_of_lines(folder: Path, lctl: Cli) -> None:
    """One cannot be read; the other is what it was, though git has changed its bytes."""
    other, later = record(folder, "other", outcome="error", errors=1), record(folder, "later")
    other.write_bytes(other.read_bytes().replace(b"\n", b"\r\n"))
    later.write_bytes(later.read_bytes().replace(b'"lctl":"4.0"', b'"lctl":"9.0"'))
    _, first, second = lctl("ls").out.splitlines()
    assert first[0] == "✗" and "version 9.0, this lctl reads 3.0 to 4.x" in first
    assert second.startswith("✗  other") and second.endswith("1 error")


@pytest.mark.parametrize(
    ("outcome", "errors", "said"),
    [
        ("interrupted", 1, "interrupted"),
        ("interrupted", 3, "interrupted, 2 other errors"),
        ("aborted", 0, "aborted"),
        ("cancelled", 1, "cancelled, 1 error"),
    ],
)
def test_a_run_that_was_stopped(folder: Path, lctl: Cli, outcome: str, errors: int, said: str) -> None:
    """It is told apart from one that got to its end, and from one that failed."""
    record(folder, "stopped", outcome=outcome, errors=errors)
    for command, words in (("ls", said), ("runs", outcome)):
        row = lctl(command).out.splitlines()[1]
        assert row.startswith("✗  stopped") and row.endswith(f"  {words}")


@pytest.mark.parametrize(
    ("sizes", "dollars"), [([60_000] * 10, "$1.80"), ([270_000, 10], "$1.62"), ([1000, 2000], "$0.0090")]
)
def test_long_prompts_that_are_dearer(folder: Path, lctl: Cli, sizes: list[int], dollars: str) -> None:
    """What counts is how much each call read, not all of them together nor on the average: $3 a million
    tokens, $6 in prompts beyond 200,000."""
    folder.mkdir()
    logs.written(folder / "20260101-000000-a.lctl.json", logs.long_prompts(sizes), "a")
    assert f"Cost: {dollars}" in lctl("stats", "a").out
    for command in ("ls", "runs"):
        assert dollars in lctl(command).out


def test_what_a_long_run_cost_at_least(folder: Path, lctl: Cli) -> None:
    """Where some of its prompts may have been dearer, and it is too long to be read for that."""
    models = {"claude-sonnet-4-5": {"calls": 10, "tokens": {"input": 600_000, "output": 0}}}
    record(folder, "long", events=60_000, llm_calls=10, models=models)
    for command in ("ls", "runs"):
        assert "≥$1.80" in lctl(command).out
    assert json.loads(lctl("ls", "--json").out)["cost"] is None


def test_no_more_than_the_ends_are_read(folder: Path, lctl: Cli) -> None:
    """A log of any length lists as fast: events in the middle are never looked at."""
    path = record(folder, "long", llm_calls=7)
    raw = path.read_bytes()
    head, tail = raw.split(b"\n", 1)[0], raw[raw.index(b"\n],") :]
    path.write_bytes(head + b"\n" + b"x" * 3_000_000 + tail)
    run = read_run(path)
    assert (run.id, run.events, run.summary["llm_calls"], run.open) == ("long", 2, 7, False)


def test_a_long_summary(folder: Path) -> None:
    """A summary longer than one read is found."""
    models = {f"model-{n}": {"tokens": {"input": n}} for n in range(3000)}
    run = read_run(record(folder, "wide", models=models))
    assert len(run.summary["models"]) == 3000


def test_live(folder: Path) -> None:
    """A log is live while the process that its writer's note names runs and has it open."""
    path = record(folder, "live", closed=False)
    assert not is_live(path)
    note = path.parent / f".{path.name}.lock"
    note.write_bytes(orjson.dumps({"pid": os.getpid()}))
    with path.open("rb"):
        assert is_live(path)
    note.write_bytes(orjson.dumps({"pid": 2**22 + 1}))
    assert not is_live(path)
    note.write_bytes(b"junk")
    assert not is_live(path)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_a_number_that_is_another_process_by_now_is_no_writer(folder: Path) -> None:
    """Killed, a writer leaves its note; some later process may be given its number."""
    path = record(folder, "killed", closed=False)
    (path.parent / f".{path.name}.lock").write_bytes(orjson.dumps({"pid": os.getpid()}))
    assert not is_live(path)


def test_a_live_run_and_one_whose_writer_is_gone_have_marks_of_their_own(folder: Path, lctl: Cli) -> None:
    """Also where colours and notes are cut off."""
    from lctl.record.journal import JournalStore

    record(folder, "gone", closed=False)
    store = JournalStore(folder / "20260101-000009-now.lctl.json", {"id": "now"})
    _, now, gone = lctl("ls").out.splitlines()
    store.close({})
    assert (now.split()[0], now.split()[-1]) == ("●", "live")
    assert gone.startswith("○") and gone.rstrip().endswith("not closed by its program")


def test_live_with_the_real_writer(place: Path) -> None:
    """The note is the one the recorder leaves."""
    from lctl.record.journal import JournalStore

    store = JournalStore(place / "x.lctl.json", {"id": "x"})
    assert is_live(place / "x.lctl.json")
    store.close({})
    assert not is_live(place / "x.lctl.json")


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ({"lost": 1}, "1 event lost"),
        ({"lost": 345, "errors": 2, "outcome": "error"}, "2 errors, 345 events lost"),
        ({"lost": 3, "errors": 1, "outcome": "interrupted"}, "interrupted, 3 events lost"),
    ],
)
def test_a_log_that_is_not_whole(folder: Path, lctl: Cli, summary: dict[str, Any], said: str) -> None:
    """Its writer knew of events that it could not record."""
    path = record(folder, "full", **summary)
    assert lctl("ls").out.splitlines()[1].endswith(said)
    lost = summary["lost"]
    assert f"{lost} event{'s' * (lost > 1)} could not be recorded" in lctl("show", str(path)).out


def test_limits_and_empty(folder: Path, lctl: Cli) -> None:
    """-n takes the newest; a terminal shows a screenful and says how to see all; no runs: what to do."""
    assert "lctl run agent.py" in lctl("ls").out
    for n in range(25):
        record(folder, f"run-{n}")
    assert len(lctl("ls").out.splitlines()) == 26
    assert len(lctl("ls", "-n", "3").out.splitlines()) == 4
    shown = lctl("ls", terminal=True).out.splitlines()
    assert len(shown) == 22
    assert "5 older runs not shown" in shown[-1]
    assert len(lctl("ls", "--all", terminal=True).out.splitlines()) == 26


def test_other_forms(folder: Path, lctl: Cli) -> None:
    """A pretty-printed log that someone put there is listed as well."""
    folder.mkdir()
    document = {"lctl": "4.0", "chain": {"id": "pretty"}, "events": logs.unknown_only()}
    (folder / "pretty.lctl.json").write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2))
    (row,) = [orjson.loads(line) for line in lctl("ls", "--json").out.splitlines()]
    assert (row["id"], row["events"], row["problem"]) == ("pretty", 2, None)


def test_a_link_to_itself_is_no_run(folder: Path, lctl: Cli) -> None:
    """As a link to nothing."""
    path = record(folder, "good")
    for name, target in (("one", "two"), ("two", "one"), ("broken", "nowhere")):
        (folder / f"{name}.lctl.json").symlink_to(f"{target}.lctl.json")
    assert [line.split()[1] for line in lctl("ls").out.splitlines()[1:]] == ["good"]
    assert lctl("stats", "last", "--json").out == lctl("stats", path, "--json").out


def _large(folder: Path, name: str, value: object, **style: Any) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.lctl.json").write_text(json.dumps(value, **style))


def test_large_documents_of_others_are_not_read(
    folder: Path, lctl: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list looks at the beginning of a large document that lctl has not written, and says that it did."""
    filler = ["word " * 1000] * 1000  # 5 MB
    events = [{"seq": n, "type": "x", "data": filler} for n in (1, 2)]
    _large(
        folder, "20260101-000001-mine", {"lctl": "4.0", "chain": {"id": "mine"}, "events": events}, indent=1
    )
    _large(folder, "20260101-000002-list", events)
    _large(folder, "20260101-000003-other", {"rows": filler})
    record(folder, "ours")
    read: list[int] = []
    pread = os.pread

    def counted(fd: int, size: int, offset: int) -> bytes:
        found = pread(fd, size, offset)
        read.append(len(found))
        return found

    monkeypatch.setattr("os.pread", counted)
    got = lctl("ls", "--json")
    assert sum(read) < 1 << 20
    rows = {
        row["path"].rpartition("-")[2].partition(".")[0]: row for row in map(json.loads, got.out.splitlines())
    }
    assert [rows[name]["events"] for name in ("mine", "list", "other", "ours")] == [None, None, None, 2]
    assert (rows["mine"]["id"], rows["mine"]["problem"], rows["list"]["problem"]) == ("mine", None, None)
    assert "not a log, by its beginning (4 MB, not read further)" in rows["other"]["problem"]
    mine = next(line for line in lctl("ls").out.splitlines() if "mine" in line)
    assert mine.startswith("?")
    assert "9 MB in another form than lctl writes: not counted here" in mine


def written(folder: Path, name: str, *events: dict[str, Any], tail: str = "]}\n") -> None:
    """A log in a form that has no summary."""
    folder.mkdir(exist_ok=True)
    head = json.dumps({"lctl": "4.0", "chain": {"id": name}})[:-1] + ',"events":[\n'
    (folder / f"{name}.lctl.json").write_text(head + ",\n".join(map(json.dumps, events)) + "\n" + tail)


@pytest.mark.parametrize("padding", [0, 300_000])
def test_what_no_summary_tells_is_read_from_the_last_events(lctl: Cli, folder: Path, padding: int) -> None:
    """A log that was cut, or whose step never ended, has not ended well, whatever its size; the page's list
    says the same."""
    at = {"timestamp": "2026-01-01T00:00:00Z", "agent": "a"}
    begun = {"seq": 1, "type": "step_start", **at, "data": {"kind": "agent", "intent": "x" * padding}}

    def ended(outcome: str) -> dict[str, Any]:
        return {"seq": 2, "type": "step_end", "step": 1, **at, "data": {"outcome": outcome}}

    inside = {"seq": 2, "type": "message", "step": 1, **at, "data": {"role": "user", "content": "q"}}
    written(folder, "failed", begun, ended("error"))
    written(folder, "stopped", begun, ended("cancelled"))
    written(folder, "well", begun, ended("success"))
    written(folder, "cut", begun, ended("success"), tail="")
    written(folder, "within", begun, inside)
    got = lctl("ls", str(folder))
    marks = {line.split()[1]: line.split()[0] for line in got.out.splitlines()[1:]}
    within = ("?", "unknown") if padding else ("○", "unfinished")
    assert marks == {"failed": "✗", "stopped": "✗", "well": "✓", "cut": "○", "within": within[0]}
    statuses = {path.name.split(".")[0]: status_of(read_run(path)) for path in folder.glob("*.json")}
    assert statuses == {
        "failed": "error", "stopped": "interrupted", "well": "ok", "cut": "unfinished", "within": within[1],
    }  # fmt: skip
