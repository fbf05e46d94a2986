"""What a full-text search finds in a chain: the words of its messages and facts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from lctl.codec.lines import SEQ, decode
from lctl.state.messages import content_of

_KINDS = {
    b'"type":"message"': "message",
    b'"type":"fact_added"': "fact",
    b'"type":"fact_modified"': "fact",
}
#: Characters of one event that are indexed.
_LIMIT = 100_000


#: Where the parts of a message have words, or other parts.
_WORDED = (
    "text", "content", "thinking", "input", "output", "arguments",
    "citationsContent", "reasoningContent", "reasoningText", "toolResult",  # Bedrock's
)  # fmt: skip

#: Letters and digits in a row.
_TERM = re.compile(r"[^\W_]+")


class Text(NamedTuple):
    seq: int
    kind: str
    words: str


def terms(text: str) -> list[str]:
    """What is looked for, and found, in a text: the same in every store, whose own ideas of words differ.

    `Bob@Example.com` is bob, example and com; case and accents do not matter.
    """
    plain = unicodedata.normalize("NFKD", text.casefold())
    return _TERM.findall("".join(char for char in plain if not unicodedata.combining(char)))


def around(words: str, asked: Sequence[str], width: int = 60) -> str:
    """A text, cut to what stands around the first of these terms."""
    small = words.casefold()
    at = max(next((small.find(term) for term in asked if term in small), 0), 0)
    begin = max(at - width, 0)
    cut = " ".join(words[begin : at + width].split())
    return ("…" if begin else "") + cut + ("…" if at + width < len(words) else "")


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
        words = " ".join(_words(content_of(data) if kind == "message" else data.get("text")))
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
        for key in _WORDED:
            yield from _words(value.get(key), depth + 1)
