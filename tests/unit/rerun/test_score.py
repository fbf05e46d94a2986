"""The score: what reaches an event loop next, when something before it will not come."""

from __future__ import annotations

from lctl.rerun.order.score import Score


def test_what_follows_a_dropped_delivery_comes_after_the_turns_of_both() -> None:
    """A tool that is served does not sleep: what came after its sleep is not due at once for that."""
    slept, gave = ("0.1/t1", "sleep", 1, 0), ("0.1", "tool", 1, 0)
    score = Score([(1.0, ("0", "exchange", 1, 0), 2), (2.0, slept, 17), (3.0, gave, 0)])
    score.play(0)
    score.drop(1)
    assert score.head == 2
    assert score.turn(2) == 17


def test_dropping_what_counts_no_turns_changes_nothing() -> None:
    keys = [("0", "exchange", 1, part) for part in range(3)]
    score = Score([(1.0, keys[0], 4), (2.0, keys[1], None), (3.0, keys[2], 1)])
    score.drop(1)
    assert (score.head, score.turn(2)) == (0, 1)
