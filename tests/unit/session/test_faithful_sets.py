"""Sets that tools give come back in the order in which the program met their elements."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.session.faithful.coding import decode, encode

_items = st.lists(st.integers(-(2**40), 2**40) | st.text(max_size=3) | st.tuples(st.integers()), unique=True)


def _again(value: Any) -> Any:
    return decode(json.loads(json.dumps(encode(value))))


def _of_keys(items: list[Any]) -> set[Any]:
    return set(dict.fromkeys(items))


@pytest.mark.parametrize("made", [set, frozenset, _of_keys])
@given(items=_items)
def test_a_set_is_the_same_again(made: Any, items: list[Any]) -> None:
    value = made(items)
    back = _again([value, value])
    assert back[0] == value
    assert type(back[0]) is type(value)
    assert back[0] is back[1]


@pytest.mark.parametrize("first", range(8))
def test_elements_that_want_one_place_keep_their_order(first: int) -> None:
    for second in range(
        first + 8, 200, 8
    ):  # small ints are their own hashes, and a small table has eight places
        for items in ([first, second], [second, first]):
            value = set(items)
            assert list(_again(value)) == list(value)
            assert list(_again(frozenset(items))) == list(frozenset(items))


@pytest.mark.parametrize("count", [3, 5, 17, 40])
def test_the_size_of_the_table_is_kept(count: int) -> None:
    items = [n * 37 for n in range(count)]
    shrunk = set(range(0, 1000, 7))
    shrunk &= set(items)
    emptied = {*items, *range(500, 509)}
    emptied -= set(range(500, 509))
    for value in (_of_keys(items), shrunk, emptied, {*items[:3]} | {*items[3:]}):
        assert list(_again(value)) == list(value)


def test_a_large_set_whose_order_is_not_found_has_the_same_elements() -> None:
    """No reason to run a tool again, with what it does to the world."""
    value = {f"{n:05}" for n in range(3_000)}
    made = encode({"found": value})
    assert decode(made)["found"] == value
    assert encode(decode(made)) == made
