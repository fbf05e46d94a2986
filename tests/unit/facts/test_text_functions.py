"""Functions on texts that do not look at the clock: as SQLite's own are, and quick on texts of any length."""

from __future__ import annotations

import sqlite3
from itertools import product

import pytest

from lctl.facts.sandbox import Sandbox

_VALUES = (
    "NULL", "''", "'a'", "'abcabc'", "' é a '", "'日本日'", "12", "1.5", "-0.0", "1e300", "x'6162'", "x''",
    "' '", "'a'||char(0)||'b'", "'zyxwvutsrqponmlkjihgfedcba'",
)  # fmt: skip
#: Two million letters.
_LONG = "replace(replace(printf('%0999d',0),'0',printf('%0999d',0)),'0','aa')"


@pytest.mark.parametrize(
    ("name", "count"),
    [("instr", 2), ("replace", 3), *((name, n) for name in ("trim", "ltrim", "rtrim") for n in (1, 2))],
)
def test_they_are_what_sqlite_has(name: str, count: int) -> None:
    """Of texts, numbers, bytes and nothing, value and type. (Of characters to trim SQLite stops at a NUL.)"""
    sandbox, own = Sandbox(), sqlite3.connect(":memory:")
    for values in product(_VALUES, repeat=count):
        if "trim" in name and "char" in values[-1]:
            continue
        called = f"{name}({', '.join(values)})"
        query = f"SELECT {called}, typeof({called})"
        assert sandbox.ask(query).rows[0] == own.execute(query).fetchone(), called


@pytest.mark.parametrize(
    ("called", "given"),
    [
        ("instr(x, substr(x, 1, 900000) || 'b')", 0),
        ("length(trim(x, substr(y, 1, 400000) || 'a'))", 0),
        ("length(replace(x, substr(x, 1, 900000) || 'b', ''))", 1_996_002),
    ],
)
def test_long_patterns_in_long_texts(called: str, given: int) -> None:
    """Each would run for hours, past the limit of time."""
    sql = f"SELECT {called} FROM (SELECT {_LONG} AS x, replace({_LONG}, 'aa', 'éb') AS y)"
    assert Sandbox().ask(sql).rows == [(given,)]
