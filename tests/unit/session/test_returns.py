"""Moments at which the program went on after crossings that were recorded together."""

from __future__ import annotations

from lctl.clock import system_clock
from lctl.session.concurrency.returns import Returns
from lctl.session.concurrency.underway import UnderWay


def test_returns_one_after_the_other_leave_nothing() -> None:
    returns = Returns(UnderWay(system_clock))
    for seq in (3, 7):
        returns.end(returns.begin(), seq)
    assert returns.data() is None


def test_returns_at_the_same_time_are_kept_in_their_order() -> None:
    returns = Returns(UnderWay(system_clock))
    first, second = returns.begin(), returns.begin()
    returns.end(second, 7)
    returns.end(first, 3)
    data = returns.data()
    assert data is not None
    assert data["source"] == "resumed"
    assert {seq for seq, _ in data["value"]} == {3, 7}
    assert dict(data["value"])[7] <= dict(data["value"])[3]


def test_one_that_ended_before_another_went_on_is_kept_behind_it() -> None:
    """By the end of what it waited for it would be before it."""
    under_way = UnderWay(system_clock)
    returns = Returns(under_way)
    late = under_way.begin()
    first, second = returns.begin(), returns.begin()
    returns.end(second, 7)
    returns.end(first, 3)
    returns.end(returns.begin(ended_ns=late.ns), 9)
    assert [seq for seq, _ in (returns.data() or {})["value"]] == [7, 3, 9]
    returns.end(returns.begin(ended_ns=under_way.reading() + 1_000_000), 11)
    returns.end(returns.begin(), 13)
    assert [seq for seq, _ in (returns.data() or {})["value"]] == [7, 3, 9]


def test_what_was_not_written_is_not_kept() -> None:
    returns = Returns(UnderWay(system_clock))
    first, second = returns.begin(), returns.begin()
    returns.end(first, 0)
    returns.end(second, 5)
    data = returns.data()
    assert data is not None
    assert [seq for seq, _ in data["value"]] == [5]
