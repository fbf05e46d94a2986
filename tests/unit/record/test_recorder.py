"""Numbering: without gaps, whatever happens in between."""

from __future__ import annotations

import gc
import itertools
import json
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from lctl.record import bell, flusher
from lctl.record.journal import Durability, JournalStore
from lctl.record.recorder import Draft, Recorder
from lctl.record.store import MemoryStore
from lctl.testing import FixedClock


def events(recorder: Recorder) -> list[dict[str, Any]]:
    return [json.loads(line) for line in recorder.store.read()]


def test_an_event_has_the_canonical_form() -> None:
    """Keys in the protocol's order; `step` only where there is one."""
    recorder = Recorder(MemoryStore(), clock=FixedClock())
    assert recorder.record("step_start", "a", {"intent": "x"}) == 1
    assert recorder.record("fact_added", "a", {"id": "F1"}, 1) == 2
    assert list(recorder.store.read()) == [
        b'{"seq":1,"type":"step_start","timestamp":"2026-01-01T00:00:00.000000Z","agent":"a","data":{"intent":"x"}}',
        b'{"seq":2,"type":"fact_added","timestamp":"2026-01-01T00:00:00.001000Z","agent":"a","step":1,"data":{"id":"F1"}}',
    ]


def test_many_events_are_one_append() -> None:
    """The drafts know their numbers; none is fine too."""
    recorder = Recorder(MemoryStore())
    recorder.record("t", "a", {})

    def build(first: int) -> list[Draft]:
        return [
            ("message", "a", {"message_id": f"m{first}"}, None),
            ("step_start", "a", {"prompt": f"m{first}"}, None),
        ]

    assert recorder.record_many(build) == 2
    assert recorder.record_many(lambda first: []) == 4
    assert recorder.record("t", "a", {}) == 4
    assert [e["data"] for e in events(recorder)[1:3]] == [{"message_id": "m2"}, {"prompt": "m2"}]


def test_what_cannot_be_built_uses_no_number() -> None:
    """A failing `build`, and a value that cannot be encoded, leave the count as it was."""
    recorder = Recorder(MemoryStore())
    with pytest.raises(ZeroDivisionError):
        recorder.record_many(lambda first: [("t", "a", {"x": 1 / 0}, None)])
    with pytest.raises(TypeError):
        recorder.record("t", "a", {"x": object()})
    assert recorder.record("t", "a", {}) == 1


