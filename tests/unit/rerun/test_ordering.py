"""The order of what reached a program, from what its log says of it."""

from __future__ import annotations

from lctl.rerun.order.moments import END, RESUMED, START
from lctl.rerun.order.ordering import deliveries
from lctl.rerun.tape.entries import Entry


def entry(lane: str, seq: int, at: float, duration: float, **more: float) -> Entry:
    made = Entry("exchange", lane, seq, seq - 10)
    made.number, made.at, made.duration, made.status = 1, at, duration, 200
    for name, value in more.items():
        setattr(made, name, value)
    return made


def parts(*entries: Entry, apart: tuple[int, ...] = ()) -> list[tuple[str, int]]:
    found = deliveries(sorted(entries, key=lambda one: one.begins), apart=apart)
    return [(one.key[0], one.key[3]) for one in found]


def test_a_program_goes_on_after_the_end_though_the_log_puts_that_later() -> None:
    """By the clocks the second went on before the first had ended; by the log it ended after that."""
    first = entry("0.1", 11, 0.0, 20.0)
    second = entry("0.2", 15, 1.0, 9.0, resumed=10.5)
    assert parts(first, second) == [("0.1", START), ("0.2", START), ("0.1", 0), ("0.2", 0), ("0.2", RESUMED)]


def test_another_attempt_begins_when_it_did_whatever_was_written_since_the_one_before() -> None:
    """Its place in the log is that of the answer before it; others were answered between."""
    retried = entry("0.1", 31, 500.0, 5.0, retry=True)
    retried.begins = 11
    other = entry("0.2", 21, 1.0, 19.0)
    assert parts(other, retried) == [("0.2", START), ("0.2", 0), ("0.1", START), ("0.1", 0)]


def test_what_the_log_has_behind_the_first_word_of_who_went_on_stays_there() -> None:
    first = entry("0.1", 11, 0.0, 20.0)
    second = entry("0.2", 15, 1.0, 9.0, resumed=10.5, told=30)
    third = entry("0.3", 41, 2.0, 8.5)
    assert parts(first, second, third)[-3:] == [("0.2", RESUMED), ("0.3", START), ("0.3", 0)]


def test_a_request_that_left_late_keeps_its_place_in_the_log_and_nobody_back() -> None:
    """Its step began, and its thread was kept from sending it while others went on."""
    late = entry("0.1", 51, 30.0, 5.0, begins=11)
    others = entry("0.2", 21, 1.0, 9.0, resumed=10.5), entry("0.3", 31, 2.0, 10.0)
    found = parts(late, *others)
    assert found.index(("0.1", START)) < found.index(("0.2", 0))
    assert found[-4:] == [("0.2", 0), ("0.2", RESUMED), ("0.3", 0), ("0.1", 0)]


def test_the_head_of_a_call_that_was_cancelled_then_does_not_wait_for_the_end() -> None:
    """What cancelled it came before; a head that came with that would find nobody."""
    cancelled = entry("0.1", 21, 0.0, 20.0, cancelled=True)
    failing = entry("0.2", 20, 1.0, 18.0, begins=12)
    assert parts(cancelled, failing) == [("0.1", START), ("0.1", 0), ("0.2", START), ("0.2", 0), ("0.1", END)]


def test_nothing_is_behind_what_has_the_times_of_another_run() -> None:
    """The call of a tool's body in a fork, which took it over as it was recorded: later than the fork was."""
    taken = entry("0.1/t1", 15, 400.0, 20.0)
    later = entry("0.2", 31, 30.0, 5.0)
    assert parts(taken, later, apart=(15,))[:2] == [("0.2", START), ("0.2", 0)]
    assert parts(taken, later)[-2:] == [("0.2", START), ("0.2", 0)]


def wake(lane: str, seq: int, at: float) -> Entry:
    made = Entry("wake", lane, seq, seq)
    made.number, made.at, made.turn = 1, at, 3
    return made


def test_what_a_thread_made_of_an_answer_comes_after_it_though_the_log_has_it_before() -> None:
    """An SDK that hands answers to threads; what it gives is recorded when it returns."""
    call = entry("0.1", 15, 0.0, 9.0)
    assert parts(call, wake("0.1.4", 12, 10.0)) == [("0.1", START), ("0.1", 0), ("0.1.4", 0)]
    other = wake("0.2.4", 12, 10.0)  # of another task: the log tells which came first
    assert parts(call, other) == [("0.1", START), ("0.2.4", 0), ("0.1", 0)]


def test_the_head_of_a_stream_comes_before_what_a_thread_made_of_it() -> None:
    stream = entry("0.1", 15, 0.0, 9.0)
    stream.times, stream.turns = [5.0, 6.0], [2, 1]
    found = deliveries([stream, wake("0.1.4", 12, 4.0)])
    seen = [(one.key[0], one.key[3], one.turn) for one in found if one.key[3] != START]
    assert seen[:4] == [("0.1", 0, None), ("0.1.4", 0, 3), ("0.1", 1, 2), ("0.1", 2, 1)]


def test_the_head_of_a_stream_comes_before_what_its_lane_asks_next() -> None:
    """Of two streams the first head of all makes its task ask for something; its pieces came later."""
    first, second = entry("0.1", 15, 0.0, 9.0), entry("0.2", 16, 0.0, 9.0)
    first.times, first.turns = [4.0, 5.0], [2, 1]
    second.times, second.turns = [7.0, 8.0], [1, 1]
    asked = entry("0.2", 14, 2.0, 1.0)
    asked.number, asked.plain = 2, True
    found = deliveries([first, second, asked])
    seen = [(*one.key[::2], one.key[3], one.turn) for one in found if one.key[0] == "0.2"]
    assert seen[:5] == [
        ("0.2", 1, START, None),
        ("0.2", 1, 0, None),
        ("0.2", 2, START, None),
        ("0.2", 2, 0, None),
        ("0.2", 1, 1, 1),
    ]
    head = ("0.2", "exchange", 1, 0)
    assert [one.key for one in found].index(head) < [one.key for one in found].index(
        ("0.1", "exchange", 1, 0)
    )
    aside = [entry(f"{one.lane}.0", one.seq, one.at or 0.0, one.duration) for one in (second, asked)]
    aside[0].times, aside[0].turns = second.times, second.turns
    assert [part for _, part in parts(*aside)][:3] == [START, START, 0]  # of many who share that lane
