"""Names and definitions of the tools a session begins with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import orjson

from lctl.errors import UsageError
from lctl.session import jsonable
from lctl.session.runs import wrapping


def tools_data(tools: Any) -> dict[str, Any]:
    """`tool_names`, and `tools` where there are definitions: {hash: [...]}.

    Args:
        tools: names, definitions as a model is told them, functions, or a mapping by name.
    """
    if tools is None:
        return {}
    if isinstance(tools, Mapping):
        tools = [value if isinstance(value, Mapping) else name for name, value in tools.items()]
    names: list[str] = []
    definitions: list[Any] = []
    if not isinstance(tools, Iterable):
        raise UsageError(f"tools={tools!r}: it is a list of names, definitions or functions")
    listed: Iterable[Any] = [tools] if isinstance(tools, str) else tools
    for tool in listed:
        if isinstance(tool, Mapping):
            made = jsonable.plain(tool)
            definitions.append(made)
            names.append(_name(made))
        else:
            names.append(tool if isinstance(tool, str) else wrapping.name_of(tool))
    found: dict[str, Any] = {"tool_names": names}
    if definitions:
        text = orjson.dumps(definitions, option=orjson.OPT_SORT_KEYS)
        found["tools"] = {"sha256:" + sha256(text).hexdigest(): definitions}
    return found


def _name(definition: Mapping[str, Any]) -> str:
    inner = definition.get("function")
    inner = inner if isinstance(inner, Mapping) else definition
    return str(inner.get("name") or "?")
