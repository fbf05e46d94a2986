"""pydantic's ValidationError: it is made by pydantic alone, of the errors it lists."""

from __future__ import annotations

import sys
from typing import Any

from lctl.session.faithful.tables import Unfaithful

_MODULE = "pydantic_core._pydantic_core"
#: Of an error: what it is made of; the rest of what pydantic lists follows from these.
_PARTS = ("type", "loc", "input", "ctx", "msg")


def is_validation(kind: type) -> bool:
    return kind.__module__ == _MODULE and kind.__name__ == "ValidationError"


def parts_of(error: Any) -> dict[str, Any]:
    """What `made_of` makes the error of again.

    Raises:
        Unfaithful: it says something else then, as errors of a validator's own kind may.
    """
    _, (title, lines, mode, is_hidden) = error.__reduce__()
    errors = [_parts(line) for line in lines]
    parts = {"title": title, "errors": errors, "mode": mode, "hidden": is_hidden}
    if str(made_of(type(error), parts)) != str(error):
        raise Unfaithful("a ValidationError that says something else when it is made again")
    return parts


def _parts(line: dict[str, Any]) -> dict[str, Any]:
    parts = {part: line[part] for part in _PARTS if part in line}
    kind = parts["type"]
    if not isinstance(kind, str):  # newer versions have the whole error of a validator's own kind here
        parts |= {"type": kind.type, "msg": kind.message_template, "ctx": kind.context}
    return parts


def made_of(cls: Any, parts: Any) -> Any:
    pydantic: Any = sys.modules[_MODULE]  # the class is of it
    lines = []
    for error in parts["errors"]:
        line = {part: error[part] for part in ("type", "loc", "input", "ctx") if part in error}
        try:
            pydantic.PydanticKnownError(line["type"], line.get("ctx"))
        except KeyError:  # a validator's own
            line["type"] = pydantic.PydanticCustomError(line["type"], error["msg"], line.pop("ctx", None))
        lines.append(line)
    return cls.from_exception_data(parts["title"], lines, parts["mode"], parts["hidden"])
