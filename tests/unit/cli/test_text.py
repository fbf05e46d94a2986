"""Text fitted into cells, and the screen it is printed on."""

from __future__ import annotations

import io
from typing import Any

import orjson
import pytest

from lctl.cli import text
from lctl.cli.screen import Column, Screen, wants_color


@pytest.mark.parametrize(
    ("given", "room", "shown"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("晴れです", 5, "晴れ…"),
        ("晴れ", 4, "晴れ"),
        ("abc", 1, "…"),
        ("a", 0, ""),
    ],
)
def test_clip(given: str, room: int, shown: str) -> None:
    """Text is cut to terminal cells, of which a wide character takes two."""
    assert text.clip(given, room) == shown


def test_wrap() -> None:
    """Lines break at blanks; a word longer than a line is broken; line ends are kept."""
    assert text.wrap("one two three\n\nfour", 8) == ["one two", "three", "", "four"]
    assert text.wrap("abcdefghij", 4) == ["abcd", "efgh", "ij"]


@pytest.mark.parametrize(
    ("octets", "shown"),
    [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2_340_000, "2.3 MB"), (4e12, "4.0 TB")],
)
def test_size(octets: float, shown: str) -> None:
    """Sizes in decimal units with the digits that matter."""
    assert text.size(octets) == shown


def test_clean_json_keeps_the_value() -> None:
    """What could drive a terminal is escaped, and the JSON says the same."""
    value = {"a": "\x1b[31m \x9b31m \u202e abc"}
    raw = orjson.dumps(value).decode()
    assert orjson.loads(text.clean_json(raw)) == value
    assert "\x9b" not in text.clean_json(raw)
    assert "\u202e" not in text.clean_json(raw)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "option", "environment", "color"),
    [
        (Terminal(), False, {"TERM": "xterm"}, True),
        (Terminal(), True, {"TERM": "xterm"}, False),
        (Terminal(), False, {"NO_COLOR": "1", "TERM": "xterm"}, False),
        (Terminal(), False, {"TERM": "dumb"}, False),
        (io.StringIO(), False, {}, False),
        (io.StringIO(), False, {"FORCE_COLOR": "1"}, True),
        (io.StringIO(), True, {"FORCE_COLOR": "1"}, False),
        (Terminal(), False, {"FORCE_COLOR": "0", "TERM": "xterm"}, False),
    ],
)
def test_color(
    monkeypatch: pytest.MonkeyPatch, stream: Any, option: bool, environment: dict[str, str], color: bool
) -> None:
    """Colour on a terminal only, unless the user says otherwise."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert wants_color(option, stream) is color


def test_table_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a narrow terminal the flexible column is cut, the others are whole and aligned."""
    monkeypatch.setattr("sys.stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("NO_COLOR", "1")
    screen = Screen()
    rows = [["run-with-a-long-name-晴れ", "12", ""], ["b", "1,234", ""]]
    columns = [Column("RUN", flexible=True), Column("EVENTS", right=True), Column("NOTE", optional=True)]
    lines = screen.table_lines(columns, rows)
    assert lines[0].endswith("EVENTS")
    assert [text.cells(line) for line in lines] == [30, 30, 30]
    assert "…" in lines[1]
