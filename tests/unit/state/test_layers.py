"""Containers that share what did not change behave like the plain ones."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.state.layers import Layers, Runs, extended, over, without


@given(st.lists(st.dictionaries(st.integers(0, 30), st.integers(), max_size=12), max_size=12))
def test_layers_are_a_dict_that_is_updated(changes: list[dict[int, int]]) -> None:
    """Same keys in the same order, same values, same length; the older ones do not change."""
    plain: dict[int, int] = {}
    layers: Mapping[int, int] = over({}, {})
    seen = []
    for change in changes:
        plain.update(change)
        layers = over(layers, dict(change))
        seen.append((layers, dict(plain)))
    for layers, plain in seen:
        assert (list(layers), len(layers), layers) == (list(plain), len(plain), plain)
        assert all(layers[key] == value and key in layers for key, value in plain.items())
        assert layers.get(99) is None


@given(st.lists(st.lists(st.integers(), max_size=9), max_size=12), st.integers(-40, 40))
def test_runs_are_a_tuple_that_grows(pieces: list[list[int]], at: int) -> None:
    """Indexing, slicing, iterating, comparing."""
    plain: tuple[int, ...] = ()
    runs: Sequence[int] = extended((), ())
    for piece in pieces:
        older, before = runs, plain
        plain += tuple(piece)
        runs = extended(runs, piece)
        assert older == before
    assert tuple(runs) == plain == runs
    assert len(runs) == len(plain)
    assert runs[at:] == plain[at:]
    assert list(reversed(runs)) == list(reversed(plain))
    if -len(plain) <= at < len(plain):
        assert runs[at] == plain[at]
    else:
        with pytest.raises(IndexError):
            runs[at]


@given(st.lists(st.integers(1, 5), max_size=20), st.sets(st.integers(0, 60)))
def test_what_is_gone_from_a_sequence_is_gone(steps: list[int], gone: set[int]) -> None:
    """Whether it was there or not."""
    runs: Sequence[int] = ()
    at = 0
    for step in steps:
        runs, at = extended(runs, range(at, at + step)), at + step
    assert list(without(runs, gone)) == [one for one in range(at) if one not in gone]


def test_adding_one_by_one_stays_shallow() -> None:
    """A thousand additions are a stack a few parts deep."""
    layers: Mapping[int, int] = {}
    runs: Sequence[int] = ()
    for n in range(1000):
        layers, runs = over(layers, {n: n}), extended(runs, [n])
    assert isinstance(layers, Layers)
    assert isinstance(runs, Runs)
    assert len(layers._parts) < 12
    assert len(runs._parts) < 12
    assert pickle.loads(pickle.dumps(runs)) == runs
