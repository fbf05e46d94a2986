"""Secrets in tables that are texts: below the heading that names them.

With a heading line and lines below it: CSV, TSV, Markdown, what `psql`, `mysql`, `sqlite3`, `rich` and
`polars` print, and columns that are aligned with spaces (`DataFrame.to_string()`). A line break may be
escaped, as in what `repr` makes. Each line is looked at once, so a text costs what its length is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lctl.session.redaction.cells import DRESS, Cell, IsName, is_secret_cell, secret_columns, word_in

#: A heading line is no longer, and the columns of a table are no more.
_HEADING, _COLUMNS = 2048, 256
#: Lines in a row that are none of a table's, before it has ended.
_OTHERS = 4
_BREAK = re.compile(r"(?:\\{1,4}r)?\\{1,4}n|\n")
#: What stands between columns: lines of boxes, too.
_BAR = "|\u2502\u2503\u2506\u2551"
_BARS = re.compile(f"[{_BAR}]")
#: Between the heading of a table and what is below, above it and between its rows.
_RULE = re.compile(r"[\s|:+=\-\u2500-\u257f]+").fullmatch
_DASHES = ("--", "==", ":-", "\u2500", "\u2501", "\u2550")
_HEAD = re.compile(r"[\"'`*]*[A-Za-z_][\w .()/-]{0,63}[\"'`*]*").fullmatch
_FIRST = re.compile(r"(?:.*[:'\"(>{=]\s*)?[\"'`*]*[A-Za-z_#][\w .()/-]{0,63}[\"'`*]*").fullmatch
_LAST = re.compile(r"[\"'`*]*[A-Za-z_][\w .()/-]{0,63}[\"'`*\r)\]}]*").fullmatch
#: One value of a line of CSV: in quotes there may be anything.
_FIELDS = {
    between: re.compile(rf'(?:"(?:[^"]|"")*"[^{between}"]*|[^{between}]*)(?:{between}|\Z)')
    for between in (",", ";", "\t")
}
_WORD = re.compile(r"\S+")
_WORDS = re.compile(r"\s*[\w.#%-]+(?:\s+[\w.#%-]+)+\s*").fullmatch


class Lines:
    """The lines of a text.

    Attributes:
        done: where the last line ends that was one of a table.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.done = 0
        self._is_escaped = "\\n" in text

    def around(self, at: int) -> tuple[int, int] | None:
        """The line with that place in it, if it may be a heading. It is not asked for again."""
        text = self.text
        lowest, highest = max(0, at - _HEADING), min(len(text), at + _HEADING)
        escaped = text.rfind("\\n", lowest, at)
        start = max(text.rfind("\n", lowest, at) + 1, escaped + 2 if escaped >= 0 else 0)
        end = self._end(at, highest)
        self.done = end
        if (start == 0 and lowest) or end - start > _HEADING or end == highest < len(text):
            return None
        return start, end

    def _end(self, at: int, limit: int) -> int:
        if not self._is_escaped:  # ten times as fast
            end = self.text.find("\n", at, limit)
            return end if end >= 0 else limit
        found = _BREAK.search(self.text, at, limit)
        return found.start() if found else limit

    def after(self, end: int) -> Iterator[tuple[int, int]]:
        """The lines below one that ends there."""
        text = self.text
        while (gap := _BREAK.match(text, end)) is not None:
            start = gap.end()
            end = self._end(start, len(text))
            yield start, end


def secret_cells(text: str, names: Iterable[int], is_name: IsName) -> Iterator[Cell]:
    """Cells of the tables in `text` that hold secrets, in order.

    Args:
        names: where the text says a name that secrets may go by, in order.
    """
    lines = Lines(text)
    for at in names:
        if at >= lines.done and (line := lines.around(at)) is not None:
            yield from _below(lines, *line, is_name)


def _below(lines: Lines, start: int, end: int, is_name: IsName) -> Iterator[Cell]:
    text = lines.text
    heading = text[start:end]
    if any(bar in heading for bar in _BAR):
        yield from _barred(lines, heading, end, is_name)
        return
    for between in ("\t", ",", ";"):
        if between in heading:
            yield from delimited_cells(lines, end, _headings(heading, between, is_name), between)
            return
    if "  " in heading and _WORDS(heading):
        yield from _aligned(lines, heading, end, is_name)


