"""Whole documents: one JSON value, JSON Lines of any kind, YAML."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

from lctl.codec import yamltext
from lctl.codec.lines import decode, is_header, loads, spelled, strictly
from lctl.codec.log import Problem
from lctl.codec.salvage import Salvage, salvage
from lctl.errors import NotALog

_KEYS = frozenset({"lctl", "chain", "events", "trace"})
_ITEM = re.compile(r"(?m)^(?P<indent> *)- ")


class Parsed(NamedTuple):
    """A document taken apart.

    Attributes:
        top: its keys beside `events`; None where there is no document around them.
        values: its events, as they are.
        line_of: line of the n-th of them.
        cut: what is missing at its end, "" when nothing is.
        notes: what else is wrong with it.
        written: those of the events that are not quite as they stand in the file, as they stand there: what
            no text of UTF-8 can hold is spelled out in `values`.
    """

    top: dict[str, Any] | None
    values: list[Any]
    line_of: Callable[[int], int | None]
    cut: str = ""
    notes: tuple[Problem, ...] = ()
    written: Mapping[int, Any] = MappingProxyType({})

    def in_utf8(self) -> Parsed:
        """The same with nothing in it that UTF-8 cannot hold."""
        values = [spelled(value) for value in self.values]
        pairs = zip(values, self.values, strict=True)
        written = {n: value for n, (made, value) in enumerate(pairs) if made is not value}
        return self._replace(top=spelled(self.top), values=values, written=written)


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection while a large tree of values is built: it would walk it over and over
    (60 % of the time of a large load) and find nothing."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def read_json(raw: bytes, name: str) -> Parsed:
    """One JSON document: the log's object, a list of events, or one event.

    Raises:
        NotALog: neither that nor the beginning of it.
    """
    text, notes = _text(raw)
    try:
        return _document(strictly(raw), text, notes, name)
    except ValueError:
        pass
    try:
        value = loads(text, as_written=True)
    except (ValueError, RecursionError) as refusal:
        found = salvage(text)
        if found is None or not (found.document or any(map(_is_event, found.events))):
            raise NotALog(f"{name}: not a log: JSON {_where(refusal)}") from None
        return _salvaged(found, text, notes).in_utf8()
    return _document(value, text, notes, name).in_utf8()


def _document(value: Any, text: str, notes: tuple[Problem, ...], name: str) -> Parsed:
    if isinstance(value, list) and any(_is_event(item) for item in value):
        return Parsed(None, value, _lines_in(text), notes=notes)
    if isinstance(value, dict) and value.keys() & _KEYS:
        events, more = _event_list(value.pop("events", []))
        return Parsed(value, events, _lines_in(text), notes=notes + more)
    if _is_event(value):
        return Parsed(None, [value], lambda n: 1, notes=notes)
    raise NotALog(f"{name}: JSON, but not a log: {_keys(value)}")


def read_lines(raw: bytes, name: str) -> Parsed:
    """JSON Lines: a header line perhaps, then one event a line, in any style.

    Raises:
        NotALog: no line is a header or an event.
    """
    top: dict[str, Any] = {}
    values: list[Any] = []
    lines: list[int] = []
    notes: list[Problem] = []
    written: dict[int, Any] = {}
    cut = ""
    last = raw.rstrip(b" \t\r\n\0").count(b"\n") + 1
    for n, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip(b", \t\r\0"):
            continue
        try:
            value = decode(line.strip(b"\0"))
        except ValueError as error:
            if n == last:
                cut = "last line incomplete"
            else:
                notes.append(Problem(None, n, f"{error}; left out"))
            continue
        if not top and not values and is_header(value):
            top = {k: v for k, v in value.items() if k != "events"}
            continue
        if isinstance(value, dict) and "seq" not in value and "type" not in value:
            notes.append(Problem(None, n, "not an event: it has neither seq nor type; left out"))
            continue
        if b"\\u" in line and (found := decode(line.strip(b"\0"), as_written=True)) != value:
            written[len(values)] = found
        values.append(value)
        lines.append(n)
    if not top and not any(_is_event(value) for value in values):
        raise NotALog(f"{name}: JSON Lines, but not a log: no line is an event")
    return Parsed(top or None, values, lines.__getitem__, cut, tuple(notes), written)


def read_yaml(raw: bytes, name: str) -> Parsed:
    """A YAML document: the log's mapping, or a list of events.

    Raises:
        NotALog: neither that nor the beginning of it.
        MissingExtra: `pyyaml` is not installed.
    """
    text, notes = _text(raw.rstrip(b"\0"))
    cut = ""
    try:
        value, lines = yamltext.load(text, name)
    except ValueError as refusal:
        short = _without_last_item(text)
        try:
            if short is None:
                raise refusal
            value, lines = yamltext.load(short, name)
        except ValueError:
            raise NotALog(f"{name}: not a log: YAML that cannot be read ({refusal})") from None
        cut = "last event incomplete"
    if isinstance(value, list) and any(_is_event(item) for item in value):
        return Parsed(None, value, lines.__getitem__, cut, notes).in_utf8()
    if isinstance(value, dict) and value.keys() & _KEYS:
        events, more = _event_list(value.pop("events", []))
        line_of = lines.__getitem__ if len(lines) == len(events) else lambda n: None
        return Parsed(value, events, line_of, cut, notes + more).in_utf8()
    raise NotALog(f"{name}: YAML, but not a log: {_keys(value)}")


def _salvaged(found: Salvage, text: str, notes: tuple[Problem, ...]) -> Parsed:
    cut = (
        "" if found.whole else "the rest cannot be read"
    )  # whole: it was something else that broke the parser
    return Parsed(found.document, found.events, _counter(text, found.offsets), cut, notes)


def _event_list(raw: Any) -> tuple[list[Any], tuple[Problem, ...]]:
    if isinstance(raw, list):
        return raw, ()
    what = "null" if raw is None else type(raw).__name__
    return [], (Problem(None, None, f"events: expected a list, got {what}"),)


def _lines_in(text: str) -> Callable[[int], int | None]:
    """Lines of the events of a document that parsed; worked out when first asked, as only a problem
    asks."""
    known: list[Callable[[int], int | None]] = []

    def line_of(n: int) -> int | None:
        if not known:
            known.append(_counted(text))
        return known[0](n)

    return line_of


def _counted(text: str) -> Callable[[int], int | None]:
    if "\n" not in text.rstrip():
        return lambda n: 1
    found = salvage(text)
    return _counter(text, found.offsets) if found else lambda n: None


def _counter(text: str, offsets: list[int]) -> Callable[[int], int | None]:
    """Line of the n-th offset; quick when asked in ascending order."""
    at = [0, 1]

    def line_of(n: int) -> int | None:
        if n >= len(offsets):
            return None
        if offsets[n] < at[0]:
            at[:] = [0, 1]
        at[1] += text.count("\n", at[0], offsets[n])
        at[0] = offsets[n]
        return at[1]

    return line_of


def _text(raw: bytes) -> tuple[str, tuple[Problem, ...]]:
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        return raw.decode(), ()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        note = Problem(None, line, "not UTF-8 from here on; such bytes are read as \N{REPLACEMENT CHARACTER}")
        return raw.decode("utf-8", "replace"), (note,)


def _without_last_item(text: str) -> str | None:
    """The text up to its last top-level list item, or None when it has at most one."""
    items = list(_ITEM.finditer(text))
    same = [item for item in items if item["indent"] == items[0]["indent"]]
    return text[: same[-1].start()] if len(same) > 1 else None


def _is_event(value: Any) -> bool:
    return isinstance(value, dict) and "type" in value and ("seq" in value or "data" in value)


def _keys(value: Any) -> str:
    if isinstance(value, dict) and value:
        names = ", ".join(map(repr, list(value)[:5]))
        return f"it has no 'events' (its keys are {names}{', ...' if len(value) > 5 else ''})"
    what = "empty" if not value and isinstance(value, dict | list | None) else f"a {type(value).__name__}"
    return f"it is {what}"


def _where(error: Exception) -> str:
    line = getattr(error, "lineno", None)
    return f"that breaks at line {line}" if line else "nested too deeply"
