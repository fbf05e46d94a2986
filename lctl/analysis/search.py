"""Finding events: `type:tool_call tool:grep -agent:main seq:10..20 "exact phrase" word`.

Terms are joined by "and"; a `-` before one excludes. `field:value` looks at one field, where `*` stands for
anything, `a,b` for either, `10..20`, `>5`, `<=5` for numbers. A bare word or a phrase in quotes is looked
for in every text of an event, upper and lower case alike. `data.path.to:value` reaches any field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from lctl.analysis.log import Log, model_of
from lctl.errors import UsageError
from lctl.events import Event


class QueryError(UsageError):
    """A query that cannot be read. `position` is the column, from 0."""

    def __init__(self, query: str, position: int, problem: str) -> None:
        super().__init__(f"query {query!r}, column {position + 1}: {problem}")
        self.position = position


class Term(msgspec.Struct, frozen=True):
    """One condition; `field` is "" for text anywhere."""

    field: str
    value: str
    excluded: bool
    position: int


class Query:
    """A compiled query."""

    def __init__(self, text: str) -> None:
        """Raises QueryError."""
        self.text = text
        self.terms = tuple(_terms(text))
        self._tests = [(_test(text, term), term.excluded) for term in self.terms]
        self._needles = [
            term.value.lower().encode()
            for term in self.terms
            if not term.field and not term.excluded and _SAFE.fullmatch(term.value)
        ]

    def matches(self, event: Event) -> bool:
        """Every term holds."""
        return all(test(event) is not excluded for test, excluded in self._tests)

    def may_match(self, line: bytes) -> bool:
        """False if the words asked for are not even in the event's bytes. Cheaper than decoding it."""
        if not self._needles or not line.isascii():
            return True
        low = line.lower()
        return all(needle in low for needle in self._needles)


def search(log: Log, query: str | Query) -> Iterator[Event]:
    """Events that match, in order. Raises QueryError for a query that cannot be read."""
    wanted = query if isinstance(query, Query) else Query(query)
    return _found(log, wanted)


def _found(log: Log, query: Query) -> Iterator[Event]:
    decode = _Decoder()
    for line in log.lines():
        if query.may_match(line):
            event = decode(line)
            if event is not None and query.matches(event):
                yield event


class _Decoder:
    def __init__(self) -> None:
        self._decode = msgspec.json.Decoder().decode

    def __call__(self, line: bytes) -> Event | None:
        try:
            return Event.from_dict(self._decode(line))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None


# -- reading the query ----------------------------------------------------------------------------------

_SAFE = re.compile(r"[A-Za-z0-9_-]+")
_TERM = re.compile(r'(-?)(?:([A-Za-z_][\w.]*):)?(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))(?=\s|$)')
_BARE_FIELD = re.compile(r"[A-Za-z_][\w.]*:")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)?\.\.(-?\d+(?:\.\d+)?)?")
_COMPARISON = re.compile(r"(>=|<=|>|<)(-?\d+(?:\.\d+)?)")


def _terms(query: str) -> Iterator[Term]:
    at = 0
    while at < len(query):
        if query[at].isspace():
            at += 1
            continue
        match = _TERM.match(query, at)
        if match is None:
            raise QueryError(query, at, _problem(query, at))
        minus, field, phrase, word = match.groups()
        if word is not None and not field and (word == "-" or _BARE_FIELD.fullmatch(word)):
            raise QueryError(query, at, _problem(query, at))
        value = re.sub(r"\\(.)", r"\1", phrase) if phrase is not None else word
        if not value:
            raise QueryError(query, at, "there is nothing between the quotes")
        field = field or ""
        yield Term(field if field.startswith("data.") else field.lower(), value, bool(minus), at)
        at = match.end()


def _problem(query: str, at: int) -> str:
    rest = query[at:]
    if rest.count('"') % 2:
        return "a quote is opened here and never closed"
    word = rest.split(None, 1)[0]
    if word.endswith(":"):
        return f"{word} is followed by nothing; write {word}value, or {word}* for any"
    if word == "-":
        return "- is followed by nothing; write -word to exclude a word"
    return 'cannot read this; write words, "phrases" or field:value'