class _Finalised:
    """Records when it is collected."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.cycle = self

    def __del__(self) -> None:
        self._recorder.record("finalised", "gc", {})


@pytest.mark.slow
def test_a_finaliser_may_record_while_an_event_is_recorded(tmp_path: Path) -> None:
    """Garbage is collected inside the clock, the encoder and the build, in the middle of the call."""

    class CollectingClock(FixedClock):
        def now(self) -> str:
            gc.collect()
            return super().now()

    recorder = Recorder(JournalStore(tmp_path / "run.lctl.json", {"id": "c"}), clock=CollectingClock())
    for _ in range(5):
        _Finalised(recorder)
        before = recorder.seq
        seq = recorder.record("t", "a", {})
        assert seq == before + 1
        _Finalised(recorder)
        recorder.record_many(lambda first: [("many", "a", {"first": first}, None)] * 2)
    recorded = events(recorder)
    assert [e["seq"] for e in recorded] == list(range(1, len(recorded) + 1))
    assert sum(e["type"] == "finalised" for e in recorded) == 10
    assert all(e["data"]["first"] in (e["seq"], e["seq"] - 1) for e in recorded if e["type"] == "many")
    recorder.store.close({})


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
def test_a_signal_handler_may_record_while_an_event_is_recorded(tmp_path: Path) -> None:
    """A timer interrupts a recording loop at arbitrary instructions."""
    recorder = Recorder(JournalStore(tmp_path / "run.lctl.json", {"id": "c"}))
    handled = [0]

    def handle(number: int, frame: object) -> None:
        handled[0] += 1
        recorder.record("signal", "s", {})
        recorder.record_many(lambda first: [("signal", "s", {}, None)])

    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        loops = 0
        while handled[0] < 150:
            recorder.record("t", "a", {})
            recorder.record_many(lambda first: [("t", "a", {}, None)] * 3)
            loops += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    recorded = events(recorder)
    assert [e["seq"] for e in recorded] == list(range(1, len(recorded) + 1))
    assert sum(e["type"] == "signal" for e in recorded) == 2 * handled[0]
    assert sum(e["type"] == "t" for e in recorded) == 4 * loops
    recorder.store.close({})


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
# One that comes in a destructor reaches nobody, and Python says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_leaves_no_gap_and_no_half_event(tmp_path: Path) -> None:
    """KeyboardInterrupt at arbitrary instructions, as Ctrl-C brings it; the log and the count agree after."""
    recorder = Recorder(JournalStore(tmp_path / "run.lctl.json", {"id": "c"}))
    armed = [False]

    def handle(number: int, frame: object) -> None:
        if armed[0]:
            armed[0] = False  # here, not where it is caught: the next alarm may come before that line
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handle)
    interrupted = 0
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0007, 0.0007)
        while interrupted < 100:
            try:
                while True:
                    armed[0] = True  # each time: one raised while garbage is collected reaches nobody
                    recorder.record("t", "a", {"x": "y" * 50})
            except KeyboardInterrupt:
                interrupted += 1
    finally:
        armed[0] = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    last = recorder.record("t", "a", {})
    assert [e["seq"] for e in events(recorder)] == list(range(1, last + 1))
    recorder.store.close({})


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("durability", ["process", "buffered"])
def test_an_interrupt_never_leaves_the_lock_taken(tmp_path: Path, durability: Durability) -> None:
    """KeyboardInterrupt anywhere in taking the lock, waiting for it and giving it back: others record on, and
    no event is written twice."""
    recorder = Recorder(JournalStore(tmp_path / "run.lctl.json", {"id": "c"}, durability=durability))
    armed, done = [False], threading.Event()

    def handle(number: int, frame: object) -> None:
        if armed[0]:
            armed[0] = False
            raise KeyboardInterrupt

    def record() -> None:
        while not done.is_set():
            recorder.record("t", "other", {})
            recorder.record_many(lambda first: [("t", "other", {}, None)] * 2)

    other = threading.Thread(target=record, daemon=True)
    switch = sys.getswitchinterval()
    before = signal.signal(signal.SIGALRM, handle)
    interrupted = 0
    try:
        sys.setswitchinterval(1e-5)
        other.start()
        signal.setitimer(signal.ITIMER_REAL, 0.0007, 0.0007)
        while interrupted < 150:
            try:
                while True:
                    armed[0] = True
                    recorder.record("t", "main", {})
                    recorder.record_many(lambda first: [("t", "main", {}, None)])
            except KeyboardInterrupt:
                interrupted += 1
    finally:
        armed[0] = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.setswitchinterval(switch)
    reached = recorder.seq
    for _ in range(100):  # the other thread gets on, so this one holds nothing
        if recorder.seq > reached + 20:
            break
        done.wait(0.05)
    assert recorder.seq > reached + 20
    done.set()
    other.join(10)
    assert not other.is_alive()
    recorded = events(recorder)
    assert [e["seq"] for e in recorded] == list(range(1, len(recorded) + 1))
    recorder.store.close({})


def test_an_interrupt_as_the_flusher_is_woken_holds_nobody_back(tmp_path: Path) -> None:
    """KeyboardInterrupt before each instruction of waking it, in turn; a thread records on after each."""
    recorder = Recorder(JournalStore(tmp_path / "run.lctl.json", {"id": "c"}, durability="buffered"))
    waking = (flusher.__file__, bell.__file__, threading.__file__)
    left = [0]

    def count(frame: FrameType, what: str, _: object) -> Any:
        frame.f_trace_opcodes = is_waking = frame.f_code.co_filename in waking
        if is_waking and what in ("opcode", "line"):
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
        return count

    recorder.record("t", "first", {})
    reached = 0
    for instruction in itertools.count(1):
        recorder.store.flush()
        left[0] = instruction
        sys.settrace(count)
        try:
            recorder.record("t", "interrupted", {})
        except KeyboardInterrupt:
            reached = instruction
        finally:
            sys.settrace(None)
        other = threading.Thread(target=recorder.record, args=("t", "other", {}), daemon=True)
        other.start()
        other.join(10)
        assert not other.is_alive(), f"interrupted before instruction {instruction}"
        if left[0] > 0:
            break
    # Python 3.12 tells of opcodes only from the second call of a function on, if at all: lines are fewer.
    assert reached > (4 if sys.version_info[:2] == (3, 12) else 10)
    recorder.store.close({})
    assert [e["seq"] for e in events(recorder)] == list(range(1, recorder.seq + 1))


def test_threads_get_their_own_numbers(tmp_path: Path) -> None:
    """Eight threads at once: no gap, no double, every thread's events in its own order."""
    recorder = Recorder(JournalStore(tmp_path / "run.lctl.json", {"id": "c"}))
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def work(name: str) -> None:
        for n in range(200):
            recorder.record("t", name, {"n": n})

    threads = [threading.Thread(target=work, args=(f"t{n}",)) for n in range(8)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    recorded = events(recorder)
    assert [e["seq"] for e in recorded] == list(range(1, 1601))
    for name in {e["agent"] for e in recorded}:
        assert [e["data"]["n"] for e in recorded if e["agent"] == name] == list(range(200))
    recorder.store.close({})
