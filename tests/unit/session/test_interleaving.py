"""In which order the lanes of a program write to one stream."""

from __future__ import annotations

from threading import Thread

from lctl.session.concurrency import interleaving
from lctl.session.concurrency.interleaving import Following, Order, Turn, turns_of

TURNS = (Turn("0", 2, 4), Turn("0.1", 1, 2), Turn("0", 1, 2))


def test_the_order_of_two_threads() -> None:
    order = Order()
    order.note("0", 3)
    order.note("0", 1)
    assert order.told() is None
    thread = Thread(target=order.note, args=("0.1", 2))
    thread.start()
    thread.join()
    assert order.told() == [["0", 2, 4], ["0.1", 1, 2]]


def test_the_order_of_threads_of_which_one_has_ended_as_the_next_begins() -> None:
    """Python gives the next the number of the one before."""
    order = Order()
    for lane in ("0.1", "0.2", "0.3"):
        thread = Thread(target=order.note, args=(lane, 2))
        thread.start()
        thread.join()
    assert order.told() == [["0.1", 1, 2], ["0.2", 1, 2], ["0.3", 1, 2]]


def test_so_many_turns_are_not_kept() -> None:
    order = Order()
    for number in range(interleaving._TURNS + 2):
        order.note(str(number % 2), 1)
    assert order.told() is None


def test_what_comes_too_early_waits() -> None:
    wrote: list[str] = []
    follows = Following(TURNS, wrote.append)
    follows.take("0.1", "bb")
    assert wrote == []
    for text in ("a", "aaa", "cc"):
        follows.take("0", text)
    assert wrote == ["a", "aaa", "bb", "cc"]
    assert follows.is_over
    assert follows.position == 8


def test_the_text_of_a_served_call_has_its_place() -> None:
    wrote: list[str] = []
    follows = Following(TURNS, wrote.append)
    follows.take("0.1", "bb")
    follows.served(4)
    follows.go_on()
    assert wrote == ["bb"]
    assert follows.position == 6


def test_the_text_of_a_served_call_is_that_of_the_calls_in_it_too() -> None:
    wrote: list[str] = []
    turns = (Turn("0/t1", 1, 3), Turn("0/t1/t1", 2, 5), Turn("0/t1", 1, 2), Turn("0", 1, 4))
    follows = Following(turns, wrote.append)
    follows.served(10)
    follows.take("0", "last")
    assert wrote == ["last"]
    assert follows.position == 14


def test_who_writes_more_than_recorded_does_not_wait() -> None:
    wrote: list[str] = []
    Following(TURNS, wrote.append).take("0.7", "new")
    assert wrote == ["new"]


def test_passed_over() -> None:
    wrote: list[str] = []
    follows = Following(TURNS, wrote.append)
    follows.take("0.1", "bb")
    follows.take("0.1", "more")
    follows.pass_over()
    assert wrote == ["bb", "more"]


def test_an_unreadable_order_is_none() -> None:
    assert turns_of([["0", 1, 2]]) == [Turn("0", 1, 2)]
    assert turns_of([["0", 1]]) == turns_of("x") == ()
