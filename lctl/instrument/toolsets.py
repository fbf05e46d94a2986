"""The tools that requests offer: defined once in a chain, named by a hash from then on."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import orjson


class ToolSets:
    """Those of one chain."""

    def __init__(self) -> None:
        self._defined: set[str] = set()
        self._last: tuple[Any, str] = (None, "")  # the list hashed last, and its hash

    def name(self, tools: list[Any] | None) -> str | None:
        """Hash of a tool set, the same in every process; None of none."""
        if not tools:
            return None
        known, name = self._last
        if known is not tools:
            try:
                text = orjson.dumps(tools, option=orjson.OPT_SORT_KEYS)
            except TypeError:
                text = repr(tools).encode("utf-8", "replace")
            name = "sha256:" + sha256(text).hexdigest()
            self._last = (tools, name)
        return name

    def fields(self, tools: list[Any] | None) -> tuple[dict[str, Any], Callable[[], object] | None]:
        """What a step says of the tools it offers: `tools` (their hash) and, the first time in this chain,
        `tool_definitions`. With it what takes that first time back, should it not be written."""
        name = self.name(tools)
        if name is None or tools is None:
            return {}, None
        if name in self._defined:
            return {"tools": name}, None
        self._defined.add(name)
        return {"tools": name, "tool_definitions": tools}, lambda: self._defined.discard(name)

    def learn(self, name: str) -> None:
        """The log defines this one already."""
        self._defined.add(name)
