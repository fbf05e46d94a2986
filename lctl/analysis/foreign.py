"""Logs in other forms than lctl writes, as the list of a folder has them: one document must be read whole to
be told anything about, so of a large one only its beginning is looked at."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from lctl.codec.bytesource import FileBytes
from lctl.codec.compression import is_compressed
from lctl.codec.journal import jsonl_layout

#: Bytes of a document that is read whole for a list: some tenths of a second.
LARGEST = 4 << 20
_HEAD = 1 << 16
_OURS = re.compile(
    rb'"(?:lctl|chain|events|trace)"[ \t\r\n]*:|^(?:lctl|chain|events|trace)[ \t]*:', re.MULTILINE
)
_EVENT = re.compile(rb'"type"[ \t\r\n]*:|\btype[ \t]*:')
_CHAIN = re.compile(r'"chain"\s*:\s*(?=[{"])')


class Beginning(NamedTuple):
    """What the first bytes of a large document tell.

    Attributes:
        chain: {} where it is not among them.
        problem: why it cannot be a log, "" if it may be one.
    """

    chain: dict[str, Any]
    problem: str


def beginning(data: FileBytes, name: str) -> Beginning | None:
    """Of a document too large to be read for a list; None of one that is read: it is short, or its events
    stand one a line."""
    if data.size <= LARGEST or jsonl_layout(data) is not None:
        return None
    head = data.read(0, _HEAD)
    if is_compressed(head):
        return Beginning({}, "")
    if _OURS.search(head) or _EVENT.search(head):
        return Beginning(_chain(head.decode("utf-8", "replace")), "")
    return Beginning({}, f"{name}: not a log, by its beginning ({data.size >> 20} MB, not read further)")


def _chain(text: str) -> dict[str, Any]:
    found = _CHAIN.search(text)
    if found is None:
        return {}
    try:
        chain, _ = json.JSONDecoder().raw_decode(text, found.end())
    except (ValueError, RecursionError):
        return {}
    return {"id": chain} if isinstance(chain, str) else chain
