"""`instr()`, `replace()`, `trim()`, `ltrim()` and `rtrim()` of queries: what SQLite's own give, in a time
that grows with the text alone. Theirs grows with text times pattern, to hours, and knows no limit meanwhile.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

#: Of what is not plain text (numbers, bytes) and is left to SQLite: bytes of the two, multiplied.
_MOST = 100_000_000
#: Characters of a result, as of any value (`sandbox`).
_LONGEST = 10_000_000
#: Up to so many characters to trim Python's own way is the quickest.
_FEW = 16

Refuse = Callable[[str], object]


def instr(refuse: Refuse) -> Callable[..., Any]:
    own = _own("instr", 2, refuse)
    return lambda text, part: text.find(part) + 1 if _are_texts(text, part) else own(text, part)


def replace(refuse: Refuse) -> Callable[..., Any]:
    own = _own("replace", 3, refuse)

    def replaced(text: Any, part: Any, other: Any) -> Any:
        if not _are_texts(text, part, other):
            return own(text, part, other)
        if not part:
            return text
        if len(text) + text.count(part) * (len(other) - len(part)) > _LONGEST:
            _refuse(refuse, "replace() would make a value that is too large")
        return text.replace(part, other)

    return replaced


def trim(name: str, refuse: Refuse) -> Callable[..., Any]:
    """The one of that name; of the spaces where no characters are given."""
    left, right = name != "rtrim", name != "ltrim"
    own = {1: _own(name, 1, refuse), 2: _own(name, 2, refuse)}

    def trimmed(*values: Any) -> Any:
        if not _are_texts(*values):
            return own[len(values)](*values)
        text, characters = (*values, " ")[:2]
        if len(characters) <= _FEW:
            return text.strip(characters) if left and right else _one_side(text, characters, left)
        known = frozenset(characters)
        begin, end = 0, len(text)
        while left and begin < end and text[begin] in known:
            begin += 1
        while right and end > begin and text[end - 1] in known:
            end -= 1
        return text[begin:end]

    return trimmed


def _one_side(text: str, characters: str, left: bool) -> str:
    return text.lstrip(characters) if left else text.rstrip(characters)


def _are_texts(*values: Any) -> bool:
    return all(type(value) is str for value in values)


def _own(name: str, count: int, refuse: Refuse) -> Callable[..., Any]:
    """SQLite's, for what its rules about types are needed for."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    query = f"SELECT {name}({', '.join('?' * count)})"

    def asked(*values: Any) -> Any:
        sizes = [len(value) if isinstance(value, str | bytes) else 1 for value in values]
        if count > 1 and sizes[0] * sizes[1] > _MOST:
            _refuse(refuse, f"{name}() of bytes takes too long here; cast them to text")
        return database.execute(query, values).fetchone()[0]

    return asked


def _refuse(refuse: Refuse, told: str) -> None:
    refuse(told)
    raise ValueError(told)
