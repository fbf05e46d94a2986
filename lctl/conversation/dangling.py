"""Tool calls that nobody answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lctl.state.messages import tool_calls_of, tool_results_of


def unanswered(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The tool calls among messages in order for which no result comes after: {id, name, arguments}."""
    open_calls: dict[Any, dict[str, Any]] = {}
    for message in messages:
        for call in tool_calls_of(message):
            open_calls[str(call["id"])] = call
        for result in tool_results_of(message):
            open_calls.pop(str(result["call_id"]), None)
    return list(open_calls.values())
