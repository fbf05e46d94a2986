"""Random access: what it reads, what it leaves alone, and how it bears being used hard."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.trace import Trace, write_trace
from lctl.codec import open_log
from lctl.errors import UsageError
from lctl.events import Event
from lctl.state.blocks import LineBlocks
from lctl.state.model import State
from lctl.state.reducer import fold, initial
from lctl.state.source import EventSource, MemorySource
from lctl.state.timeline import Timeline
from tests.unit.state.logs import LinesSource, as_lines, events

N = 3000


@pytest.fixture(scope="module")
def source() -> LinesSource:
    return LinesSource(list(Trace().lines(N)), {"id": "trace"})


def test_a_trace_at_some_seqs(source: LinesSource) -> None:
    """A log like a real one: the timeline is the fold, at both ends of blocks and inside."""
    timeline = Timeline(source)
    for seq in (2048, 1, 63, 64, 65, 0, N, 1500, N + 5):
        assert timeline.at(seq) == fold(source.events(stop=seq + 1), start=initial("trace"))
    assert timeline.last.totals.events == len(timeline) == N
    assert timeline.event(7).seq == 7


def test_only_as_much_is_read_as_was_asked_for(source: LinesSource) -> None:
    """The first states of a long log need not wait for its end, and windows need no index at all."""

    class Counting(MemorySource):
        given = 0

        def events(self, start: int = 1, stop: int | None = None) -> Iterator[Event]:
            for event in super().events(start, stop):
                self.given += 1
                yield event

    counting = Counting(source.events())
    timeline = Timeline(counting)
    assert counting.given == 0
    timeline.at(100)
    assert counting.given <= 128 + 64
    assert [event.seq for event in timeline.events(2000, 2003)] == [2000, 2001, 2002]


def test_states_stay_what_they_are_while_the_index_grows(source: LinesSource) -> None:
    """A state may be iterated while later ones are asked for."""
    timeline = Timeline(source)
    early = timeline.at(640)
    steps = iter(early.steps.items())
    first = next(steps)
    timeline.at(N)
    assert dict([first, *steps]) == fold(source.events(stop=641)).steps
    assert early == fold(source.events(stop=641), start=initial("trace"))


def test_many_threads_may_ask(source: LinesSource) -> None:
    """They all get the same states, from one index."""
    timeline = Timeline(source)
    want = {seq: fold(source.events(stop=seq + 1), start=initial("trace")) for seq in (10, 900, 1800, 2999)}
    wrong: list[int] = []

    def ask(seqs: list[int]) -> None:
        wrong.extend(seq for seq in seqs if timeline.at(seq) != want[seq])

    threads = [threading.Thread(target=ask, args=(list(want)[n:] + list(want)[:n],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(source: EventSource, enabled: bool) -> None:
    """Reading pauses the garbage collector, and only puts back what it took."""
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        Timeline(source).at(N)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()


def test_a_log_file(tmp_path: Path) -> None:
    """Through the codec, from lines on disk."""
    write_trace(tmp_path / "trace.lctl.json", 500)
    log = open_log(tmp_path / "trace.lctl.json")
    timeline = Timeline(log)
    for seq in (499, 2, 250):
        assert timeline.at(seq) == fold(log.events(stop=seq + 1), start=initial("trace"))
    with pytest.raises(UsageError, match="no event 501"):
        timeline.event(501)


def test_a_file_that_is_cut_while_it_is_read(tmp_path: Path) -> None:
    """Its events are there as far as they are; one that was mapped would end the process."""
    path = tmp_path / "cut.lctl.json"
    write_trace(path, 5000)
    timeline = Timeline(open_log(path))
    at = timeline.at(1000)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    last = timeline.last
    assert 2000 < last.seq < 3000
    there = (event for event in open_log(path).events() if event.seq <= last.seq)
    assert last == fold(there, start=initial("trace"))
    assert timeline.at(1000) == at


def test_an_empty_log() -> None:
    """Nothing has been said."""
    assert Timeline(MemorySource([])).last == initial()
    assert Timeline(LinesSource([])).at(5) == initial()


def test_large_and_damaged_lines() -> None:
    """An event of a megabyte, a line that is none, one that is not UTF-8: the others are read."""
    log = events(*[("error", {"message": "x" * (1 << 20)}), ("error", {"message": "y"})] * 3)
    lines = as_lines([event.to_dict() for event in log])
    whole = LinesSource(lines)
    damaged = LinesSource(lines)
    damaged._data = b",\n".join(
        [*lines[:2], b'{"seq":2,"type"', b'{"seq":2,"type":"error","data":{"m":"\xff"}}', *lines[2:]]
    )
    for seq in (1, 2, 3, 6):
        want: State = fold(whole.events(stop=seq + 1))
        assert Timeline(whole).at(seq) == want
        assert Timeline(damaged, every=2).at(seq) == want


def test_facts_changed_long_after_they_were_added() -> None:
    """More facts than the index keeps at hand, some changed before and some not, still have their history."""
    count = 9000

    def said(seq: int, type: str, n: int, **data: object) -> Event:
        return Event(seq=seq, type=type, agent="a", data={"id": f"F{n}", **data})

    log = [said(n, "fact_added", n, text="t", confidence=0.5) for n in range(1, count + 1)]
    for n in (3, 4, 3, count, count - 1, 4, 5, count):
        seq = len(log) + 1
        log.append(said(seq, "fact_modified", n, confidence=seq / 100_000, reason=f"at {seq}"))
    timeline = Timeline(MemorySource(log))
    whole = timeline.last.facts
    assert whole == fold(log).facts
    assert [entry[0] for entry in whole["F3"].history] == [3, count + 1, count + 3]
    for seq in (count + 2, count + 5, count + 7):
        assert timeline.at(seq).facts == fold(log[:seq]).facts


def test_lines_of_all_sizes_make_blocks_of_some_events() -> None:
    """The number of lines is guessed from their size, and one guess is followed by lines of quite another."""
    sizes = [10] * 300 + [9000] * 5 + [40] * 200 + [300_000, 5] + [2000, 5, 5] * 60
    log = events(
        *[("message", {"message_id": f"m{n}", "content": "x" * size}) for n, size in enumerate(sizes)]
    )
    source = LinesSource(as_lines([event.to_dict() for event in log]))
    lines = source.buffer()
    assert lines is not None
    blocks = LineBlocks(lines, 20)
    read = list(blocks.more())
    assert [event.seq for block in read for event in block] == list(range(1, len(log) + 1))
    assert max(map(len, read)) <= 25
    for n, block in enumerate(read):
        assert [event.seq for event in blocks.part(n, block[-1].seq)] == [event.seq for event in block]
        assert [event.seq for event in blocks.part(n, block[0].seq)] == [block[0].seq]
    for seq in (1, 300, 303, 400, 506, 507, 600, len(log)):
        assert Timeline(source, every=20).at(seq) == fold(source.events(stop=seq + 1))


def test_reading_stopped_inside_what_was_decoded_at_once_goes_on_there() -> None:
    """Several blocks may come of one piece; who takes the first of them gets the others later."""
    log = events(*[("error", {"n": n}) for n in range(500)])
    lines = LinesSource(as_lines([event.to_dict() for event in log])).buffer()
    assert lines is not None
    blocks = LineBlocks(lines, 3)
    seqs: list[int] = []
    while block := next(blocks.more(), None):
        seqs += [event.seq for event in block]
    assert seqs == list(range(1, 501))


@pytest.mark.parametrize("names", [3, 32, 33, 60])
def test_sums_of_few_names_and_of_many(names: int) -> None:
    """However many agents, models and tools there are, each state has the sums of its seq, in their order."""
    log: list[Event] = []
    for n in range(names * 4):
        name = f"a{n * 7 % names}"
        seq = len(log) + 1
        tokens = {"input": n, "output": 1}
        for event in (
            Event(seq=seq, type="step_start", agent=name, data={"kind": "llm", "model": f"of {name}"}),
            Event(seq=seq + 1, type="step_end", agent=name, step=seq, data={"tokens": tokens}),
            Event(seq=seq + 2, type="tool_call", agent=name, data={"tool": f"for {name}", "duration_ms": n}),
        ):
            log.append(event)
    timeline = Timeline(MemorySource(log), every=7)
    for seq in range(len(log), 0, -5):
        got, want = timeline.at(seq), fold(log[:seq])
        for sums, wanted in ((got.agents, want.agents), (got.models, want.models), (got.tools, want.tools)):
            assert list(sums.items()) == list(wanted.items())
            assert "nobody" not in sums and len(sums) == len(wanted)
        assert got == want


def test_what_a_user_froze_stays_out_of_collections(source: EventSource) -> None:
    """Reading makes old what it read, and touches nothing that was frozen before."""
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        assert frozen > 0
        Timeline(source).at(N)
        assert gc.get_freeze_count() >= frozen - 100  # some of it may have gone meanwhile
    finally:
        gc.unfreeze()
    Timeline(source).at(N)
    assert gc.get_freeze_count() == 0
    gc.freeze()  # as it was: what modules are is no garbage to the tests that follow
