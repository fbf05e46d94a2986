"""Server-sent events: bytes in any cut -> events.

The parser is our own because it must take what browsers' rules and SDKs' parsers disagree about: any
line end, comments, events without data, data over several lines, a last event that nothing ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

import orjson

from lctl.instrument.codecs.bodies import loads_or_none, reports_error
from lctl.instrument.codecs.halves import holds_half, joined, read_with_halves

OnlyText = Callable[[dict[str, Any]], str | None]

#: (event name, data); the name is "" where none was given.
ServerEvent = tuple[str, bytes]

#: Where the text of one delta begins. What stands around it is the same in most chunks of a stream.
DELTA = re.compile(rb'"(?:content|text|delta|partial_json|thinking|arguments)": ?"(?=[^"\\]+")')
# What stands between two events that have one line of data each.
_NEXT = b"\n\ndata: "
# Texts that are so few that merging does not pay.
_FEW = 6

_BOM = b"\xef\xbb\xbf"


class EventParser:
    """Feed it chunks as they come; each call gives the events that chunk completed."""

    __slots__ = ("_begun", "_rest")

    def __init__(self) -> None:
        self._rest = b""
        self._begun = False

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        buffer = self._rest + chunk
        if not self._begun:
            if len(buffer) < 3 and _BOM.startswith(buffer):
                self._rest = buffer
                return []
            self._begun = True
            buffer = buffer.removeprefix(_BOM)
        held = b""
        if b"\r" in buffer:
            if buffer.endswith(b"\r"):  # the other half of the line end may be in the next chunk
                buffer, held = buffer[:-1], b"\r"
            buffer = buffer.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        blocks = buffer.split(b"\n\n")
        self._rest = blocks.pop() + held
        return _events(blocks)

    def finish(self) -> list[ServerEvent]:
        """The event that the end of the body left open, if it has data."""
        rest, self._rest = self._rest.replace(b"\r", b"\n"), b""
        return _events(rest.split(b"\n\n"))


def _events(blocks: Iterable[bytes]) -> list[ServerEvent]:
    events: list[ServerEvent] = []
    for block in blocks:
        if b"\n" not in block:
            if block.startswith(b"data: "):
                events.append(("", block[6:]))
                continue
            if not block:
                continue
        event = _read(block)
        if event is not None:
            events.append(event)
    return events


def _read(block: bytes) -> ServerEvent | None:
    name, data = "", []
    for line in block.split(b"\n"):
        key, _, value = line.partition(b":")
        if value[:1] == b" ":
            value = value[1:]
        if key == b"data":
            data.append(value)
        elif key == b"event":
            name = value.decode("utf-8", "replace")
    return (name, b"\n".join(data)) if data else None


def _data_lines(body: bytes) -> list[bytes] | None:
    """The data of a body of one data line an event and nothing else (most are); None of any other."""
    if body.startswith(b"data: ") and body.endswith(b"\n\n") and b"\r" not in body:
        # One data line an event and nothing else, which the count of line ends proves: most bodies.
        lines = body[6:-2].split(b"\n\ndata: ")
        if body.count(b"\n") == 2 * len(lines):
            return lines
    return None


def read_events(body: bytes) -> list[ServerEvent]:
    """All events of a body."""
    lines = _data_lines(body)
    if lines is not None:
        return [("", line) for line in lines]
    parser = EventParser()
    return parser.feed(body) + parser.finish()


def read_stream(body: bytes) -> tuple[list[dict[str, Any]], bool]:
    """The JSON objects of a stream, pings left out, and whether `[DONE]` was seen."""
    lines = _data_lines(body)
    if lines is not None:
        objects = _read_at_once(lines)
        if objects is not None:
            return objects, lines[-1] == b"[DONE]"
    found: list[dict[str, Any]] = []
    done = has_halves = False
    for name, data in read_events(body):
        try:
            value = orjson.loads(data)
        except orjson.JSONDecodeError:
            if data.strip() == b"[DONE]":
                done = True
                continue
            is_cut = holds_half(data)
            has_halves = has_halves or is_cut
            value = read_with_halves(data) if is_cut else loads_or_none(data)
            if value is None and b"\n" in data:  # servers that leave out the empty line between events
                lines = data.split(b"\n")
                found += [one for one in map(loads_or_none, lines) if isinstance(one, dict)]
                done = done or lines[-1].strip() == b"[DONE]"
        if isinstance(value, dict) and name != "ping" and value.get("type") != "ping":
            if name == "error" and not reports_error(value):  # its name alone says so
                value = {**value, "error": dict(value)}
            found.append(value)
    return joined(found) if has_halves else found, done


def read_merged(body: bytes, only_text: OnlyText) -> tuple[list[dict[str, Any]], bool, int]:
    """`read_stream` for those who join the texts of deltas: events that follow each other and differ in
    nothing but that text are one, which has the text of all. Then how many events there were.

    Most events of a stream are such; parsing each of them costs more than all else that is done with it.

    Args:
        only_text: the text of an event that says a text and nothing else that is joined, None of any other.
    """
    shorter, fewer = _merged(body, only_text)
    lines = _data_lines(shorter) if fewer else None
    if lines is not None:
        done = lines[-1] == b"[DONE]"
        objects = _read_at_once(lines)
        if objects is not None:
            return objects, done, len(objects) + fewer
    events, done = read_stream(body)
    return events, done, len(events)


def _merged(body: bytes, only_text: OnlyText) -> tuple[bytes, int]:
    """The body with such events made one, and how many fewer there are. What one in its middle begins and
    ends with stands between the texts of any two: it is cut there, without a look at each event."""
    at = body.find(_NEXT, len(body) // 2) + len(_NEXT)
    sample = body[at : body.find(b"\n\n", at)]
    found = DELTA.search(sample) if at > len(_NEXT) and b"\n" not in sample and b"\r" not in sample else None
    if found is None:
        return body, 0
    start = found.end()
    after, before = sample[sample.index(b'"', start) :], b"data: " + sample[:start]
    between = after + b"\n\n" + before
    first, *texts = _split(body, after, before)
    if len(texts) < _FEW or not _joins(sample, start, only_text):
        return body, 0
    last = texts.pop()
    whole = b"".join(texts)
    if _is_text(whole):
        return between.join((first, whole, last)), len(texts) - 1
    parts = [first]
    for is_text, run in groupby(texts, _is_text):
        pieces = list(run)
        parts += [b"".join(pieces)] if is_text else pieces
    return between.join((*parts, last)), len(texts) + 1 - len(parts)


def _split(body: bytes, after: bytes, before: bytes) -> list[bytes]:
    """`body.split(after + b"\n\n" + before)`, where no line ends in either. For what is as long Python makes
    a table anew at each place, which costs more than all of this."""
    made: list[bytes] = []
    begun: list[bytes] = []  # of the piece that goes on with `last`
    last, *events = body.split(b"\n\n")
    size, rest = len(before), -len(after)
    for event in events:
        if event.startswith(before) and last.endswith(after):
            last = last[:rest]
            made.append(b"\n\n".join((*begun, last)) if begun else last)
            begun, last = [], event[size:]
        else:
            begun.append(last)
            last = event
    made.append(b"\n\n".join((*begun, last)))
    return made


def _joins(sample: bytes, start: int, only_text: OnlyText) -> bool:
    """Whether the text that begins there is all that the event says: with it twice, it must say it twice."""
    text = sample[start : sample.index(b'"', start)]
    event = loads_or_none(sample[:start] + text + sample[start:])
    return isinstance(event, dict) and only_text(event) == 2 * text.decode("utf-8", "replace")


def _is_text(piece: bytes) -> bool:
    """Inside of a JSON string all of it: without an escape, a quote or another event."""
    return b"\\" not in piece and b'"' not in piece and b"\n" not in piece and b"\r" not in piece


def _read_at_once(lines: list[bytes]) -> list[dict[str, Any]] | None:
    """The objects of the lines, parsed as one array; None unless each line is an object of its own."""
    if lines[-1] == b"[DONE]":
        lines = lines[:-1]
    try:
        values = orjson.loads(b"[" + b",".join(lines) + b"]")
    except orjson.JSONDecodeError:
        return None
    if len(values) != len(lines):
        return None
    for value in values:
        if type(value) is not dict or value.get("type") == "ping":
            return None
    return values  # type: ignore[no-any-return]


def stream_error(events: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The first event that reports a failure inside the stream."""
    return next((event for event in events if reports_error(event)), None)
