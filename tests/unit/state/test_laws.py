"""Laws every fold keeps, over random logs of which some are malformed."""

from __future__ import annotations

import random
from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.codec import open_log
from lctl.codec.eventfile import event_of
from lctl.state.layers import plain
from lctl.state.model import State
from lctl.state.reducer import apply, fold, initial
from lctl.state.source import EventSource, MemorySource
from lctl.state.summary import state_from_dict, state_to_dict
from lctl.state.timeline import Timeline
from tests.seeds import tries
from tests.unit.state.logs import LinesSource, as_lines, decoded, raw_events

Raw = list[dict[str, Any]]


def same(got: State, want: State) -> None:
    """Equal, also in the order of their mappings; names the field that is not."""
    for name in State.__struct_fields__:
        a, b = plain(getattr(got, name)), plain(getattr(want, name))
        assert a == b, name
        assert list(a) == list(b) if isinstance(a, dict) else True, f"order of {name}"
    assert got == want


def states(raw: Raw) -> dict[int, State]:
    """The state at each seq, by one event after the other."""
    state = initial("c")
    found = {}
    for event in decoded(raw):
        state = found[event.seq] = apply(state, event)
    return found


@settings(max_examples=tries(80), deadline=None)
@given(raw_events(), st.integers(0, 40))
def test_a_fold_can_be_cut_anywhere(raw: Raw, cut: int) -> None:
    """fold(a + b) == fold(b, start=fold(a)), whatever is in a and b."""
    log = decoded(raw)
    same(fold(log[cut:], start=fold(log[:cut])), fold(log))


@settings(max_examples=tries(80), deadline=None)
@given(raw_events())
def test_a_block_at_once_is_the_events_one_by_one(raw: Raw) -> None:
    """fold == apply after apply."""
    final = initial()
    for event in decoded(raw):
        final = apply(final, event)
    same(fold(decoded(raw)), final)


def visit(source: EventSource, wanted: dict[int, State], every: int, seed: int) -> None:
    """Ask a timeline for every seq, and some that are none, in random order."""
    timeline = Timeline(source, every=every)
    order = list(range(-1, max(wanted, default=0) + 3))
    random.Random(seed).shuffle(order)
    for seq in order:
        before = max((n for n in wanted if n <= seq), default=None)
        same(timeline.at(seq), initial("c") if before is None else wanted[before])


EVERY = st.sampled_from([1, 2, 3, 5, 64])


@settings(max_examples=tries(60), deadline=None)
@given(raw_events(), EVERY, st.integers(0, 9))
def test_a_timeline_is_the_fold_at_every_seq(raw: Raw, every: int, seed: int) -> None:
    """at(n) == fold of seq <= n, for every n, asked for in any order."""
    visit(MemorySource(raw, {"id": "c"}), states(raw), every, seed)


@settings(max_examples=tries(80), deadline=None)
@given(raw_events(), EVERY, st.integers(0, 9))
def test_a_timeline_of_lines_is_the_fold_of_their_events(raw: Raw, every: int, seed: int) -> None:
    """Reading lines straight into the intake says the same as decoding them first."""
    lines = as_lines(raw)
    visit(
        LinesSource(lines, {"id": "c"}),
        states([event.to_dict() for line in lines if (event := event_of(line))]),
        every,
        seed,
    )


@settings(max_examples=tries(60), deadline=None)
@given(raw_events(most=25))
def test_a_log_file_gives_the_same_states(raw: Raw) -> None:
    """Through the codec, line by line, the states are those of its decoded events."""
    log = open_log(b'{"lctl":"4.0","chain":{"id":"c"},"events":[\n' + b",\n".join(as_lines(raw)) + b"\n]}\n")
    timeline = Timeline(log, every=4)
    for seq in range(log.last_seq + 1):
        same(timeline.at(seq), fold(log.events(stop=seq + 1), start=initial("c")))


@settings(max_examples=tries(60), deadline=None)
@given(raw_events(), st.integers(0, 40))
def test_a_state_restored_from_json_folds_on(raw: Raw, cut: int) -> None:
    """A checkpoint's state is as good as the events before it."""
    log = decoded(raw)
    stored = orjson.loads(orjson.dumps(state_to_dict(fold(log[:cut]))))
    restored = state_from_dict(stored)
    same(restored, fold(log[:cut]))
    same(fold(log[cut:], start=restored), fold(log))


@settings(max_examples=tries(60), deadline=None)
@given(raw_events())
def test_a_state_never_changes(raw: Raw) -> None:
    """Folding on, twice and differently, leaves the state it starts from as it was."""
    log = decoded(raw)
    half = fold(log[: len(log) // 2])
    before = state_to_dict(half)
    on = fold(log[len(log) // 2 :], start=half)
    fold(reversed(log), start=half)
    assert state_to_dict(half) == before
    same(fold(log[len(log) // 2 :], start=half), on)


@settings(max_examples=tries(60), deadline=None)
@given(raw_events(), st.randoms(use_true_random=False))
def test_events_out_of_order_are_taken_without_an_exception(raw: Raw, shuffler: random.Random) -> None:
    """A fold of any sequence ends; a timeline puts it in order first."""
    shuffled = raw[:]
    shuffler.shuffle(shuffled)
    fold(decoded(shuffled + shuffled[:3]))
    same(Timeline(MemorySource(shuffled, {"id": "c"})).last, fold(decoded(raw), start=initial("c")))


def test_lines_that_break_their_promise_are_read_as_the_log_sorts_them() -> None:
    """A repeated or misplaced line in the middle of a file does not change what its events say."""
    good = [{"seq": n, "type": "step_start", "timestamp": "", "agent": "a", "data": {}} for n in range(1, 30)]
    lines = as_lines(good)
    for broken in ([*lines[:10], lines[20], *lines[10:]], lines[:10] + lines[3:], lines[15:] + lines[:15]):
        timeline = Timeline(LinesSource(broken, {"id": "c"}), every=4)
        for seq in (29, 3, 12, 21):
            same(timeline.at(seq), fold(decoded(good[:seq]), start=initial("c")))