def _headings(heading: str, between: str, is_name: IsName) -> tuple[int, dict[int, str]]:
    """How many columns a line says there are, and which hold secrets; (0, {}) if it is no heading.

    A sentence is none: only where no space follows a comma may something stand before the first.
    """
    cells = heading.split(between)
    if len(cells) > _COLUMNS or len(cells) < 2:
        return 0, {}
    is_spaced = between != "\t" and any(cell[:1] == " " for cell in cells)
    if is_spaced and any(cell.strip().count(" ") for cell in cells):
        return 0, {}
    first = _HEAD if is_spaced else _FIRST
    if not (
        (not cells[0].strip() or first(cells[0]))
        and all(_HEAD(cell.strip()) for cell in cells[1:-1])
        and _LAST(cells[-1].strip())
    ):
        return 0, {}
    cells[-1] = cells[-1].rstrip(")]}\r")
    return len(cells), secret_columns(cells, is_name)


def delimited_cells(
    lines: Lines, end: int, headings: tuple[int, dict[int, str]], between: str
) -> Iterator[Cell]:
    """Cells below the secret headings, in the lines that have as many columns; a cell may hold lines."""
    count, columns = headings
    others, begun = 0, -1
    for first, stop in lines.after(end) if columns else ():
        start = first if begun < 0 else begun
        is_open = '"' in lines.text[start:stop] and lines.text.count('"', start, stop) % 2 == 1
        if is_open and others < _OTHERS:
            begun, others = start, others + 1
            continue
        begun = -1
        borders = _borders(lines.text[start:stop], start, between, count)
        if len(borders) != count + 1:
            others += 1
            if others > _OTHERS or start == stop:
                return
            continue
        lines.done, others = stop, 0
        for n, name in columns.items():
            yield from word_in(lines.text, borders[n], borders[n + 1] - 1, name)


def _borders(row: str, start: int, between: str, most: int) -> list[int]:
    """Where each cell of a row begins, and another one would."""
    borders = [start]
    if '"' not in row:
        if row.count(between) == most - 1:
            for cell in row.split(between):
                start += len(cell) + 1
                borders.append(start)
        return borders
    field, at = _FIELDS[between], 0
    while at <= len(row) and len(borders) <= most + 1 and (found := field.match(row, at)) is not None:
        at = found.end() + (row[found.end() - 1 : found.end()] != between or found.end() == at)
        borders.append(start + at)
    return borders


def _barred(lines: Lines, heading: str, end: int, is_name: IsName) -> Iterator[Cell]:
    headings = _BARS.split(heading)
    columns = secret_columns(headings, is_name) if len(headings) <= _COLUMNS else {}
    if not columns:
        return
    # As sqlite3 prints them: nothing but the bars.
    is_ruled = " " not in heading and "\t" not in heading
    for start, stop in lines.after(end):
        if _RULE(lines.text, start, stop) and any(dash in lines.text[start:stop] for dash in _DASHES):
            is_ruled = True
            continue
        bars = [found.start() for found in _BARS.finditer(lines.text, start, stop)]
        if not is_ruled or len(bars) + 1 != len(headings):
            return
        lines.done = stop
        borders = [start - 1, *bars, stop]
        for n, name in columns.items():
            yield from word_in(lines.text, borders[n] + 1, borders[n + 1], name)


def _aligned(lines: Lines, heading: str, end: int, is_name: IsName) -> Iterator[Cell]:
    """Words that begin where a heading begins, or end where it ends."""
    words = [found for found in _WORD.finditer(heading) if is_name(found[0].strip(DRESS))]
    if not words:
        return
    for start, stop in lines.after(end):
        row = lines.text[start:stop]
        if not row.strip():
            return
        if _RULE(row):
            continue
        cells = list(_under(row, start, words))
        if not cells:
            return
        lines.done = stop
        yield from (cell for cell in cells if is_secret_cell(lines.text[cell[0] : cell[1]], cell[2]))


def _under(row: str, start: int, headings: list[re.Match[str]]) -> Iterator[Cell]:
    for heading in headings:
        at = heading.end() - 1 if row[heading.end() - 1 : heading.end()].strip() else heading.start()
        begin = row.rfind(" ", 0, at + 1) + 1
        found = _WORD.match(row, begin)
        if found is not None and (begin == heading.start() or found.end() == heading.end()):
            yield start + begin, start + found.end(), heading[0].strip(DRESS)
