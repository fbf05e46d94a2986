"""Secrets that a text gives to names: what finding them takes, and what is found beside placeholders."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.session import Redactor
from lctl.session.redaction.assignments import assigned_secrets
from lctl.session.redaction.search import Forms
from tests.seeds import tries


class Searched(str):
    """A text that counts the characters `rfind` may look at."""

    characters = 0

    def rfind(self, wanted: str, *place: Any) -> int:
        start, end = (*place, 0, len(self))[:2] if len(place) == 2 else (0, len(self))
        self.characters += end - start
        return super().rfind(wanted, *place)


def _log_of(lines: int, end: str) -> Searched:
    return Searched("INFO request prompt_tokens=120 completion_tokens=30 ok\n" * lines + end)


@pytest.mark.parametrize(
    "end", ["auth token: see vault", "[redacted:token:12ab]", "[redacted:token", "token=hunter2hunter2"]
)
def test_a_text_that_says_token_in_every_line_is_looked_at_once(end: str) -> None:
    """A log of usage, of any length: four times the lines take four times the work."""
    work = []
    for lines in (100, 400):
        text = _log_of(lines, end)
        forms = Forms()
        list(assigned_secrets(text, forms.names(text), forms, lambda name: True, frozenset()))
        work.append(text.characters)
    assert work[1] <= 4 * work[0] + 100
    assert work[1] <= 3 * len(_log_of(400, end))


_PIECES = st.sampled_from(
    [
        "[redacted:",
        "token:",
        "12ab",
        "]",
        " ",
        "password=",
        "hunter2hunter2",
        '"',
        "\n",
        "-",
        "api_key: ",
        "x",
    ]
)


@settings(max_examples=tries(300), deadline=None)
@given(st.lists(_PIECES, max_size=14))
def test_names_in_placeholders_are_none(pieces: list[str]) -> None:
    """Wherever a placeholder is open, whole or cut: a name there is taken for a part of it."""
    text = "So it is: " + "".join(pieces)
    for open_one in re.finditer(r"\[redacted:[^\]]*(?:\]|\Z)", text):
        assert open_one[0] in Redactor().text(text)
