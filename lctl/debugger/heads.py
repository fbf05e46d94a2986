"""Heads of events: the envelope and a few words of the data, which is all that the time bar needs of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import orjson

from lctl.analysis.log import text
from lctl.codec import Log

_WINDOW = 1 << 20
_ADVICE = 4  # madvise: do not keep these pages


class Data(msgspec.Struct, gc=False, frozen=True):
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    outcome: Any = None
    kind: Any = None
    source: Any = None
    key: Any = None


class Head(msgspec.Struct, gc=False):
    seq: int
    type: str
    timestamp: str = ""
    agent: str = ""
    data: Data = Data()


_decode = msgspec.json.Decoder(list[Head]).decode


def heads_from(log: Log, start: int) -> Iterator[list[Head]]:
    """Those of a log from a seq on."""
    lines = log.buffer()
    if lines is None or start > log.first_seq:
        yield from _few(log, start)
        return
    data, at = lines.data, lines.begin
    dropped = 0
    while at < lines.end:
        window = bytes(data[at : min(at + _WINDOW, lines.end)])
        size = _WINDOW
        while (cut := len(window) if at + len(window) >= lines.end else window.rfind(b"\n") + 1) == 0:
            size *= 4
            window = bytes(data[at : min(at + size, lines.end)])
        at += cut
        yield read_heads(window[:cut])
        dropped = _let_go(data, dropped, at)


def _let_go(data: Any, done: int, at: int) -> int:
    """Read pages of a mapped file are not kept: they would count as ours."""
    if not hasattr(data, "madvise"):
        return done
    upto = at - at % (1 << 16)
    if upto > done:
        data.madvise(_ADVICE, done, upto - done)
    return upto


def _few(log: Log, start: int) -> Iterator[list[Head]]:
    """Line by line, of a log that has no lines in one piece, or of what was added to one."""
    some: list[bytes] = []
    for line in log.lines(start):
        some.append(line)
        if len(some) >= 2048:
            yield read_heads(b",\n".join(some))
            some = []
    if some:
        yield read_heads(b",\n".join(some))


def read_heads(lines: bytes) -> list[Head]:
    """The envelopes of whole lines; what is no event is left out."""
    try:
        return _decode(b"[" + lines.rstrip(b", \t\r\n") + b"]")
    except (ValueError, RecursionError):
        pass
    found = []
    for line in lines.split(b"\n"):
        head = _tolerant(line.strip(b", \t\r"))
        if head is not None:
            found.append(head)
    return found


def _tolerant(line: bytes) -> Head | None:
    try:
        raw = orjson.loads(line)
    except ValueError:
        return None
    if not isinstance(raw, dict) or type(raw.get("seq")) is not int:
        return None
    data = raw.get("data")
    data = data if isinstance(data, dict) else {}
    error = data.get("error")
    said = {key: text(raw.get(key)) for key in ("type", "timestamp", "agent")}
    failed = msgspec.UNSET if error in (None, False) else msgspec.Raw(b"1")
    return Head(raw["seq"], **said, data=Data(failed, *map(data.get, ("outcome", "kind", "source"))))
