"""Secrets in tables that are values: rows as lists, and the names of their columns beside or in the first."""

from __future__ import annotations

from typing import Any

from lctl.session.redaction.cells import IsName

#: Under which an object has the names of its columns, and its rows.
_HEADINGS = ("columns", "column_names", "columnNames", "header", "headers", "fields", "schema")
_ROWS = ("rows", "data", "values", "records", "results", "dataArray", "data_array")
#: Columns of a list of rows: a list of two may be a name and its value.
_FEWEST = 3


def columns_beside(value: dict[str, Any], is_name: IsName) -> tuple[str, dict[int, str]] | None:
    """Under which name an object has its rows, and which of their cells are secrets."""
    for rows in _ROWS:
        if not isinstance(value.get(rows), list):
            continue
        for headings in _HEADINGS:
            given = value.get(headings)
            if isinstance(given, list) and (columns := _secret(given, is_name)):
                return rows, columns
    return None


def columns_above(rows: list[Any], is_name: IsName) -> dict[int, str]:
    """Which cells are secrets, by the first row of several."""
    first = rows[0] if len(rows) > 1 else None
    if not isinstance(first, list) or len(first) < _FEWEST:
        return {}
    if not all(isinstance(row, list) and len(row) == len(first) for row in rows):
        return {}
    return _secret(first, is_name) if all(isinstance(heading, str) for heading in first) else {}


def are_reads(value: dict[str, Any]) -> bool:
    """Whether it is an `ambient` event's for several reads: source, key and place of each, and no row of them
    the headings of the others."""
    reads = value.get("reads")
    return isinstance(reads, list) and isinstance(value.get("source"), str) and all(map(_is_read, reads))


def _is_read(row: Any) -> bool:
    if not isinstance(row, list) or len(row) != 3 or not all(isinstance(cell, str) for cell in row):
        return False
    return bool(row[2].rpartition(":")[2].isdigit())


def _secret(headings: list[Any], is_name: IsName) -> dict[int, str]:
    named = ((n, _name(heading)) for n, heading in enumerate(headings))
    return {n: name for n, name in named if name is not None and is_name(name)}


def _name(heading: Any) -> str | None:
    if isinstance(heading, dict):
        heading = heading.get("name")
    return heading if isinstance(heading, str) else None
