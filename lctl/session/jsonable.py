"""JSON for any Python value, as faithful as can be, without ever raising.

orjson takes plain values, dataclasses, enums, datetimes and UUIDs by itself; `default` is what it asks
for others, and `encode` does the whole event when it still refuses (cycles, odd keys, big integers,
lone surrogates). What JSON has no form for becomes an object with one `$` key that says what it was.
Generators and other iterators are named, never consumed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import orjson

from lctl.interrupts import RAISED, let_through
from lctl.session.libraryvalues import by_library, is_stand_in

_DEPTH = 64
_REPR = 2000
_BYTES = 1 << 16
_BIG = 1 << 63


def default(value: Any) -> Any:
    """`orjson.dumps(..., default=default)`: one foreign value as something nearer to JSON."""
    try:
        return _foreign(value, 0, ())
    except BaseException:
        raise  # with its traceback, which orjson drops otherwise


def encode(event: dict[str, Any]) -> bytes:
    """JSON of an event that orjson refused, or that holds NaN or infinity."""
    return orjson.dumps(plain(event))


def plain(value: Any, depth: int = 0, above: tuple[int, ...] = ()) -> Any:
    """`value` as dicts with string keys, lists, strings, numbers, booleans and None only."""
    kind = type(value)
    if kind is str:
        return text(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        return value if -_BIG <= value < 2 * _BIG else {"$int": _digits(value)}
    if kind is float:
        return value if math.isfinite(value) else {"$float": repr(value)}
    if kind is dict or kind is list or kind is tuple:
        if depth > _DEPTH:
            return {"$deeper": f"{kind.__name__} of {len(value)}"}
        if id(value) in above:
            return {"$cycle": kind.__name__}
        above = (*above, id(value))
        if kind is dict:
            return _object(list(value.items()), depth, above)
        return [plain(item, depth + 1, above) for item in list(value)]
    if depth > _DEPTH:
        return {"$deeper": name_of(kind)}
    if id(value) in above:
        return {"$cycle": name_of(kind)}
    return plain(_foreign(value, depth, above), depth + 1, (*above, id(value)))


def has_nonfinite(value: Any, depth: int = 0) -> bool:
    """Whether a NaN or an infinity is in plain containers: orjson writes those as null."""
    if type(value) is float:
        return not math.isfinite(value)
    if depth > _DEPTH:
        return False
    if issubclass(type(value), dict):
        return any(has_nonfinite(item, depth + 1) for item in list(dict.values(value)))
    if issubclass(type(value), list | tuple):
        return any(has_nonfinite(item, depth + 1) for item in value)
    return _is_foreign_container(value)


def text(value: str) -> str:
    """`value`, with lone surrogates (which UTF-8 has no form for) spelled out."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def name_of(kind: type) -> str:
    """`module.Class`, without "builtins."."""
    try:
        module, name = str(kind.__module__), str(kind.__qualname__)
    except RAISED as error:
        let_through(error)
        return "?"
    return name if module == "builtins" else f"{module}.{name}"


def name_text(value: Any) -> str:
    """A name given as any value, as text."""
    if type(value) is str:
        return value
    try:
        return text(str(value))
    except RAISED as error:
        let_through(error)
        return name_of(type(value))


def text_of_error(error: BaseException) -> str:
    """`str(error)`, also when that raises. Of one that is a dataclass, its fields: it has no text."""
    try:
        return text(str(error) or (repr(error) if hasattr(error, "__dataclass_fields__") else ""))
    except RAISED as failure:
        let_through(failure)
        return f"<no text: str() of {name_of(type(error))} raised>"


def _is_foreign_container(value: Any) -> bool:
    """Values orjson takes natively or through `default` and whose insides were not looked at."""
    return not issubclass(type(value), str | int | type(None))


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # more digits than sys.set_int_max_str_digits allows
        return hex(value)


def _object(items: list[tuple[Any, Any]], depth: int, above: tuple[int, ...]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in items:
        name = key_text(key)
        if name in made:  # 1 and "1": keep both
            name = f"{name} ({type(key).__name__})"
        made[name] = plain(value, depth + 1, above)
    return made


def key_text(key: Any) -> str:
    """A dict key as JSON would have it: "1", "true", "null"; others by their repr."""
    kind = type(key)
    if issubclass(kind, str):
        return text(str.__str__(key))
    if key is None or kind is bool:
        return {None: "null", True: "true", False: "false"}[key]
    if issubclass(kind, int) and not hasattr(key, "name"):
        return _digits(int(key))
    return _repr(key)


def _foreign(value: Any, depth: int, above: tuple[int, ...]) -> Any:
    try:
        made = _convert(value)
    except RAISED as error:
        let_through(error)
        made = None
    if made is not None:
        return made
    return _described(value)


def _convert(value: Any) -> Any:
    """A value near to JSON for the kinds that have one; None for the others."""
    kind = type(value)  # not `isinstance`, which asks the value: a lazy one would load what it stands for
    if issubclass(kind, str):
        return text(str.__str__(value))
    if issubclass(kind, bool | int | float) and kind not in (bool, int, float):
        return float(value) if issubclass(kind, float) else int(value)
    if issubclass(kind, bytes | bytearray | memoryview):
        return _bytes(bytes(value))
    if issubclass(kind, BaseException):
        return {"type": name_of(kind), "message": text_of_error(value)}
    if issubclass(kind, set | frozenset):
        return sorted(value, key=_order)
    if issubclass(kind, tuple):
        fields = getattr(kind, "_fields", None)
        return dict(zip(fields, value, strict=False)) if fields else list(value)
    if is_stand_in(kind):
        return {"$type": name_of(kind), "repr": f"<{name_of(kind)} object>"}
    if issubclass(kind, dict):
        return dict(dict.items(value))
    if issubclass(kind, Mapping):
        return dict(value.items())
    if issubclass(kind, FunctionType | BuiltinFunctionType | MethodType | type):
        return (
            f"<{'class' if issubclass(kind, type) else 'function'} {value.__module__}.{value.__qualname__}>"
        )
    if issubclass(kind, ModuleType):
        return f"<module {value.__name__}>"
    return by_library(value, kind)


def _bytes(value: bytes) -> dict[str, Any]:
    from lctl.session.redaction.pieces import pieces_of

    end = _BYTES
    while end < len(value) and value[end] & 0xC0 == 0x80 and end > _BYTES - 4:
        end -= 1  # no character of UTF-8 is cut in two
    pieces = pieces_of(value[:end])
    only = pieces[0] if len(pieces) == 1 else None
    made: dict[str, Any] = {
        "$bytes": only["base64"] if isinstance(only, dict) and "base64" in only else pieces
    }
    if len(value) > end:
        made["size"] = len(value)  # only the beginning is kept
    return made


def _order(value: Any) -> tuple[str, str]:
    return type(value).__name__, _repr(value)


def _described(value: Any) -> dict[str, Any]:
    return {"$type": name_of(type(value)), "repr": _repr(value)}


def _repr(value: Any) -> str:
    """A bounded repr without memory addresses (they would differ in every run)."""
    try:
        made = text(str(repr(value)))
    except RAISED as error:
        let_through(error)
        return f"<repr raised {name_of(type(error))}>"
    if " at 0x" in made and sys.modules.get("re") is not None:
        made = sys.modules["re"].sub(r" at 0x[0-9a-fA-F]+", "", made)
    return made if len(made) <= _REPR else f"{made[:_REPR]}..."