def _test(query: str, term: Term) -> Callable[[Event], bool]:
    if not term.field:
        wanted = term.value.lower()
        return lambda event: _mentions(event, wanted)
    if term.field.startswith("data."):
        path = term.field.removeprefix("data.").split(".")
        read: Callable[[Event], Any] = lambda event: _at(event.data, path)  # noqa: E731
    else:
        known = FIELDS.get(term.field)
        if known is None:
            names = ", ".join(sorted(FIELDS))
            raise QueryError(
                query, term.position, f"there is no field {term.field!r}; fields are {names}, data.<path>"
            )
        read = known
    test = _value_test(query, term)
    return lambda event: any(test(value) for value in _values(read(event)))


def _value_test(query: str, term: Term) -> Callable[[Any], bool]:
    value = term.value
    if (match := _RANGE.fullmatch(value)) and value != "..":
        low = float(match[1]) if match[1] else float("-inf")
        high = float(match[2]) if match[2] else float("inf")
        if low > high:
            raise QueryError(
                query, term.position, f"the range {value} holds nothing; write {match[2]}..{match[1]}"
            )
        return lambda found: _is_number(found) and low <= found <= high
    if match := _COMPARISON.fullmatch(value):
        bound, compare = float(match[2]), _COMPARE[match[1]]
        return lambda found: _is_number(found) and compare(found, bound)
    if term.field in _NUMERIC and not all(_NUMBER.fullmatch(one) or one == "*" for one in value.split(",")):
        raise QueryError(
            query, term.position, f"{term.field} is a number; write {term.field}:12, 10..20 or >10"
        )
    patterns = [
        re.compile(".*".join(map(re.escape, one.split("*"))), re.IGNORECASE | re.DOTALL)
        for one in value.split(",")
    ]
    return lambda found: any(pattern.fullmatch(_text(found)) for pattern in patterns)


_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
}


# -- reading an event -----------------------------------------------------------------------------------


def _values(value: Any) -> Iterator[Any]:
    """The value, or each of a list's; nothing for what is not there."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from _values(one)
    elif value is not None and value != "":
        yield value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _at(value: Any, path: list[str]) -> Any:
    for key in path:
        if isinstance(value, list):
            value = [_at(one, [key]) for one in value]
        elif isinstance(value, dict):
            value = value.get(key)
        else:
            return None
    return value


def _errors(event: Event) -> Any:
    data = event.data
    if event.type == "error":
        return ["error", *(data.get(key) for key in ("category", "type", "message"))]
    failure = data.get("error")
    if failure is None or failure is False:
        return None
    inner = list(failure.values()) if isinstance(failure, dict) else [failure]
    return [one for one in ["error", *inner] if isinstance(one, str)]


def _mentions(event: Event, wanted: str) -> bool:
    """A text of the event holds it: type, agent, or any string or key of the data, however deep."""
    if wanted in event.type.lower() or wanted in event.agent.lower():
        return True
    waiting: list[Any] = [event.data, event.extra]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if wanted in value.lower():
                return True
        elif isinstance(value, dict):
            waiting += value.keys()
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif value is not None and wanted in _text(value).lower():
            return True
    return False


def _step(event: Event) -> Any:
    return [event.step, event.seq] if event.type == "step_start" else event.step


def _data(*keys: str) -> Callable[[Event], Any]:
    return lambda event: [event.data.get(key) for key in keys]


_NUMERIC = frozenset({"seq", "step"})
#: Name of a field in a query -> what it looks at.
FIELDS: dict[str, Callable[[Event], Any]] = {
    "type": lambda event: event.type,
    "agent": lambda event: event.agent,
    "seq": lambda event: event.seq,
    "step": _step,
    "time": lambda event: event.timestamp,
    "tool": _data("tool"),
    "kind": _data("kind"),
    "intent": _data("intent"),
    "outcome": _data("outcome"),
    "role": _data("role"),
    "model": lambda event: model_of(event.data),
    "fact": lambda event: event.data.get("id") if event.type.startswith("fact_") else None,
    "message": _data("message_id", "message", "prompt"),
    "call": _data("call_id", "tool_call_id"),
    "status": _data("status"),
    "url": _data("url"),
    "error": _errors,
}
