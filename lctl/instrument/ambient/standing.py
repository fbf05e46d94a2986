"""What stands on a terminal in the end, of all that was written to it.

Spinners, progress bars and live displays draw over what they drew before, as often as time allows: no two
runs write the same bytes. What they leave is the same. Colours are not kept; where a terminal breaks a line
that is too long is none. (Control sequences: ECMA-48, and xterm's for its other screen.)
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from unicodedata import category, east_asian_width

#: Control characters and sequences: CSI, OSC, other strings, other escapes.
_CONTROL = re.compile(
    r"(\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\"
    r"|\x1b[ -/]*(?![\[\]PX^_])[0-~]|[\x00-\x1f\x7f])"
)
#: The beginning of one, at the end of what was written; and how long such a one may be.
_BEGUN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?|[ -/]*)\Z")
_LONGEST = 4096
_OTHER_SCREEN = frozenset({"?1049", "?1047", "?47"})


class _Row:
    """`goes_on`: the line before, which was too long for one row."""

    __slots__ = ("goes_on", "text")

    def __init__(self, goes_on: bool = False) -> None:
        self.text = ""
        self.goes_on = goes_on


class Standing:
    """One terminal of `columns` by `lines`, from where the cursor stood at first."""

    def __init__(self, columns: int, lines: int) -> None:
        self._columns, self._lines = columns, max(lines, 1)
        self._decode: Callable[[bytes], str] = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self._rest = ""
        self._rows = [_Row()]
        self._row = self._column = 0
        self._saved = 0, 0
        self._main: tuple[list[_Row], int, int] | None = None  # while the other screen is shown

    def add(self, data: bytes) -> bytes:
        """Write it. What has gone beyond the upper edge by that, which nothing can change any more."""
        text = self._rest + self._decode(data)
        begun = _BEGUN.search(text, max(0, len(text) - _LONGEST))
        self._rest = "" if begun is None else begun[0]
        for n, piece in enumerate(_CONTROL.split(text[: len(text) - len(self._rest)])):
            if n % 2:
                self._control(piece)
            elif piece:
                self._write(piece)
        return self._gone(self._lines) if self._main is None else b""

    def end(self) -> bytes:
        """What stands there, up to the last row that has anything or the cursor."""
        if self._main is not None:
            self._leave_other()
        while len(self._rows) > self._row + 1 and not self._rows[-1].text:
            self._rows.pop()
        return self._gone(0)

    def _gone(self, left: int) -> bytes:
        count = len(self._rows) - left
        if count <= 0:
            return b""
        gone, self._rows = self._rows[:count], self._rows[count:] or [_Row()]
        self._row = max(0, self._row - count)
        self._saved = max(0, self._saved[0] - count), self._saved[1]
        breaks = [not row.goes_on for row in (*gone[1:], self._rows[0])]
        if not left:
            breaks[-1] = False
        text = "".join(row.text + "\n" * is_broken for row, is_broken in zip(gone, breaks, strict=True))
        return text.encode("utf-8", "surrogateescape")

    # -- text ----------------------------------------------------------------------------------

    def _write(self, text: str) -> None:
        while text:
            row = self._rows[self._row]
            fits = self._fitting(row.text[: self._column], text)
            if not fits:
                self._down(goes_on=True)
                continue
            part, text = text[:fits], text[fits:]
            before = row.text[: self._column].ljust(self._column)
            row.text = before + part + row.text[self._column + fits :]
            self._column += fits

    def _fitting(self, before: str, text: str) -> int:
        """How many letters of `text` fit into a row behind that."""
        room = self._columns - max(_cells(before), self._column if before.isascii() else 0)
        if not self._columns or (text.isascii() and len(text) <= room):
            return len(text)
        if text.isascii():
            return max(0, room)
        for n, letter in enumerate(text):
            room -= _cells(letter)
            if room < 0:
                return n or (0 if before else 1)
        return len(text)

    def _down(self, goes_on: bool = False) -> None:
        self._row += 1
        self._column = 0
        if self._row == len(self._rows):
            self._rows.append(_Row(goes_on))
        else:
            self._rows[self._row].goes_on = goes_on

    # -- control -------------------------------------------------------------------------------

    def _control(self, piece: str) -> None:
        if piece == "\n":
            self._down()
        elif piece == "\r":
            self._column = 0
        elif piece == "\b":
            self._column = max(0, self._column - 1)
        elif piece == "\t":
            self._write(" " * (8 - self._column % 8))
        elif piece.startswith("\x1b["):
            self._sequence(piece[2:-1], piece[-1])
        elif piece == "\x1b7":
            self._saved = self._row, self._column
        elif piece == "\x1b8":
            self._go(*self._saved)
        elif piece == "\x1bc":
            self._erase_screen()
            self._go(self._top, 0)

    def _sequence(self, given: str, kind: str) -> None:
        if given.startswith("?"):
            if kind in "hl" and not _OTHER_SCREEN.isdisjoint(given.split(";")):
                self._enter_other() if kind == "h" else self._leave_other()
            return
        numbers = [int(word) if word.isdecimal() else 0 for word in given.split(";")[:2]]
        count = numbers[0] or 1
        if kind in "AF":
            self._go(self._row - count, 0 if kind == "F" else self._column)
        elif kind in "BE":
            self._go(self._row + count, 0 if kind == "E" else self._column)
        elif kind == "C":
            self._column += count
        elif kind == "D":
            self._column = max(0, self._column - count)
        elif kind == "G":
            self._column = count - 1
        elif kind in "Hf":
            column = numbers[1] if len(numbers) > 1 else 1
            self._go(self._top + count - 1, max(0, column - 1))
        elif kind == "J":
            self._erase_rows(numbers[0])
        elif kind == "K":
            self._erase_in_row(numbers[0])
        elif kind == "s":
            self._saved = self._row, self._column
        elif kind == "u":
            self._go(*self._saved)

    @property
    def _top(self) -> int:
        return max(0, len(self._rows) - self._lines)

    def _go(self, row: int, column: int) -> None:
        bottom = self._top + self._lines - 1
        self._row, self._column = max(self._top, min(row, bottom)), column
        while len(self._rows) <= self._row:
            self._rows.append(_Row())

    def _erase_in_row(self, which: int) -> None:
        row = self._rows[self._row]
        if which == 0:
            row.text = row.text[: self._column]
        elif which == 1:
            row.text = " " * min(self._column + 1, len(row.text)) + row.text[self._column + 1 :]
        else:
            row.text = ""

    def _erase_rows(self, which: int) -> None:
        if which == 0:
            self._erase_in_row(0)
            for row in self._rows[self._row + 1 :]:
                row.text, row.goes_on = "", False
        elif which == 1:
            self._erase_in_row(1)
            for row in self._rows[self._top : self._row]:
                row.text, row.goes_on = "", False
        elif which == 2:
            self._erase_screen()

    def _erase_screen(self) -> None:
        for row in self._rows[self._top :]:
            row.text, row.goes_on = "", False

    def _enter_other(self) -> None:
        if self._main is None:
            self._main = self._rows, self._row, self._column
            self._rows = [_Row()]
            self._row = self._column = 0

    def _leave_other(self) -> None:
        if self._main is not None:
            self._rows, self._row, self._column = self._main
            self._main = None


def _cells(text: str) -> int:
    """Columns that it takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if category(letter) in ("Mn", "Me", "Cf") else 2 if east_asian_width(letter) in "WF" else 1
        for letter in text
    )
