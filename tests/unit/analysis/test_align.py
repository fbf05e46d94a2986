"""Alignment of sequences."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.analysis.align import align
from tests.seeds import tries

_WORDS = st.lists(st.integers(0, 4), max_size=40)


def _matched(left: Sequence[int], right: Sequence[int]) -> int:
    places = align(left, right)
    taken = [(n, place) for n, place in enumerate(places) if place >= 0]
    assert all(left[n] == right[place] for n, place in taken)
    assert all(a[1] < b[1] for a, b in pairwise(taken))
    return len(taken)


@given(_WORDS)
def test_a_sequence_matches_itself_place_by_place(words: list[int]) -> None:
    """Nothing differs from itself."""
    assert align(words, words) == list(range(len(words)))


def _longest(left: Sequence[int], right: Sequence[int]) -> int:
    """Length of the longest common subsequence, by the table of the textbooks."""
    row = [0] * (len(right) + 1)
    for word in left:
        above = row
        row = [0]
        for n, other in enumerate(right):
            row.append(above[n] + 1 if word == other else max(row[n], above[n + 1]))
    return row[-1]


@given(_WORDS, _WORDS)
def test_no_more_can_be_matched(left: list[int], right: list[int]) -> None:
    """Of a few thousand keys as many are matched as keep their order."""
    assert _matched(left, right) == _longest(left, right)


@pytest.mark.parametrize("kinds", [3, 6, 12])
def test_what_stayed_is_told_from_what_came_and_went(kinds: int) -> None:
    """A third of a sequence changed, went or came, and keys repeat: most of the rest is matched with
    itself, not with another that is equal."""
    chance = random.Random(kinds)
    left = [chance.randrange(kinds) for _ in range(900)]
    right: list[int] = []
    stayed = []
    for n, word in enumerate(left):
        luck = chance.random()
        if luck < 0.15:
            right.append(kinds + n)
        elif luck > 0.22:
            if luck < 0.3:
                right.append(chance.randrange(kinds))
            stayed.append((n, len(right)))
            right.append(word)
    places = align(left, right)
    assert sum(places[n] == place for n, place in stayed) > len(stayed) * 0.8


@given(_WORDS, st.integers(0, 40), st.integers(0, 5))
def test_one_insertion_leaves_all_else_matched(words: list[int], at: int, word: int) -> None:
    """However much the keys repeat."""
    longer = [*words[:at], word, *words[at:]]
    assert _matched(words, longer) == len(words)
    assert _matched(longer, words) == len(words)


@given(_WORDS, _WORDS)
def test_matches_are_equal_and_in_order(left: list[int], right: list[int]) -> None:
    """Whatever the two hold; and where one key is common to both, something is matched."""
    assert (_matched(left, right) > 0) == bool(set(left) & set(right))


@settings(max_examples=tries(25))
@given(st.integers(0, 2**32), st.sampled_from([2, 8, 1000]))
def test_few_edits_in_a_long_repetitive_sequence_are_found(seed: int, kinds: int) -> None:
    """Where no key is unique, runs of keys are."""
    chance = random.Random(seed)
    left = [chance.randrange(kinds) for _ in range(3000)]
    right = [word for word in left if chance.random() > 0.01]
    assert _matched(left, right) >= len(right) * 0.98


@pytest.mark.parametrize("kinds", [1, 2, 50, 100_000])
def test_long_unlike_sequences_end(kinds: int) -> None:
    """Nothing quadratic: ten thousand random keys against ten thousand others."""
    chance = random.Random(kinds)
    left = [chance.randrange(kinds) for _ in range(10_000)]
    right = [chance.randrange(kinds) for _ in range(10_000)]
    _matched(left, right)
