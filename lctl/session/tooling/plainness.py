"""Whether a tool's result is all in what an event shows of it, and needs no tape."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from lctl.session import jsonable

#: Characters of a string that surely stay as they are in `output`.
_STRING = 1 << 16


def is_plain(value: Any, given: Mapping[int, int]) -> bool:
    """Whether JSON gives back this very value: exact types, nothing in it twice, none of it `given`."""
    kind = type(value)
    if kind is str:
        return _is_plain_text(value)
    if value is None or kind is bool:
        return True
    if kind is not dict and kind is not list:
        return _is_number(value, kind)
    seen: set[int] = set()
    queue = [value]
    for each in queue:  # grows while it is gone through
        if id(each) in seen or id(each) in given:
            return False
        seen.add(id(each))
        if type(each) is dict:
            for key in each:
                if type(key) is not str or not _is_plain_text(key):
                    return False
            items = each.values()
        else:
            items = each
        for item in items:
            kind = type(item)
            if kind is str:
                if not (item.isascii() and len(item) < _STRING) and not _is_plain_text(item):
                    return False
            elif kind is dict or kind is list:
                queue.append(item)
            elif item is not None and kind is not bool and not _is_number(item, kind):
                return False
    return True


def is_plain_error(error: BaseException | None) -> bool:
    """Whether its class's name and its text are all there is to an exception."""
    return (
        isinstance(error, Exception)
        and type(error).__module__ == "builtins"
        and len(error.args) == 1
        and type(error.args[0]) is str
        and _is_plain_text(error.args[0])
        and str(error) == error.args[0]
        and not error.__dict__
        and error.__cause__ is None
        and not error.__suppress_context__
        and not isinstance(error, ImportError | SystemExit)
    )


def _is_number(value: Any, kind: type) -> bool:
    if kind is int:
        return bool(-(1 << 63) <= value < (1 << 63))
    return kind is float and bool(isfinite(value))


def _is_plain_text(value: str) -> bool:
    if len(value) >= _STRING:
        return False
    return value.isascii() or bool(jsonable.text(value) is value)
