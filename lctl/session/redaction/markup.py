"""Secrets in tables of HTML: in a column below its heading, or beside what names them in a row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lctl.session.redaction.cells import Cell, IsName, is_secret_cell, secret_columns

_TAG = re.compile(r"(?i)<(?P<end>/?)(?P<tag>table|tr|th|td)\b[^<>]{0,1024}>")
_WORD = re.compile(r"(?:<[^<>]*>|\s)*(?P<word>[^<>\s]+)(?:<[^<>]*>|\s)*").fullmatch


class _Found(NamedTuple):
    """A cell of a row: which tag it has, and where what is in it stands."""

    tag: str
    start: int
    end: int


def secret_cells(text: str, is_name: IsName) -> Iterator[Cell]:
    """What is a secret in the tables of `text`, in order."""
    columns: dict[int, str] = {}
    for row in _rows(text):
        if not row:  # another table
            columns = {}
            continue
        words = [_WORD(text, cell.start, cell.end) for cell in row]
        said = [word["word"] if word else "" for word in words]
        if all(cell.tag == "th" for cell in row) or (not columns and secret_columns(said, is_name)):
            columns = secret_columns(said, is_name) if len(row) > 1 else {}
            if len(row) != 2 or row[0].tag == row[1].tag == "th":
                continue
        for n, word in enumerate(words):
            name = columns.get(n) or (said[n - 1] if n and len(row) == 2 else "")
            if word and name and is_name(name) and is_secret_cell(word["word"], name):
                yield *word.span("word"), name


def _rows(text: str) -> Iterator[list[_Found]]:
    """The cells of each row; an empty one where a table begins."""
    row: list[_Found] = []
    opened: tuple[str, int] | None = None
    for found in _TAG.finditer(text):
        tag = found["tag"].lower()
        if opened is not None:
            row.append(_Found(opened[0], opened[1], found.start()))
            opened = None
        if tag in ("th", "td"):
            opened = None if found["end"] else (tag, found.end())
            continue
        if row:
            yield row
            row = []
        if tag == "table":
            yield []
    if row:
        yield row
