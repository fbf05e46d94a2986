"""A text that comes by pieces is looked at piece by piece: what a look at all of it finds is found."""

from __future__ import annotations

import json

import pytest

from lctl.session import Redactor
from lctl.session.redaction.growing import Growing


def _spelled(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


#: Each has a word that ends before what makes a secret of it comes, near by or far.
_IN_STEPS = [
    "secret: hunter2",
    "passcode: x1y2z3",
    "subscription key: hunter2x",
    "password:" + " " * 60 + "hunter2x",
    "db://u:hunt!er!2@host",
    "bearer ab12cd",
    "Basic " + "dXNlcjpwYXNzd29yZA==",
    "-----BEGIN A PRIVATE KEY-----\nMIIE",
    "of the environment, 9",
    "?sig=ab/cd+ef/gh+ij/kl+mn/op",
    "hooks.slack.com/services/T0/B0/0123456789abcdef",
    *("sk-proj-MaNyChUnKs0123456789", "AKIAIOSFODNN7EXAMPLE", "ya29.0123456789abcdefghij"),
]


@pytest.mark.parametrize("secret", _IN_STEPS)
def test_a_secret_is_found_wherever_it_is_cut(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In pieces of every size, from every place on, with much before it and little."""
    if "environment" in secret:
        monkeypatch.setenv("APP_SECRET", secret)
    redactor = Redactor()
    for before in ("So ", "lorem " * 90):
        text = _spelled(f"{before}{secret} lorem ")
        for size in (1, 2, 3, 4, 5, 7, 11, 30):
            for first in range(size):
                growing = Growing(redactor)
                pieces = [text[:first], *(text[n : n + size] for n in range(first, len(text), size))]
                found = [not growing.add(piece) and growing.has_secret() for piece in pieces]
                assert any(found), (size, first)
                assert not any(found[: len(before) // size])


@pytest.mark.parametrize("size", [1, 4, 30, 3000])
def test_a_secret_that_is_longer_than_what_is_kept_of_a_text(size: int) -> None:
    """It begins far before its end, whatever comes at once."""
    part = "aZ3kQ9xW_b7-" * 50
    text = f"It is eyJ{part}.{part}.{part[:43]} and so on. "
    growing = Growing(Redactor())
    found = [not growing.add(text[n : n + size]) and growing.has_secret() for n in range(0, len(text), size)]
    assert any(found)


def test_a_word_without_an_end_is_waited_for_no_longer() -> None:
    """What is kept of it is limited; what comes after it is looked at as ever."""
    growing = Growing(Redactor())
    waited = [growing.add("aB3" * 10) for _ in range(400)]
    assert waited[0] and not waited[-1]
    assert not growing.has_secret()
    key = ".eyJ" + "aZ3kQ9xW_b7-" * 40 + ".01234567"
    said = [growing.add(key[n : n + 9]) or growing.has_secret() for n in range(0, len(key), 9)]
    assert said[-1] and not any(said[:-1])


def test_a_value_that_becomes_a_secret_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    growing = Growing(Redactor())
    assert not growing.add("It is hunter2-hunter2 " + "lorem " * 9)
    assert not growing.has_secret()
    monkeypatch.setenv("APP_PASSWORD", "hunter2-hunter2")
    growing.add("now ")
    assert growing.has_secret()
