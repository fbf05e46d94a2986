"""Secrets in rows that SQL writes: `INSERT INTO users (name, password) VALUES (...), (...)`, and the lines
that follow a `COPY users (...) FROM stdin` of a dump."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lctl.session.redaction.cells import Cell, IsName, secret_columns
from lctl.session.redaction.tables import Lines, delimited_cells

_COLUMNS = r"\((?P<columns>[^()]{1,4096})\)"
_GAP = r"(?:\s|\\{1,4}[nrt]){0,16}"
_INSERT = re.compile(
    rf"(?i)\binsert(?:\s+\w+){{0,2}}?\s+into\s+[^\s(]{{1,256}}{_GAP}{_COLUMNS}{_GAP}values?{_GAP}(?=\()"
)
_COPY = re.compile(rf"(?i)\bcopy\s+[^\s(]{{1,256}}\s{{0,16}}{_COLUMNS}\s{{0,16}}from\s+stdin[^\n\\]{{0,256}}")
#: What matters in a row: quotes, escaped or not, and what nests and separates.
_MARK = re.compile(r"(?P<quote>\\*['\"])|[(),]")
_NEXT = re.compile(rf"{_GAP},{_GAP}(?=\()").match
_QUOTES = " \t\r\n`\"'[]\\"


def secret_cells(text: str, lowered: str, is_name: IsName) -> Iterator[Cell]:
    """What is a secret in such rows of `text`, in order."""
    at = 0
    while "insert" in lowered and (found := _INSERT.search(text, at)) is not None:
        at = found.end()
        if columns := _columns(found, is_name):
            rows = _Rows(text, at)
            yield from rows.cells(columns)
            at = max(at, rows.at)


def dumped_cells(text: str, lowered: str, is_name: IsName) -> Iterator[Cell]:
    """What is a secret in the lines of a dump, in order."""
    at = 0
    while "stdin" in lowered and (found := _COPY.search(text, at)) is not None:
        at = found.end()
        lines = Lines(text)
        headings = found["columns"].count(",") + 1, _columns(found, is_name)
        yield from delimited_cells(lines, at, headings, "\t")
        at = max(at, lines.done)


def _columns(found: re.Match[str], is_name: IsName) -> dict[int, str]:
    return secret_columns([name.strip(_QUOTES) for name in found["columns"].split(",")], is_name)


class _Rows:
    """The rows behind `VALUES`.

    Attributes:
        at: where what was not looked at begins.
    """

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def cells(self, columns: dict[int, str]) -> Iterator[Cell]:
        """The secrets in all of them."""
        while True:
            yield from self._row(columns)
            following = _NEXT(self.text, self.at)
            if following is None:
                return
            self.at = following.end()

    def _row(self, columns: dict[int, str]) -> Iterator[Cell]:
        """The first text of each value that is a secret: `crypt('...', gen_salt('bf'))` has two."""
        depth = column = 0
        told = -1
        while (mark := _MARK.search(self.text, self.at)) is not None:
            self.at = mark.end()
            if mark["quote"]:
                start = self.at
                self.at, end = _closed(self.text, start, mark["quote"])
                if column in columns and told != column and end > start:
                    told = column
                    yield start, end, columns[column]
            elif mark[0] == ",":
                column += depth == 1
            else:
                depth += 1 if mark[0] == "(" else -1
                if depth <= 0:
                    return


def _closed(text: str, at: int, quote: str) -> tuple[int, int]:
    """Behind a text in such quotes, and its end. A quote in it is doubled, or has a backslash more."""
    end = at
    while (end := text.find(quote, end)) >= 0:
        if text.startswith(quote, end + len(quote)):
            end += 2 * len(quote)
        elif end > at and text[end - 1] == "\\":
            end += len(quote)
        else:
            return end + len(quote), end
    return len(text), len(text)
