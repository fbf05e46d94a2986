"""YAML to values and back, in the words of JSON.

Plain scalars are resolved as YAML 1.2 does (`yes`, `10:30` and timestamps are text). What is written is
quoted wherever YAML 1.1 or 1.2 would read it as something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from lctl.errors import LogError, MissingExtra

_CORE = [
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", "~nN\0"),
    ("tag:yaml.org,2002:int", r"^[-+]?(?:0|[1-9][0-9]*|0x[0-9a-fA-F]+)$", "-+0123456789"),
    (
        "tag:yaml.org,2002:float",
        r"^[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$",
        "-+0123456789.",
    ),
]
#: A document may be nested so deep; a log is nested about ten levels.
DEEPEST = 200


#: What aliases may make of a text: so many values for each of its characters.
_TIMES = 10
_BOMB = "its aliases expand to many times its size"
_CIRCLE = "an alias of what it stands in"


class Document(NamedTuple):
    """A loaded document; `lines` has the line of each element of its `events`, counted from 1."""

    value: Any
    lines: list[int]


def load(text: str, name: str) -> Document:
    """The first document in `text`.

    Raises:
        ValueError: not YAML; the text is its reason, with the line.
        MissingExtra: `pyyaml` is not installed.
    """
    yaml = _yaml(name)
    loader = None
    try:
        _refuse_depth(yaml, text)
        loader = _loader()(text)
        node = loader.get_single_node()
        lines = _event_lines(node)
        value = loader.construct_document(node) if node is not None else None
    except yaml.YAMLError as error:
        raise ValueError(_reason(error)) from None
    except (TypeError, OverflowError) as error:  # a key that is a list, a number past all bounds
        raise ValueError(str(error)) from None
    finally:
        if loader is not None:
            loader.dispose()
    if "&" in text and "*" in text and _expanded(value, {}) > _TIMES * len(text):
        raise ValueError(_BOMB)
    return Document(_plain(value), lines)


def dump(header: dict[str, Any], events: Iterable[dict[str, Any]], tail: dict[str, Any]) -> Iterator[str]:
    """The text of a document, piece by piece: header keys, `events`, tail keys.

    Raises:
        MissingExtra: `pyyaml` is not installed.
    """
    write = _writer()
    yield write(header)
    empty = True
    batch: list[dict[str, Any]] = []
    for event in events:
        if empty:
            yield "events:\n"
            empty = False
        batch.append(event)
        if len(batch) == 256:
            yield write(batch)
            batch = []
    if batch:
        yield write(batch)
    if empty:
        yield "events: []\n"
    if tail:
        yield write(tail)


def _yaml(name: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingExtra(f"{name}: YAML", "yaml") from None
    return yaml


@cache
def _loader() -> Any:
    yaml = _yaml("")

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        yaml_implicit_resolvers: dict[str, list[Any]] = {}  # noqa: RUF012  (PyYAML's own way)

    for tag, pattern, first in _CORE:
        Loader.add_implicit_resolver(tag, re.compile(pattern), [c if c != "\0" else "" for c in first])
    return Loader


@cache
def _writer() -> Callable[[Any], str]:
    yaml = _yaml("writing")

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        def ignore_aliases(self, data: Any) -> bool:
            return True

    for tag, pattern, first in _CORE:
        Dumper.add_implicit_resolver(tag, re.compile(pattern), [c if c != "\0" else "" for c in first])

    def write(value: Any) -> str:
        try:
            text: str = yaml.dump(
                value,
                Dumper=Dumper,
                sort_keys=False,
                allow_unicode=True,
                width=1 << 30,
                default_flow_style=False,
            )
        except RecursionError:
            raise LogError("an event is nested too deeply for YAML; write the log as JSON") from None
        return text

    return write


def _event_lines(node: Any) -> list[int]:
    if node is None or node.id != "mapping":
        items = node.value if node is not None and node.id == "sequence" else []
    else:
        items = next((v.value for k, v in node.value if k.value == "events" and v.id == "sequence"), [])
    return [item.start_mark.line + 1 for item in items]


def _refuse_depth(yaml: Any, text: str) -> None:
    """The C composer recurses on the C stack: 100,000 brackets would end the process. Its parser does
    not, so the depth is seen there first."""
    depth = 0
    for event in yaml.parse(text, Loader=_loader()):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                raise ValueError(f"line {event.start_mark.line + 1}: nested too deeply")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _expanded(value: Any, known: dict[int, int]) -> int:
    """Number of values in `value` with every alias written out."""
    if not isinstance(value, dict | list):
        return 1
    size = known.get(id(value))
    if size == 0:
        raise ValueError(_CIRCLE)
    if size is None:
        known[id(value)] = 0
        items = value.values() if isinstance(value, dict) else value
        size = known[id(value)] = 1 + sum(_expanded(item, known) for item in items)
    return size


def _plain(value: Any) -> Any:
    """The value in JSON's types: keys are text, dates their ISO form, bytes their text."""
    if isinstance(value, dict):
        return {_key(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(v) for v in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)


def _reason(error: Any) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    text = getattr(error, "problem", None) or str(error).split("\n")[0]
    if "nesting depth" in text:  # libyaml's own limit, since PyYAML 6.0.4
        text = "nested too deeply"
    return f"line {mark.line + 1}: {text}" if mark is not None else text


#: path in a document -> line and column, counted from 1; of a value in a mapping those of its key
Marks = dict[tuple[str | int, ...], tuple[int, int]]


def composed(text: str, name: str) -> tuple[Any, Marks]:
    """The first document in `text`, and where everything in it stands.

    Raises:
        ValueError: not YAML; its argument is (line, column, reason).
        MissingExtra: `pyyaml` is not installed.
    """
    yaml = _yaml(name)
    loader = None
    marks: Marks = {}
    try:
        _refuse_depth(yaml, text)
        loader = _loader()(text)
        node = loader.get_single_node()
        if node is not None:
            _mark_all(node, (), marks, set(), _TIMES * len(text) + 100)
        value = loader.construct_document(node) if node is not None else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        reason = getattr(error, "problem", None) or str(error).split("\n")[0]
        where = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        raise ValueError((*where, reason)) from None
    except (TypeError, OverflowError, ValueError) as error:
        raise ValueError((1, 1, str(error))) from None
    finally:
        if loader is not None:
            loader.dispose()
    return _plain(value), marks


def _mark_all(node: Any, at: tuple[str | int, ...], marks: Marks, inside: set[int], most: int) -> None:
    marks.setdefault(at, (node.start_mark.line + 1, node.start_mark.column + 1))
    problem = _CIRCLE if id(node) in inside else _BOMB if len(marks) > most else ""
    if problem:
        raise _yaml("").constructor.ConstructorError(None, None, problem, node.start_mark)
    inside.add(id(node))
    if node.id == "mapping":
        for key, value in node.value:
            here = (*at, str(key.value))
            if here in marks and key.value != "<<":  # of two YAML would take the second, without a word
                problem = f"key '{key.value}' is there twice"
                raise _yaml("").constructor.ConstructorError(None, None, problem, key.start_mark)
            marks[here] = (key.start_mark.line + 1, key.start_mark.column + 1)
            _mark_all(value, here, marks, inside, most)
    elif node.id == "sequence":
        for n, value in enumerate(node.value):
            _mark_all(value, (*at, n), marks, inside, most)
    inside.discard(id(node))
