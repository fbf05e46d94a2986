"""The forms of secrets, compiled, and which of them a text is worth searching for.

Prose of 4 kB that says "token" and "key" took 5.1 ms with all of them; with those that may be in it, 0.9 ms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from lctl.session.redaction import formats, names
from lctl.session.redaction.signs import has_key

#: A kind and its pattern.
Form: TypeAlias = tuple[str, re.Pattern[str]]

#: One of these is in every name under which a secret is kept, in lower case.
_NAMES = ("pass", "pwd", "secret", "token", "authorization", "cookie", "key")
#: And with one of these each name that `names.NAME` finds begins.
_FIRST = "acempst"


#: How often a text may have been put into another: the arguments of a tool call that are in a file in a log.
_WRITTEN_AGAIN = 3


def written_forms(value: str) -> set[str]:
    """`value` as a text may have it: as it is, as Python's `repr`, in JSON, and in JSON that is in JSON."""
    forms = newest = {value}
    for _ in range(_WRITTEN_AGAIN):
        newest = {form[1:-1] for text in newest for form in (json.dumps(text), _spelled(text), repr(text))}
        forms = forms | newest
    return forms


def _spelled(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _compiled(form: str) -> Any:
    return cached_property(lambda self: re.compile(form))


class Forms:
    """Each is compiled when the first text comes that may hold it; all of them together take 80 ms."""

    #: In any case. The other is three times as fast, twice that where most letters are known to begin none.
    _name: re.Pattern[str] = _compiled(f"(?i){names.NAME}")
    _lower_name: re.Pattern[str] = _compiled(f"(?=[{_FIRST}]){names.NAME}")
    value: re.Pattern[str] = _compiled(names.VALUE)
    cookies: re.Pattern[str] = _compiled(names.COOKIES)
    cookie: re.Pattern[str] = _compiled(names.COOKIE)
    form_field: re.Pattern[str] = _compiled(names.FORM_FIELD)
    element: re.Pattern[str] = _compiled(names.ELEMENT)
    attributes: re.Pattern[str] = _compiled(names.ATTRIBUTES)
    encoded: re.Pattern[str] = _compiled(names.ENCODED)
    row: re.Pattern[str] = _compiled(names.ROW)
    no_secret: re.Pattern[str] = _compiled(names.NO_SECRET)
    placeholder: re.Pattern[str] = _compiled(names.PLACEHOLDER)

    def __init__(self) -> None:
        self._formats: dict[int, Form] = {}
        kinds = [kind for kind, _ in formats.FORMATS]
        self._signs = [
            (n, sign) for n, kind in enumerate(kinds) for sign in formats.WITHOUT_RUN.get(kind, ())
        ]
        self._in_runs = [n for n, kind in enumerate(kinds) if kind not in formats.WITHOUT_RUN]

    def _format(self, n: int) -> Form:
        found = self._formats.get(n)
        if found is None:
            kind, form = formats.FORMATS[n]
            found = self._formats[n] = (kind, re.compile(form))
        return found

    @property
    def formats(self) -> Sequence[Form]:
        """All, in their order."""
        return [self._format(n) for n in range(len(formats.FORMATS))]

    @staticmethod
    def folded(text: str) -> str:
        """In lower case, each letter that a pattern without cases takes for one of ASCII as that one."""
        lowered = text.lower()
        if lowered.isascii():
            return lowered
        return lowered.replace("\u0131", "i").replace("i\u0307", "i").replace("\u017f", "s")

    def formats_in(self, text: str, lowered: str) -> Sequence[Form]:
        """Those that may be found in a text, in their order. `lowered`: see `folded`."""
        found = {n for n, sign in self._signs if sign in lowered}
        if has_key(text):
            found.update(self._in_runs)
        known = self._formats
        return [known.get(n) or self._format(n) for n in sorted(found)]

    def may_name(self, lowered: str) -> bool:
        """Whether a text may say a name under which a secret is kept. `lowered`: see `folded`."""
        return not lowered.isascii() or any(name in lowered for name in _NAMES)

    def names(self, text: str) -> Iterator[re.Match[str]]:
        """Where a text says one; in any case, and for one of ASCII what is found is in lower case."""
        return self._lower_name.finditer(text.lower()) if text.isascii() else self._name.finditer(text)
