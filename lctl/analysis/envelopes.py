"""The events of a log with their data left as bytes, many lines decoded in one call.

A call for each line, and cutting the lines apart before it, take as long again as the decoding. Lines that
do not all hold one event are read one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from lctl.analysis.cutters import dump
from lctl.analysis.log import Log
from lctl.codec.eventfile import split
from lctl.codec.lines import decode
from lctl.codec.log import Lines
from lctl.state.source import LineSource

#: Bytes of lines that are decoded at once, and how many lines where they come one by one.
_SIZE = 1 << 16
_SOME = 256


class Envelope(msgspec.Struct, gc=False):
    seq: int
    type: str
    agent: str = ""
    step: int | None = None
    data: msgspec.Raw = msgspec.Raw(b"{}")


def envelopes(log: Log, unread: set[int]) -> Iterator[list[Envelope]]:
    """The events in the log's order, some at a time. `unread` gets the numbers, among the lines of the log,
    of those that are no events."""
    lines = log.buffer() if isinstance(log, LineSource) else None
    number = 0
    for text in _joined(log.lines()) if lines is None else _cut(lines):
        try:
            # JSON Lines have no comma between them.
            events = _decode_block(b"[" + text + b"]") if b",\n" in text else _decode_lines(text)
        except (ValueError, RecursionError):
            events = []
        if text and len(events) == text.count(b"\n") + 1:  # a line, an event
            yield events
            number += len(events)
            continue
        events = []
        for line in split(text):
            event = _decode_alone(line)
            if event is None:
                unread.add(number)
            else:
                events.append(event)
            number += 1
        yield events


def _cut(lines: Lines) -> Iterator[bytes]:
    """Whole lines, with what is between them and nothing around them."""
    data, at, end = lines.data, lines.begin, lines.end
    while at < end:
        stop = min(end, data.find(b"\n", min(end, at + _SIZE), end) + 1 or end)
        yield data[at:stop].strip(b", \t\r\n")
        at = stop


def _joined(lines: Iterable[bytes]) -> Iterator[bytes]:
    source = iter(lines)
    while some := list(islice(source, _SOME)):
        yield b",\n".join(some)


def _decode_alone(line: bytes) -> Envelope | None:
    try:
        return _decode_line(line)
    except (ValueError, RecursionError):
        return _tolerate(line)


def _tolerate(line: bytes) -> Envelope | None:
    """An event with fields of the wrong type, as far as it can be told what it is."""
    try:
        raw = decode(line)
    except ValueError:
        return None
    if not isinstance(raw, dict) or type(raw.get("seq")) is not int:
        return None
    step, agent, data = raw.get("step"), raw.get("agent"), raw.get("data")
    return Envelope(
        seq=raw["seq"],
        type=str(raw.get("type")),
        agent=agent if isinstance(agent, str) else "",
        step=step if type(step) is int else None,
        data=msgspec.Raw(dump(data if isinstance(data, dict) else {})),
    )


_decoder = msgspec.json.Decoder(Envelope)
_decode_line, _decode_lines = _decoder.decode, _decoder.decode_lines
_decode_block = msgspec.json.Decoder(list[Envelope]).decode
