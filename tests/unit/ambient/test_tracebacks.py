"""What counts of a traceback is what was raised."""

from __future__ import annotations

import itertools
import traceback

import pytest

from lctl.instrument.ambient.tracebacks import Tracebacks

_HEAD = "Traceback (most recent call last):\n"


def without(text: str, *cuts: int) -> str:
    """Of `text` that comes in pieces, cut at these places."""
    tracebacks = Tracebacks()
    data = text.encode()
    bounds = [0, *cuts, len(data)]
    return b"".join(tracebacks.without_places(data[a:b]) for a, b in itertools.pairwise(bounds)).decode()


def _raised() -> str:
    def look() -> None:
        try:
            dict[str, int]()["x"]
        except KeyError as error:
            raise ValueError("two\n  lines") from error

    try:
        look()
    except ValueError:
        return traceback.format_exc()
    raise AssertionError


def test_the_places_of_a_traceback_do_not_count() -> None:
    """Of each of a chain; words between them, and lines of a message, do."""
    said = (
        _HEAD + "KeyError: 'x'\n\nThe above exception was the direct cause of the following exception:\n\n"
        f"{_HEAD}ValueError: two\n  lines\n"
    )
    assert without(f"before\n{_raised()}after\n  indented\n") == f"before\n{said}after\n  indented\n"


def test_wherever_a_piece_ends() -> None:
    """But in the middle of a first line, where it is taken as it is."""
    text = f"say\n{_raised()}end\n"
    whole = without(text)
    heads = [at for at in range(len(text)) if text.startswith(_HEAD, at)]
    for cut in range(1, len(text)):
        if not any(at < cut < at + len(_HEAD) for at in heads):
            assert without(text, cut) == whole, cut


@pytest.mark.parametrize("text", ["  File 'x'\n  y\n", f"no {_HEAD}", "Traceback (most\n  x\n", ""])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert without(text) == text


def test_one_that_ends_in_a_place_is_as_far_as_it_came() -> None:
    text = f"{_HEAD}  File 'x', line 1, in y\n    z"
    assert without(text) == _HEAD
