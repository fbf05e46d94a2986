"""Secrets that the environment holds: what stands in a variable whose name says that it is one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

import orjson

from lctl.session.redaction.names import ENVIRONMENT, ENVIRONMENT_PLACE
from lctl.session.redaction.search import written_forms

_MIN_VALUE = 8


def secrets(allowed: frozenset[str]) -> tuple[dict[str, str], re.Pattern[str] | None]:
    """The values by each form in which a text may have them, and what finds those; None if there is none."""
    secret, place = re.compile(ENVIRONMENT), re.compile(ENVIRONMENT_PLACE)
    values = {
        value
        for name, value in list(os.environ.items())
        if len(value) >= _MIN_VALUE and secret.search(name) and not place.search(name)
    } - allowed
    written = {form: value for value in values for form in written_forms(value)}
    # A value that is a plain word ("postgres") is only taken where it stands alone.
    patterns = [
        rf"(?<![A-Za-z0-9]){re.escape(form)}(?![A-Za-z0-9])" if form.isalpha() else re.escape(form)
        for form in sorted(written, key=len, reverse=True)
    ]
    return written, re.compile("|".join(patterns)) if patterns else None


def lowered(forms: Iterable[str]) -> list[str]:
    """These as a line in lower case has them."""
    return [orjson.dumps(form)[1:-1].lower().decode("latin-1") for form in forms if _encodable(form)]


def _encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
