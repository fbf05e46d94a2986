"""Where the events of a log end: what is needed to go on writing it.

Reads the header and the last lines only.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import orjson

from lctl.errors import NotALog

_STEP = 1 << 16


class Ending(NamedTuple):
    """`events_end` is the offset after the last whole event (0: not even the header is whole)."""

    chain: dict[str, Any]
    begin: int  # offset after the header's `[`
    last_seq: int
    events_end: int
    repaired: bool  # bytes of a torn line, or of a torn tail, come after it


def find_ending(fd: int, path: str) -> Ending:
    """The ending of the open journal `fd`.

    Raises:
        NotALog: it is not a journal: one header line, then one event a line.
    """
    size = os.fstat(fd).st_size
    head = _first_line(fd, size)
    begin = len(head)
    if not head.endswith(b'"events":['):
        if begin == size and _is_cut_header(head):
            return Ending({}, 0, 0, 0, True)
        raise NotALog(f"{path}: not a journal that can be appended to; make one with: lctl convert {path}")
    try:
        chain = orjson.loads(head + b"]}").get("chain") or {}
    except ValueError:
        raise NotALog(f"{path}: its first line is not the header of an lctl log") from None
    end = size
    repaired = False
    while True:
        start, line = _line_before(fd, begin, end)
        if start < begin:
            return Ending(chain, begin, 0, begin, repaired)
        seq = _seq(line)
        if seq is not None:
            return Ending(chain, begin, seq, start + len(line), repaired)
        if line and not _is_tail(line):
            repaired = True
        end = start - 1


def _first_line(fd: int, size: int) -> bytes:
    want = 4096
    while True:
        block = os.pread(fd, want, 0)
        at = block.find(b"\n")
        if at >= 0 or want >= size:
            return block[:at] if at >= 0 else block
        want *= 8


def _is_cut_header(head: bytes) -> bool:
    """The beginning of a header that was being written when its process died; never a whole document."""
    start = b'{"lctl":'
    if not (head.startswith(start) or start.startswith(head)) or b'"events":[' in head:
        return False
    try:
        orjson.loads(head)
    except ValueError:
        return True
    return False


def _line_before(fd: int, begin: int, end: int) -> tuple[int, bytes]:
    """(offset, bytes) of the line that ends at `end`, comma left out; offset < begin: there is none."""
    if end <= begin:
        return begin - 1, b""
    want = _STEP
    while True:
        start = max(begin, end - want)
        block = os.pread(fd, end - start, start)
        at = block.rfind(b"\n")
        if at >= 0:
            return start + at + 1, block[at + 1 :].rstrip(b",")
        if start == begin:
            return begin - 1, b""
        want *= 8


def _seq(line: bytes) -> int | None:
    if not line.startswith(b'{"seq":') or not line.endswith(b"}"):
        return None
    try:
        seq = orjson.loads(line)["seq"]
    except (ValueError, KeyError):
        return None
    return seq if isinstance(seq, int) else None


def _is_tail(line: bytes) -> bool:
    if not line.startswith(b"]"):
        return False
    try:
        orjson.loads(b'{"events":[' + line)
    except ValueError:
        return False
    return True
