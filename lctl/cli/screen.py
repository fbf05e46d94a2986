"""Where a command writes: text, styles, tables and JSON, each right for a terminal and for a pipe."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from lctl.analysis.wording import block
from lctl.cli.text import cells, clean_json, clip

Style = Literal["", "dim", "bold", "red", "green", "yellow", "blue", "magenta", "cyan", "heading"]
#: A line is text, or pieces of (text, style).
Piece = str | tuple[str, Style]

_SGR = {
    "dim": "2",
    "bold": "1",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
    "heading": "2",
}


def wants_color(no_color: bool, stream: Any) -> bool:
    """--no-color, then NO_COLOR, then FORCE_COLOR, then whether `stream` is a terminal that can."""
    if no_color or os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR")
    if forced:
        return forced != "0"
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


class Screen:
    """Standard output of one command.

    Text methods take content that is already safe (`text.clean`); `json_*` and `document` make theirs
    safe themselves.
    """

    def __init__(self, *, json: bool = False, no_color: bool = False) -> None:
        self.json = json
        self.out = sys.stdout
        self.terminal = bool(self.out.isatty())
        self.color = wants_color(no_color, self.out)

    @property
    def columns(self) -> int:
        """Width of the terminal; without one, wide enough to cut nothing."""
        return shutil.get_terminal_size((80, 24)).columns if self.terminal else 10_000

    def paint(self, text: str, style: Style) -> str:
        return f"\x1b[{_SGR[style]}m{text}\x1b[0m" if self.color and style and text else text

    def line(self, *pieces: Piece) -> None:
        """Print the pieces as one line."""
        text = "".join(p if isinstance(p, str) else self.paint(*p) for p in pieces)
        self.out.write(text + "\n")

    def lines(self, many: Iterable[str]) -> None:
        for text in many:
            self.out.write(text + "\n")

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[Piece]], *, indent: int = 0) -> None:
        """Aligned columns. Where a terminal is narrow, spare ones are left out, then flexible ones cut."""
        for text in self.table_lines(columns, rows, indent=indent):
            self.out.write(text + "\n")

    def table_lines(
        self, columns: Sequence[Column], rows: Sequence[Sequence[Piece]], *, indent: int = 0
    ) -> list[str]:
        sizes = [
            max([cells(c.title), *(cells(_text(row[i])) for row in rows)]) for i, c in enumerate(columns)
        ]
        shown = [i for i, c in enumerate(columns) if not c.optional or any(_text(row[i]) for row in rows)]
        shown = _unspared(columns, sizes, shown, self.columns - indent)
        columns, rows = [columns[i] for i in shown], [[row[i] for i in shown] for row in rows]
        room = self.columns - indent - 2 * (len(columns) - 1)
        sizes = _fit(columns, [sizes[i] for i in shown], room)
        pad = " " * indent
        lines = []
        if any(c.title for c in columns):
            heads: list[Piece] = [(c.title, "heading") for c in columns]
            lines.append(pad + self._row(columns, sizes, heads))
        lines += [pad + self._row(columns, sizes, row) for row in rows]
        return lines

    def _row(self, columns: Sequence[Column], sizes: Sequence[int], row: Sequence[Piece]) -> str:
        shown = []
        for column, room, piece in zip(columns, sizes, row, strict=True):
            text = clip(_text(piece), room)
            fill = " " * (room - cells(text))
            painted = self.paint(text, piece[1]) if isinstance(piece, tuple) else text
            shown.append(fill + painted if column.right else painted + fill)
        return "  ".join(shown).rstrip()

    def json_value(self, value: Any) -> None:
        """The command's one JSON document."""
        self._json(value, indent=self.terminal)

    def json_line(self, value: Any) -> None:
        """One document of a stream of JSON lines."""
        self._json(value, indent=False)

    def _json(self, value: Any, *, indent: bool) -> None:
        import orjson

        from lctl.codec.lines import encode_value

        option = orjson.OPT_NON_STR_KEYS | (orjson.OPT_INDENT_2 if indent else 0)
        self.document(encode_value(value, default=_plain, option=option).decode() + "\n", json=True)

    def document(self, text: str, *, json: bool = False) -> None:
        """A whole document; as it is into a pipe or file, made harmless on a terminal."""
        if self.terminal:
            text = clean_json(text) if json else block(text)
        if json and (self.out.encoding or "").lower().replace("-", "") != "utf8":
            # JSON is UTF-8 wherever it goes; escapes keep it readable in any other encoding.
            text = "".join(c if c < "\x7f" else _escaped(c) for c in text)
        self.out.write(text)

    def flush(self) -> None:
        self.out.flush()


class Column:
    """A table column. `flexible` ones shrink where there is no room; `optional` ones vanish when empty in
    every row; `spare` ones do when the table is too wide, those of the highest number first."""

    __slots__ = ("flexible", "optional", "right", "spare", "title")

    def __init__(
        self,
        title: str = "",
        *,
        right: bool = False,
        flexible: bool = False,
        optional: bool = False,
        spare: int = 0,
    ) -> None:
        self.title = title
        self.right = right
        self.flexible = flexible
        self.optional = optional
        self.spare = spare


def _text(piece: Piece) -> str:
    return piece if isinstance(piece, str) else piece[0]


#: Cells that are left of a flexible column before spare ones are.
_READABLE = 22


def _unspared(columns: Sequence[Column], sizes: list[int], shown: list[int], room: int) -> list[int]:
    """The columns that there is room for."""
    while True:
        least = [min(sizes[i], _READABLE) if columns[i].flexible else sizes[i] for i in shown]
        spare = [i for i in shown if columns[i].spare]
        if not spare or sum(least) + 2 * (len(shown) - 1) <= room:
            return shown
        shown = [i for i in shown if i != max(spare, key=lambda i: columns[i].spare)]


def _fit(columns: Sequence[Column], sizes: list[int], room: int) -> list[int]:
    """Take what is too wide from the flexible columns, the widest first, down to 8 cells each."""
    excess = sum(sizes) - room
    while excess > 0:
        wide = [i for i, c in enumerate(columns) if c.flexible and sizes[i] > 8]
        if not wide:
            break
        widest = max(wide, key=lambda i: sizes[i])
        sizes[widest] -= 1
        excess -= 1
    return sizes


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def _plain(value: Any) -> Any:
    """Frozen values of the reading wing as JSON objects."""
    import msgspec

    if isinstance(value, msgspec.Struct):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    if hasattr(value, "items"):
        return dict(value.items())
    return str(value)
