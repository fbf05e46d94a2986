"""What a full-text search finds in a chain: the words of its messages and facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from lctl.codec.lines import SEQ, decode

_KINDS = {
    b'"type":"message"': "message",
    b'"type":"fact_added"': "fact",
    b'"type":"fact_modified"': "fact",
}
#: Characters of one event that are indexed.
_LIMIT = 100_000


class Text(NamedTuple):
    seq: int
    kind: str
    words: str


def texts(lines: Iterable[bytes]) -> Iterator[Text]:
    """The searchable text of each line that has one."""
    for line in lines:
        head = line[:64]
        kind = next((kind for mark, kind in _KINDS.items() if mark in head), None)
        if kind is None:
            continue
        seq = SEQ.match(line)
        data = decode(line).get("data")
        if seq is None or not isinstance(data, dict):
            continue
        words = " ".join(_words(data.get("content") if kind == "message" else data.get("text")))
        if words:
            yield Text(int(seq[1]), kind, words[:_LIMIT].replace("\0", " "))


def _words(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts in a message's content, whatever its provider's form."""
    if isinstance(value, str):
        yield value
    elif depth < 6 and isinstance(value, list):
        for one in value:
            yield from _words(one, depth + 1)
    elif depth < 6 and isinstance(value, dict):
        for key in ("text", "content", "thinking", "input", "output", "arguments"):
            yield from _words(value.get(key), depth + 1)
