"""Which cell of a table is a secret: the heading of its column says what is in it.

A heading says less than a name right beside a value (`assignments`): in a document it may be told whether
there is a password, or what a token is. So only what looks like one word of a secret is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from lctl.session.redaction.assignments import normal
from lctl.session.redaction.names import SECRET_NAMES

#: Start, end and the name of the column.
Cell: TypeAlias = tuple[int, int, str]
#: Whether secrets go by a name.
IsName: TypeAlias = Callable[[str], bool]

#: What decorates a cell.
DRESS = " \t\r*`\"'"
#: A cell that is one word, in quotes or Markdown's dress; it may be the last of a text in quotes.
_WORD = re.compile(r"[ \t*`\"'\\]*(?P<word>[^\s*`\"'\\]+)[ \t*`\"'\\\r)\]}]*").fullmatch
#: A value of a column that says whether there is one, or of what type it is.
_TOLD = frozenset(
    (
        *(
            "yes",
            "no",
            "true",
            "false",
            "none",
            "null",
            "n/a",
            "optional",
            "required",
            "string",
            "text",
            "str",
        ),
        *(
            "object",
            "varchar",
            "boolean",
            "integer",
            "number",
            "password",
            "token",
            "secret",
            "char",
            "bytes",
        ),
    )
)
#: Characters that the token of a session has at least; a tokenizer's are shorter.
_TOKEN = 8


def is_secret_cell(word: str, name: str) -> bool:
    """Whether one word under such a heading is what the heading says."""
    if (
        word.lower().strip(".!?,()") in _TOLD
        or normal(word) in SECRET_NAMES
        or not any(map(str.isalnum, word))
    ):
        return False
    if "pass" in name.lower():
        return len(word) >= 4
    has_both = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    return (len(word) >= _TOKEN and has_both) or (len(word) >= 16 and not word.replace(".", "").isdigit())


def secret_columns(headings: Sequence[str], is_name: IsName) -> dict[int, str]:
    """Where among the headings of a table one says that a secret is below it, and which."""
    named = ((n, heading.strip(DRESS)) for n, heading in enumerate(headings))
    return {n: name for n, name in named if name and is_name(name)}


def word_in(text: str, start: int, end: int, name: str) -> Iterator[Cell]:
    """The secret in one cell of a text, if there is one."""
    found = _WORD(text, start, end)
    if found is not None and is_secret_cell(found["word"], normal(name)):
        yield *found.span("word"), name
