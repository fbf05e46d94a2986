"""What the command line adds to `analysis.wording`: fitting text into cells, sizes, safe JSON."""

from __future__ import annotations

import re

from lctl.analysis.wording import plain, plural, width

# In JSON, C0 is escaped already; the rest of what drives or reorders a terminal is not.
_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def clean_json(text: str) -> str:
    r"""JSON text with unsafe characters as `\uXXXX`: the same value, harmless on a terminal."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def cells(text: str) -> int:
    """Terminal cells that `text` takes."""
    return len(text) if text.isascii() else width(text)


def clip(text: str, room: int) -> str:
    """`text` in at most `room` terminal cells, ending in `…` where it was cut."""
    if len(text) <= room and cells(text) <= room:
        return text
    if room <= 1:
        return "…"[:room]
    kept = text[: room - 1]
    while cells(kept) > room - 1:
        kept = kept[:-1]
    return kept + "…"


def wrap(text: str, room: int) -> list[str]:
    """`text` in lines of at most `room` cells, broken at blanks where there are any. Indents stay."""
    lines = []
    for paragraph in text.expandtabs(4).split("\n"):
        words = paragraph.lstrip(" ")
        indent = " " * min(len(paragraph) - len(words), room // 2) if words else ""
        lines += [indent + line for line in _broken(words, room - len(indent))]
    return lines


def _broken(paragraph: str, room: int) -> list[str]:
    lines = []
    line = ""
    for word in paragraph.split(" "):
        longer = f"{line} {word}" if line else word
        if cells(longer) <= room:
            line = longer
            continue
        if line:
            lines.append(line)
        while cells(word) > room:
            head = clip(word, room + 1)[:-1] or word[:1]
            lines.append(head)
            word = word[len(head) :]
        line = word
    return [*lines, line]


def size(octets: float) -> str:
    """Bytes for people, decimal units."""
    for unit in ("B", "kB", "MB", "GB"):
        if octets < 999.5:
            return f"{octets:.0f} {unit}" if unit == "B" or octets >= 99.5 else f"{octets:.1f} {unit}"
        octets /= 1000
    return f"{octets:.1f} TB"


__all__ = ["cells", "clean_json", "clip", "plain", "plural", "size", "wrap"]
