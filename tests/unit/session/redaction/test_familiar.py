"""Short lines that recur but for their numbers are not searched for secrets again; nothing else changes."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.session import Redactor
from lctl.session.redaction.scrub import Scrubber
from lctl.session.redaction.suspicion import SHAPE
from tests.seeds import tries


def _event(text: str, seq: int = 1) -> dict[str, Any]:
    time = "2026-01-01T00:00:00.000000Z"
    return {"seq": seq, "type": "t", "timestamp": time, "agent": "a", "data": {"x": text}}


def _scrubbed(scrub: Scrubber, event: dict[str, Any]) -> bytes:
    return scrub(orjson.dumps(event), event)


def _secret(redactor: Redactor, event: dict[str, Any]) -> bytes:
    """What is stored of an event that is taken apart whatever it looks like."""
    redacted = redactor.event(event)
    return orjson.dumps(event if redacted is None else redacted)


#: What makes digits matter: forms that begin with one, hashes, values of the environment.
_FRAGMENTS = st.sampled_from(
    ["r8_", "r1_", "ya29.", "ya11.", "eyJ", "sk-", "AKIA", "1", "22", "word", " ", "=", "-", "_", "."]
) | st.sampled_from(
    ["hunter2-1234", "hunter3-1234", '"sha256:', '"sha111:', "0" * 20, "1a2b3c4d5e" * 2, "5f" * 32]
)


def _numbered(text: str, digits: str) -> str:
    """`text` with other digits, as far as there are any."""
    left = iter(digits)
    return re.sub("[0-9]", lambda found: next(left, found[0]), text)


@settings(max_examples=tries(300), deadline=None)
@given(
    st.lists(_FRAGMENTS, max_size=6).map("".join), st.lists(st.text("0123456789", min_size=120), max_size=4)
)
def test_other_digits_hide_nothing(text: str, numbers: list[str]) -> None:
    """After any number of lines of its shape, a line is stored as it is when each is taken apart."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("APP_TOKEN", "hunter2-1234")
        redactor = Redactor(key=b"k")
        scrub = Scrubber(redactor)
        for digits in (*numbers, ""):
            event = _event(_numbered(text, digits))
            line = orjson.dumps(event)
            if redactor.suspicion(line, line.lower().decode("latin-1")):
                assert _scrubbed(scrub, event) == _secret(redactor, event)
            else:
                assert _scrubbed(scrub, event) == line
            assert scrub.passes(line, True) <= (_scrubbed(scrub, event) == line)


def test_a_line_is_remembered_by_its_shape() -> None:
    """Not one with a null, which may have been a NaN, nor one that was suspected."""
    redactor = Redactor()
    scrub = Scrubber(redactor)
    for text, familiar in (("room 7", True), ("null", False), ("secret", False), ("ya29.", False)):
        for seq in (1, 2):
            _scrubbed(scrub, _event(f"{text} {seq}", seq))
        assert redactor.is_familiar(orjson.dumps(_event(f"{text} 9", 9)).translate(SHAPE)) is familiar


def test_a_new_secret_makes_all_lines_strange(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes into the environment is redacted from then on, in lines that were familiar, too."""
    scrub = Scrubber(Redactor())
    event = _event("open sesame 1")
    for _ in range(2):
        assert b"sesame" in _scrubbed(scrub, event)
    monkeypatch.setenv("CAVE_PASSWORD", "open sesame 1")
    assert b"sesame" not in _scrubbed(scrub, event)
    assert b"sesame" in _scrubbed(scrub, _event("open sesame 2"))
    assert b"sesame" not in _scrubbed(scrub, event)


def test_a_nan_is_told_from_none_in_lines_of_one_shape() -> None:
    """Both are `null` to orjson."""
    scrub = Scrubber(None)
    for value, stored in ((None, None), (float("nan"), {"$float": "nan"}), (None, None)):
        event = {**_event("x"), "data": {"x": value}}
        assert orjson.loads(_scrubbed(scrub, event))["data"]["x"] == stored


def test_sessions_with_one_redactor_keep_their_own_limits() -> None:
    """What is short enough for one is shortened by the other."""
    redactor = Redactor()
    event = _event("word " * 20)
    wide, narrow = Scrubber(redactor), Scrubber(redactor, max_string=50)
    assert _scrubbed(wide, event) == _scrubbed(wide, event) == orjson.dumps(event)
    assert b"[lctl: 50 of 100 characters cut here]" in _scrubbed(narrow, event)


def test_lines_that_do_not_recur_are_no_longer_noted() -> None:
    """A program whose lines are all different does not pay for it."""
    redactor = Redactor()
    scrub = Scrubber(redactor)
    for n in range(1200):
        _scrubbed(scrub, _event("".join(chr(97 + n // 26**k % 26) for k in range(3))))
    event = _event("last")
    _scrubbed(scrub, event)
    assert not redactor.is_familiar(orjson.dumps(event).translate(SHAPE))
