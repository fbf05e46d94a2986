"""Other arguments in the place of a call's own, where frameworks pass those on in forms of theirs.

A tool's arguments by name are keywords of the function that is wrapped, or are in an object that is given to
it: a mapping, its JSON, a model of pydantic's. Only what an edit changed is put in another's place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

import orjson

from lctl.session import jsonable

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def rebound(
    args: tuple[Any, ...], kwargs: dict[str, Any], old: Mapping[str, Any], new: Mapping[str, Any]
) -> Arguments | None:
    """The arguments of a call with what `new` has otherwise than `old`; None where it is not seen how.

    Args:
        old: the tool's arguments by name, as the call had them.
        new: as it is to have them.
    """
    if any(name not in new for name in old):
        return None  # whether the function has a default for it, nobody knows
    changed = {name: value for name, value in new.items() if name not in old or old[name] != value}
    if _holds(kwargs, old) and all(jsonable.plain(kwargs[name]) == old[name] for name in old):
        return args, {**kwargs, **changed}  # and not of the function's own that are called alike
    for place, value in enumerate(args):
        made = _changed(value, old, changed)
        if made is not None:
            return (*args[:place], made, *args[place + 1 :]), kwargs
    for name, value in kwargs.items():
        made = _changed(value, old, changed)
        if made is not None:
            return args, {**kwargs, name: made}
    return None


def cannot_rewrite(tool: str, input: dict[str, Any]) -> str:
    """What to say where that is so."""
    return (
        f"the arguments of the tool {tool} cannot be changed to {input}: nothing known of "
        f"its call holds them by name. Put in another result: --result 'tool:{tool}=...'"
    )


def _changed(value: Any, old: Mapping[str, Any], changed: dict[str, Any]) -> Any:
    """`value` with other arguments in it; None where it does not hold them."""
    if isinstance(value, dict):
        if _holds(value, old):
            return {**value, **changed}
        inner = value.get("input")  # {"name": ..., "input": {...}}
        return {**value, "input": {**inner, **changed}} if _holds(inner, old) else None
    if isinstance(value, str):
        try:
            read = orjson.loads(value)
        except orjson.JSONDecodeError:
            return None
        return orjson.dumps({**read, **changed}).decode() if _holds(read, old) else None
    fields = getattr(type(value), "model_fields", None)
    if isinstance(fields, dict) and set(old) <= set(fields):
        return value.model_copy(update=changed)
    return None


def _holds(found: Any, old: Mapping[str, Any]) -> TypeGuard[dict[str, Any]]:
    return isinstance(found, dict) and bool(old) and all(name in found for name in old)
