"""Moments of what is live while a tape goes by: all in one order, however far the tape is ahead by then."""

from __future__ import annotations

from lctl.session.concurrency.underway import UnderWay


class Clock:
    """Says what it is set to, in milliseconds."""

    def __init__(self) -> None:
        self.ms = 0

    def monotonic_ns(self) -> int:
        return self.ms * 1_000_000

    def now(self) -> str:
        return "2024-01-15T10:30:00.000000Z"


def followed(clock: Clock, tape: list[float]) -> UnderWay:
    made = UnderWay(clock)
    made.follow(lambda: tape[0])
    return made


def test_what_had_begun_stays_where_it_was() -> None:
    clock, tape = Clock(), [0.0]
    under_way = followed(clock, tape)
    clock.ms = 10
    early = under_way.begin()
    before = under_way.fields(early, True)["at"]
    tape[0] = 500.0
    clock.ms = 20
    late = under_way.begin()
    assert under_way.fields(early, True)["at"] == before < 500.0 < under_way.fields(late, True)["at"]


def test_what_it_brings_is_where_it_came() -> None:
    """A chunk before the tape went ahead, and one after that."""
    clock, tape = Clock(), [0.0]
    under_way = followed(clock, tape)
    clock.ms = 10
    stream = under_way.begin()
    clock.ms = 20
    chunks = [clock.monotonic_ns()]
    tape[0] = 500.0
    clock.ms = 30
    other = under_way.begin()
    clock.ms = 40
    chunks.append(clock.monotonic_ns())
    under_way.keep_behind(chunks[-1])
    start = under_way.fields(stream, True)["at"]
    first, second = (start + ms for ms in under_way.times(stream.ns, chunks))
    assert first == start + 10
    assert first < 500.0 < under_way.fields(other, True)["at"] < second
    assert under_way.between(stream.ns, chunks[-1]) == second - start
    assert under_way.since(other) == 10.0


def test_a_clock_that_is_ahead_is_taken_as_it_is() -> None:
    clock, tape = Clock(), [0.0]
    under_way = followed(clock, tape)
    tape[0], clock.ms = 5.0, 100
    first = under_way.begin()
    tape[0], clock.ms = 90.0, 200
    assert under_way.since(first) == 100.0
    assert under_way.now() - under_way.fields(first, True)["at"] == 100.0
