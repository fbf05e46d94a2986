"""How values read in one line: numbers, durations, money, and text from a log made safe to print.

A log holds what models, tools and attackers wrote. Printed raw, an escape sequence in it could drive the
reader's terminal; `plain` shows such characters instead of sending them.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import orjson

from lctl.codec.lines import encode_value

_SPACE = re.compile(r"\s+")
#: Format characters that scripts and emoji need, and that move nothing.
_JOINERS = "\u200c\u200d"


def plain(value: object, limit: int | None = None) -> str:
    """The value as one line of printable text, at most `limit` characters and then "…".

    White space runs become one space; unsafe characters become their escape (`\\x1b`).
    """
    text = value if isinstance(value, str) else compact(value)
    if limit is not None and len(text) > 8 * limit + 64:
        text = text[: 8 * limit + 64]  # escapes only lengthen: the rest could never show
    text = _shown(_SPACE.sub(" ", text).strip())
    if limit is not None and len(text) > limit:
        text = text[: max(0, limit - 1)].rstrip() + "…"
    return text


def block(value: str) -> str:
    """Text of several lines made safe to print: line breaks and tabs stay, unsafe characters are shown."""
    lines = value.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(map(_shown, line.split("\t"))) for line in lines)


def compact(value: object) -> str:
    """JSON of the value on one line; `repr` where it has none."""
    return encode_value(value, default=repr, option=orjson.OPT_NON_STR_KEYS).decode("utf-8", "replace")


def seconds(ms: float) -> str:
    """`45.2s`, below a second `50ms`, from ten minutes `12m 5s`."""
    if ms < 999.5:
        return f"{ms:.0f}ms"
    if ms < 600_000:
        return f"{ms / 1000:.1f}s"
    minutes, rest = divmod(round(ms / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes}m" if hours else f"{minutes}m {rest}s"


def dollars(amount: float) -> str:
    """`$0.047`: three decimals, more for less, two from ten dollars on."""
    if amount == 0:
        return "$0.00"
    if amount >= 10:
        return f"${amount:,.2f}"
    decimals = 3
    while decimals < 9 and round(amount, decimals) < 10 ** (1 - decimals):
        decimals += 1
    return f"${amount:.{decimals}f}"


def count(n: float) -> str:
    """`2,340`."""
    return f"{n:,.0f}"


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """`1 fact`, `5 facts`, `1,200 facts`."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def percent(share: float) -> str:
    """`50%`; below one percent `<1%`."""
    return "<1%" if 0 < share < 0.005 else f"{share * 100:.0f}%"


def _shown(text: str) -> str:
    """Controls, bidi marks, zero-width and unassigned characters, lone surrogates: as escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in _JOINERS else _escape(ord(char)) for char in text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def width(text: str) -> int:
    """Terminal columns the text takes: wide characters two, combining ones none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def quoted(value: Any, limit: int) -> str:
    """`"first words…"`."""
    return f'"{plain(value, limit)}"'
