"""What is wrong with an event's data, in words that name the key, the expectation and the value."""

from __future__ import annotations

import re
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec

from lctl.events import Event
from lctl.payloads.core import Tokens
from lctl.payloads.fields import Payload

_SHOWN = 40
_WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
    tuple: "a list",
}
_PATH = re.compile(r" - at `\$([^`]*)`$")
_MISSING_KEY = re.compile(r"missing required field `([^`]+)`")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?$")


def check_envelope(event: Event) -> list[str]:
    """Problems of the keys around `data`, and of `data` itself not being an object."""
    wrong = event.extra
    problems: list[str] = []
    if "type" in wrong:
        problems.append(f"type: expected text, got {shown(wrong['type'])}")
    elif not event.type:
        problems.append("type: missing; the event is kept and passed over")
    for key, expected in (("timestamp", "text"), ("agent", "text"), ("step", "the seq of a step")):
        if key in wrong:
            problems.append(f"{key}: expected {expected}, got {shown(wrong[key])}")
    if event.timestamp and not _TIME.match(event.timestamp):
        problems.append(f"timestamp: expected a time like 2024-01-15T10:30:00Z, got {shown(event.timestamp)}")
    if "data" in wrong:
        problems.append(f"data: expected an object, got {shown(wrong['data'])}")
    return problems


def convert(data: dict[str, Any], kind: type[Payload]) -> tuple[Payload | None, list[str]]:
    """The payload, and one text per key that did not fit. Such keys are left out of the payload; it is
    None when one of them is required."""
    problems: list[str] = []
    left = data
    asked = False
    while True:
        try:
            return msgspec.convert(left, kind), problems
        except msgspec.ValidationError as error:
            if not asked:
                asked, left = True, _with_whole_numbers(left)
                continue
            path = found[1] if (found := _PATH.search(str(error))) else ""
            missing = _MISSING_KEY.search(str(error))
            if missing and not path:
                if missing[1] not in data:
                    problems.append(f"{missing[1]}: missing")
                return None, problems
            problems.append(_problem(left, kind, path, missing[1] if missing else None))
            key = re.split(r"[.\[]", path.lstrip("."), maxsplit=1)[0]
            if key not in left:
                return None, problems
            left = {k: v for k, v in left.items() if k != key}


def _with_whole_numbers(data: dict[str, Any], depth: int = 2) -> dict[str, Any]:
    """Numbers that are whole as such, `10.0` as 10, also in objects in it (counts stand no deeper)."""
    made = {key: int(value) if _is_whole(value) else value for key, value in data.items()}
    if depth:
        made |= {
            key: _with_whole_numbers(value, depth - 1)
            for key, value in data.items()
            if isinstance(value, dict)
        }
    return made


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


def shown(value: Any) -> str:
    """A value in a message: short, on one line, in JSON's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _problem(data: Any, kind: Any, path: str, missing: str | None) -> str:
    """Walks `path` (".tokens.input", ".messages[...]") through value and type alike."""
    value: Any = data
    named: list[str] = []
    known = True
    for part in re.findall(r"\.([^.\[]+)|(\[[^\]]*\])", path):
        kind = _bare(kind)
        if part[0]:
            named.append(part[0])
            value = value.get(part[0]) if isinstance(value, dict) else None
            kind = _hints(kind).get(part[0], Any) if _is_payload(kind) else Any
        else:
            kind = next(iter(get_args(kind)), Any)
            value, at = _first_misfit(value, kind)
            named[-1:] = [f"{named[-1]}[{at}]"] if named and at is not None else named[-1:]
            known = known and at is not None
    place = ".".join(named)
    if missing:
        return f"{place}.{missing}: missing" if place else f"{missing}: missing"
    expected = _expected(kind)
    return f"{place}: expected {expected}" + (f", got {shown(value)}" if known else "")


def _first_misfit(values: Any, kind: Any) -> tuple[Any, int | None]:
    for n, value in enumerate(values if isinstance(values, list | tuple) else ()):
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError:
            return value, n
    return None, None


def _expected(kind: Any) -> str:
    if get_origin(kind) is Annotated:
        for meta in kind.__metadata__:
            if meta.extra and "expected" in meta.extra:
                return str(meta.extra["expected"])
        return _expected(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(_expected(arm) for arm in get_args(kind) if arm is not type(None))
    if kind is Tokens:
        return "an object with input and output"
    if _is_payload(kind):
        return "an object"
    if kind == tuple[str, str]:
        return "a list of two texts"
    return _WORDS.get(get_origin(kind) or kind, "another value")


def _bare(kind: Any) -> Any:
    """The type without `| None` and annotations; of a union with a payload, the payload."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, UnionType):
        arms = [arm for arm in get_args(kind) if arm is not type(None)]
        kind = next((arm for arm in arms if _is_payload(arm)), arms[0])
    return kind


def _is_payload(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Payload)


@cache
def _hints(kind: type[Payload]) -> dict[str, Any]:
    """Types by key, the keys as they are in the log."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.encode_name: hints[field.name] for field in msgspec.structs.fields(kind)}
